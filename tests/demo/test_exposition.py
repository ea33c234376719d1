"""Families as bytes, read back by other readers: ours, prometheus_client's, and by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from apftop.demo.exposition import number, protobuf, text
from apftop.parse.exposition_proto import parse_proto
from apftop.parse.exposition_text import parse_text
from apftop.records.parsed import Family, Histogram, Labels

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
LABELS = st.dictionaries(st.sampled_from(["flow_schema", "priority_level", "reason"]), WORDS).map(
    lambda pairs: tuple(sorted(pairs.items()))
)
HISTOGRAMS = st.builds(
    lambda counts, total: Histogram(sum(counts), total, (0.0, 0.005, 15.0), tuple(accumulate(counts))),
    st.lists(st.integers(0, 2**55), min_size=4, max_size=4),
    st.floats(allow_nan=False),
)
PLAIN = st.builds(
    lambda name, kind, help_text, values: Family(name, kind, help_text, values, {}),
    st.sampled_from(["a_total", "b"]),
    st.sampled_from(["counter", "gauge"]),
    WORDS,
    st.dictionaries(LABELS, st.floats(allow_nan=False), min_size=1, max_size=4),
)
TIMED = st.builds(
    lambda help_text, rows: Family("wait_seconds", "histogram", help_text, {}, rows),
    WORDS,
    st.dictionaries(LABELS, HISTOGRAMS, min_size=1, max_size=3),
)

DISPATCHED = Family("d_total", "counter", "Told.", {(("level", "low"),): 3.0}, {})
WAITED = Family("w", "histogram", "", {}, {(("execute", "true"),): Histogram(300, 1.5, (0.0, 0.005), (1, 2, 300))})


@given(PLAIN, TIMED)
def test_what_is_written_as_protobuf_is_read_back(plain: Family, timed: Family) -> None:
    found = parse_proto(protobuf([plain, timed]))

    assert found.families == {plain.name: plain, timed.name: timed}
    assert not found.problems


@given(PLAIN, TIMED)
def test_what_is_written_as_text_is_read_back(plain: Family, timed: Family) -> None:
    # The reader takes words apart at white space, and text has no way to escape other ends of lines.
    calm = [Family(one.name, one.kind, "help", one.values, one.histograms) for one in (plain, timed)]
    exact = all(count < 2**53 for rows in timed.histograms.values() for count in rows.cumulative)
    found = parse_text(text(calm))

    assert not found.problems
    assert found.families[plain.name] == calm[0]
    assert not exact or found.families[timed.name] == calm[1]


def test_prometheus_client_reads_the_same_samples() -> None:
    (counter, histogram) = text_string_to_metric_families(text([DISPATCHED, WAITED]).decode())

    assert [(one.name, one.labels, one.value) for one in counter.samples] == [("d_total", {"level": "low"}, 3.0)]
    assert [(one.name, one.labels.get("le"), one.value) for one in histogram.samples] == [
        ("w_bucket", "0", 1.0),
        ("w_bucket", "0.005", 2.0),
        ("w_bucket", "+Inf", 300.0),
        ("w_sum", None, 1.5),
        ("w_count", None, 300.0),
    ]


def test_text_is_laid_out_as_a_server_does() -> None:
    assert text([DISPATCHED]).decode() == ('# HELP d_total Told.\n# TYPE d_total counter\nd_total{level="low"} 3\n')


def test_protobuf_bytes_are_those_of_the_message_definition() -> None:
    label = b"\x0a\x0c" + b"\x0a\x05level" + b"\x12\x03low"
    counter = b"\x1a\x09" + b"\x09" + b"\x00\x00\x00\x00\x00\x00\x08\x40"
    metric = b"\x22" + bytes([len(label + counter)]) + label + counter
    message = b"\x0a\x07d_total" + b"\x12\x05Told." + b"\x18\x00" + metric

    assert protobuf([DISPATCHED]) == bytes([len(message)]) + message


def fields(body: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Fields of a message whose numbers of bytes are all below 128."""
    while body:
        key, body = body[0], body[1:]
        if key & 7 == 2:
            yield key >> 3, body[1 : 1 + body[0]]
            body = body[1 + body[0] :]
        elif key & 7 == 1:
            yield key >> 3, body[:8]
            body = body[8:]
        else:
            size = next(at for at, byte in enumerate(body) if byte < 0x80) + 1
            yield key >> 3, sum((byte & 0x7F) << 7 * at for at, byte in enumerate(body[:size]))
            body = body[size:]


def test_a_histogram_message_has_count_sum_and_the_finite_buckets() -> None:
    (family,) = [dict(fields(protobuf([WAITED])[1:]))]
    metric = family[4]
    assert isinstance(metric, bytes)
    histogram = dict(fields(metric))[7]
    assert isinstance(histogram, bytes)
    parts = list(fields(histogram))

    assert family[3] == 4
    assert parts[0] == (1, 300)
    assert [field for field, _ in parts] == [1, 2, 3, 3]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0"),
        (1, "1"),
        (0.005, "0.005"),
        (999999, "999999"),
        (1e6, "1e+06"),
        (1234567.5, "1.2345675e+06"),
        (26193123647, "2.6193123647e+10"),
        (1.5149698469888895e9, "1.5149698469888895e+09"),
        (0.08182823927786784, "0.08182823927786784"),
        (0.00002, "2e-05"),
        (-0.25, "-0.25"),
        (-2500000.0, "-2.5e+06"),
        (math.nan, "NaN"),
        (math.inf, "+Inf"),
        (-math.inf, "-Inf"),
    ],
)
def test_numbers_are_written_as_go_writes_them(value: float, written: str) -> None:
    assert number(value) == written


@given(st.floats(allow_nan=False))
def test_a_written_number_is_the_same_number(value: float) -> None:
    assert float(number(value)) == value


def test_labels_come_in_the_order_of_their_names() -> None:
    rows: dict[Labels, float] = {(("a", "1"), ("b", "2")): 1.0}

    (line,) = [line for line in text([Family("x", "gauge", "", rows, {})]).decode().splitlines() if line[0] != "#"]

    assert line == 'x{a="1",b="2"} 1'
    assert all(one < other for one, other in pairwise(next(iter(rows))))
