"""MetricFamily messages, against the text of the same families and against what Go's client library sent."""

from __future__ import annotations

import math
import struct
from base64 import b64decode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.parse.exposition_proto import parse_proto
from apftop.parse.exposition_text import parse_text
from apftop.records.parsed import Family, Histogram, Labels, Metrics, ParseError

FROM_GO = b64decode("""
igIKL2FwaXNlcnZlcl9mbG93Y29udHJvbF9kaXNwYXRjaGVkX3JlcXVlc3RzX3RvdGFsEhVbQkVUQV0gYSBcIGFuZAphIGxpbmUYACIqCg8KC2Zs
b3dfc2NoZW1hEgAaFwkAAAAAAAAAABoMCI73tNgGEPC2rPIBIlcKEQoLZmxvd19zY2hlbWESAmV4GkIJAAAAAAAAAEASKQoQCgh0cmFjZV9pZBIE
YX0gMREAAAAAAAAAQBoMCI73tNgGEJrwrPIBGgwIjve02AYQ6bqs8gEiOQoeCgtmbG93X3NjaGVtYRIPdyJvXHJ7a30KLCMgPcOpGhcJAAAA3P8F
JEIaDAiO97TYBhDmp6zyAbIBCjNhcGlzZXJ2ZXJfZmxvd2NvbnRyb2xfcmVxdWVzdF93YWl0X2R1cmF0aW9uX3NlY29uZHMSAXcYBCJ2Cg8KB2V4
ZWN1dGUSBHRydWU6Ywi5FxEAAAAAII7sQBoLCAERAAAAAAAAAAAaCwgBEXsUrkfhenQ/Gi0IhRIRAAAAAAAAPkAaHwoGCgF0EgExEQAAAAAAAOA/
GgwIjve02AYQyZm88gF6DAiO97TYBhC78K3yATgKJGFwaXNlcnZlcl9mbG93Y29udHJvbF9zZWF0X2ZhaXJfZnJhYxIBeBgBIgsSCQkBAAAAAAD4
f1cKBGJvdGgSAXcYBCJKOkgIAREAAAAAAAD4PxoLCAARAAAAAAAA8D8aCwgBEQAAAAAAAABAKAYxAAAAAAAA8Dc4AGIECAoQAWgCegwIjve02AYQ
8Ki88gFHCgZuYXRpdmUSAXcYBCI4OjYIAhEAAAAAAAASQCgGMQAAAAAAAPA3OABiBAgKEAFiBAgOEAFoAmgAegwIjve02AYQ+eC88gEiCgdzdGFt
cGVkEgF4GAEiEhIJCQAAAAAAABRAMPvQlf+8MWQKBHN1bW0SAXcYAiJXIlUIAREAAAAAAAAIQBoSCfFo44i1+OQ+EQAAAAAAAAhAGhIJAAAAAAAA
4D8RAAAAAAAACEAaEgkAAAAAAADwPxEAAAAAAAAIQCIMCI73tNgGEJWDvvIBFwoDdW50EgF1GAMiCyoJCQAAAAAAAPD/
""")
"""What client_golang 1.24.0 sent for the families of TEXT_FROM_GO, asked for protobuf; it adds creation times."""

TEXT_FROM_GO = """\
# HELP apiserver_flowcontrol_dispatched_requests_total [BETA] a \\\\ and\\na line
# TYPE apiserver_flowcontrol_dispatched_requests_total counter
apiserver_flowcontrol_dispatched_requests_total{flow_schema=""} 0
apiserver_flowcontrol_dispatched_requests_total{flow_schema="ex"} 2
apiserver_flowcontrol_dispatched_requests_total{flow_schema="w\\"o\\\\r{k}\\n,# =é"} 4.3e+10
# HELP apiserver_flowcontrol_request_wait_duration_seconds w
# TYPE apiserver_flowcontrol_request_wait_duration_seconds histogram
apiserver_flowcontrol_request_wait_duration_seconds_bucket{execute="true",le="0"} 1
apiserver_flowcontrol_request_wait_duration_seconds_bucket{execute="true",le="0.005"} 1
apiserver_flowcontrol_request_wait_duration_seconds_bucket{execute="true",le="30"} 2309
apiserver_flowcontrol_request_wait_duration_seconds_bucket{execute="true",le="+Inf"} 3001
apiserver_flowcontrol_request_wait_duration_seconds_sum{execute="true"} 58481
apiserver_flowcontrol_request_wait_duration_seconds_count{execute="true"} 3001
# HELP apiserver_flowcontrol_seat_fair_frac x
# TYPE apiserver_flowcontrol_seat_fair_frac gauge
apiserver_flowcontrol_seat_fair_frac NaN
# HELP both w
# TYPE both histogram
both_bucket{le="1"} 0
both_bucket{le="2"} 1
both_bucket{le="+Inf"} 1
both_sum 1.5
both_count 1
# HELP native w
# TYPE native histogram
native_bucket{le="+Inf"} 2
native_sum 4.5
native_count 2
# HELP stamped x
# TYPE stamped gauge
stamped 5 1700000000123
# HELP summ w
# TYPE summ summary
summ{quantile="1e-05"} 3
summ{quantile="0.5"} 3
summ{quantile="1"} 3
summ_sum 3
summ_count 1
# HELP unt u
# TYPE unt untyped
unt -Inf
"""


@dataclass(frozen=True)
class Drawn:
    """A family as a server holds it, from which the tests write any format."""

    name: str
    kind: str
    help: str
    values: Mapping[Labels, float]
    histograms: Mapping[Labels, Histogram]


LABEL_VALUES = st.text(
    st.one_of(st.sampled_from('\\"\n{},#= 1'), st.characters(exclude_categories=["Cs"], exclude_characters="\r")),
    max_size=6,
)
LABELS = st.dictionaries(st.sampled_from(["flow_schema", "priority_level", "execute", "_x9"]), LABEL_VALUES, max_size=3)
SORTED_LABELS = LABELS.map(lambda labels: tuple(sorted(labels.items())))
NUMBERS = st.one_of(st.floats(), st.sampled_from([0.0, 1.0, 4.3e10, 1e21, math.nan, math.inf, -math.inf]))
BOUNDS = st.sets(st.sampled_from([-1.0, 0.0, 0.005, 0.1, 1.0, 2.8, 10.0, 1e9]), max_size=4).map(sorted)


@st.composite
def made_histograms(draw: st.DrawFn) -> Histogram:
    bounds = draw(BOUNDS)
    steps = draw(st.lists(st.integers(0, 2**40), min_size=len(bounds) + 1, max_size=len(bounds) + 1))
    cumulative = tuple(sum(steps[: place + 1]) for place in range(len(steps)))
    return Histogram(cumulative[-1], draw(NUMBERS), tuple(bounds), cumulative)


@st.composite
def expositions(draw: st.DrawFn, names: tuple[str, ...] = ("apiserver_", "etcd:", "n", "_z")) -> list[Drawn]:
    out: list[Drawn] = []
    for number in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["counter", "gauge", "histogram", "untyped"]))
        name = f"{draw(st.sampled_from(names))}{number}{'_total' if kind == 'counter' else ''}"
        about = draw(st.text(st.sampled_from('[BETA] \\n"é'), max_size=8)).strip()
        single = draw(st.dictionaries(SORTED_LABELS, NUMBERS, max_size=3)) if kind != "histogram" else {}
        groups = draw(st.dictionaries(SORTED_LABELS, made_histograms(), max_size=2)) if kind == "histogram" else {}
        out.append(Drawn(name, kind, about, single, groups))
    return out


def escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def selector(name: str, labels: Labels) -> str:
    inside = ",".join(f'{key}="{escaped(value)}"' for key, value in labels)
    return f"{name}{{{inside}}}" if labels else name


def number(value: float) -> str:
    return {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}.get(repr(value), repr(value).removesuffix(".0"))


def written(families: list[Drawn], *, headers: bool = True) -> str:
    """The families in the text format, as a server would write them."""
    lines: list[str] = []
    for family in families:
        if headers:
            about = family.help.replace("\\", "\\\\").replace("\n", "\\n")
            lines += [f"# HELP {family.name} {about}", f"# TYPE {family.name} {family.kind}"]
        lines += [f"{selector(family.name, labels)} {number(value)}" for labels, value in family.values.items()]
        for labels, made in family.histograms.items():
            for bound, count in zip((*made.bounds, math.inf), made.cumulative, strict=True):
                pairs = (*labels, ("le", number(bound)))
                lines.append(f"{selector(f'{family.name}_bucket', pairs)} {number(float(count))}")
            lines.append(f"{selector(f'{family.name}_sum', labels)} {number(made.sum)}")
            lines.append(f"{selector(f'{family.name}_count', labels)} {number(float(made.count))}")
    return "".join(f"{line}\n" for line in lines)


# The wire format.


def varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def whole(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def double(field: int, value: float) -> bytes:
    return varint(field << 3 | 1) + struct.pack("<d", value)


def part(field: int, content: bytes | str) -> bytes:
    raw = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(raw)) + raw


def sized(message: bytes) -> bytes:
    return varint(len(message)) + message


def label_fields(labels: Labels) -> bytes:
    return b"".join(part(1, part(1, name) + part(2, value)) for name, value in labels)


def buckets(made: Histogram, *, unbounded: bool) -> bytes:
    bounds = (*made.bounds, math.inf)[: None if unbounded else -1]
    pairs = zip(bounds, made.cumulative, strict=False)
    return b"".join(part(3, whole(1, count) + double(2, bound)) for bound, count in pairs)


def encoded(families: list[Drawn], *, unbounded: bool = False) -> bytes:
    """The families as length-delimited messages."""
    types = {"counter": (0, 3), "gauge": (1, 2), "untyped": (3, 5), "histogram": (4, 7)}
    out = b""
    for family in families:
        number_of_type, field = types[family.kind]
        message = part(1, family.name) + part(2, family.help) + whole(3, number_of_type)
        for labels, value in family.values.items():
            message += part(4, label_fields(labels) + part(field, double(1, value)))
        for labels, made in family.histograms.items():
            content = whole(1, made.count) + double(2, made.sum) + buckets(made, unbounded=unbounded)
            message += part(4, label_fields(labels) + part(field, content))
        out += sized(message)
    return out


def family_message(name: str, type_number: int, *metrics: bytes) -> bytes:
    return sized(part(1, name) + whole(3, type_number) + b"".join(part(4, metric) for metric in metrics))


def content(metrics: Metrics) -> str:
    """All families as text, so that NaN equals NaN."""
    return repr(sorted(metrics.families.items()))


def only_histogram(body: bytes) -> Histogram:
    (made,) = parse_proto(body).families["h"].histograms.values()
    return made


@given(expositions(), st.booleans())
def test_protobuf_reads_as_the_text_of_the_same_families(families: list[Drawn], unbounded: bool) -> None:
    shown = [family for family in families if family.values or family.histograms]
    metrics = parse_proto(encoded(shown, unbounded=unbounded))
    assert content(metrics) == content(parse_text(written(shown).encode()))
    assert not metrics.problems


@given(expositions())
def test_a_cut_body_is_refused_or_ends_between_messages(families: list[Drawn]) -> None:
    ends = {len(encoded(families[:count])): count for count in range(len(families) + 1)}
    body = encoded(families)
    for end in range(len(body) + 1):
        if end in ends:
            assert content(parse_proto(body[:end])) == content(parse_proto(encoded(families[: ends[end]])))
        else:
            with pytest.raises(ParseError):
                parse_proto(body[:end])


@given(st.binary(max_size=60))
def test_random_bytes_raise_nothing_but_parse_errors(body: bytes) -> None:
    with suppress(ParseError):
        parse_proto(body)


def test_what_go_sends_reads_as_its_text() -> None:
    metrics = parse_proto(FROM_GO)
    expected = parse_text(TEXT_FROM_GO.encode())
    native = metrics.families["native"].histograms[()]
    assert native == replace(expected.families["native"].histograms[()], native_only=True)
    others = {**metrics.families, "native": expected.families["native"]}
    assert content(replace(metrics, families=others)) == content(expected)
    assert (metrics.stamps, metrics.problems) == (expected.stamps, ())


def test_a_native_histogram_without_buckets() -> None:
    fields = whole(1, 5) + double(2, 1.5) + whole(5, 6) + double(6, 1e-128) + part(12, whole(1, 2) + whole(2, 1))
    assert only_histogram(family_message("h", 4, part(7, fields))) == Histogram(5, 1.5, (), (5,), native_only=True)


def test_a_native_histogram_with_a_broken_count_is_left_out_and_named() -> None:
    metrics = parse_proto(family_message("h", 4, part(7, double(4, math.nan) + whole(5, 6))))
    assert metrics.problems == ("h{} (message 1): it has a count that is no whole number, left out",)


def test_native_fields_beside_buckets_are_passed_over() -> None:
    classic = part(3, whole(1, 2) + double(2, 0.5))
    fields = whole(1, 5) + double(2, 1.5) + classic + whole(5, 6) + part(12, whole(2, 1)) + part(15, whole(1, 17))
    assert only_histogram(family_message("h", 4, part(7, fields))) == Histogram(5, 1.5, (0.5,), (2, 5))


def test_a_histogram_without_bounds_is_not_native() -> None:
    fields = whole(1, 5) + double(2, 1.5) + part(15, whole(1, 1700000000))
    assert only_histogram(family_message("h", 4, part(7, fields))) == Histogram(5, 1.5, (), (5,))


def test_left_out_zeros_are_zeros() -> None:
    empty_bucket = part(3, b"")
    assert only_histogram(family_message("h", 4, part(7, whole(1, 2) + empty_bucket))) == Histogram(
        2, 0.0, (0.0,), (0, 2)
    )
    assert parse_proto(family_message("g", 1, part(2, b""))).families["g"].values == {(): 0.0}


def test_counts_may_be_floats() -> None:
    bucket = part(3, double(2, 0.5) + double(4, 3.0))
    made = only_histogram(family_message("h", 4, part(7, bucket + double(4, 7.0) + double(2, 1.0))))
    assert made == Histogram(7, 1.0, (0.5,), (3, 7))


def test_counts_beyond_the_floats_stay_exact() -> None:
    count = 2**53 + 1
    made = only_histogram(family_message("h", 4, part(7, whole(1, count) + part(3, whole(1, count) + double(2, 1.0)))))
    assert made.cumulative == (count, count)


def test_a_bucket_with_an_exemplar() -> None:
    bucket = part(3, whole(1, 2) + double(2, 0.5) + part(3, part(1, part(1, "t")) + double(2, 0.4)))
    assert only_histogram(family_message("h", 4, part(7, whole(1, 2) + bucket))) == Histogram(2, 0.0, (0.5,), (2, 2))


def test_a_missing_type_is_a_counter() -> None:
    assert parse_proto(sized(part(1, "x") + part(4, part(3, double(1, 2.0))))).families["x"].kind == "counter"


def test_unknown_fields_are_passed_over() -> None:
    extra = whole(100, 7) + double(101, 7.0) + part(102, "x") + varint(103 << 3 | 5) + b"1234"
    gauge = part(2, extra + double(1, 4.0) + extra)
    body = sized(extra + part(1, "g") + part(5, "seconds") + whole(3, 1) + part(4, extra + gauge + extra) + extra)
    assert parse_proto(body).families == {"g": Family("g", "gauge", "", {(): 4.0}, {})}


def test_labels_after_the_value_count_too() -> None:
    metric = part(1, part(2, "2") + part(1, "b")) + part(2, double(1, 4.0)) + part(1, part(1, "a") + part(2, "1"))
    assert parse_proto(family_message("g", 1, metric)).families["g"].values == {(("a", "1"), ("b", "2")): 4.0}


def test_time_stamps_are_milliseconds() -> None:
    metrics = [part(2, double(1, 1.0)) + whole(6, stamp) for stamp in (1700000000123, 2**64 - 5000)]
    assert parse_proto(family_message("g", 1, *metrics)).stamps == {"": (-5.0, 1700000000.123)}


def test_federated_parts_are_put_together() -> None:
    metrics = [
        family_message("h_bucket", 3, label_fields((("le", bound),)) + part(5, double(1, count)))
        for bound, count in (("1", 2.0), ("+Inf", 3.0))
    ]
    body = b"".join(metrics) + family_message("h_count", 3, part(5, double(1, 3.0)))
    assert only_histogram(body + family_message("h_sum", 3, part(5, double(1, 0.5)))) == Histogram(
        3, 0.5, (1.0,), (2, 3)
    )


def test_a_gauge_histogram_is_left_out_and_named() -> None:
    metrics = parse_proto(family_message("g", 5, part(7, whole(1, 1))))
    assert not metrics.families
    assert metrics.problems == ("g: gauge histograms are not read, left out",)


def test_a_series_without_its_value_is_left_out_and_named() -> None:
    metrics = parse_proto(family_message("g", 1, label_fields((("a", "1"),))))
    assert metrics.problems == ("g{'a': '1'} (message 1): it has no gauge in it, left out",)


def test_a_contradicting_histogram_is_left_out_and_named() -> None:
    fields = whole(1, 5) + part(3, whole(1, 9) + double(2, 1.0))
    metrics = parse_proto(family_message("h", 4, part(7, fields)))
    assert not metrics.families["h"].histograms
    assert metrics.problems == ("h{} (message 1): its buckets do not rise, left out",)


def test_a_series_that_stands_twice_with_different_values_is_named() -> None:
    metrics = parse_proto(family_message("g", 1, *(part(2, double(1, value)) for value in (1.0, 2.0))))
    assert metrics.problems == ("g{} (message 1): it stands there twice with different values, left out",)


def test_a_cut_message_is_named() -> None:
    body = family_message("first", 1) + family_message("apiserver_x", 1, part(2, double(1, 1.0)))
    with pytest.raises(ParseError, match=r"message 2 \(apiserver_x\) cannot be read: truncated, its last 3 bytes"):
        parse_proto(body[:-3])


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (part(1, "x") + part(4, b"\x0a\x05"), "a label reaches beyond its series"),
        (part(1, "x") + b"\x22\x7f", "field 4 reaches 127 bytes beyond its message"),
        (part(1, "x") + b"\x0b", "wire type 3 is not known"),
        (part(1, "x") + b"\xff" * 11, "a number goes on for more than 10 bytes"),
        (part(1, b"\xff"), "'utf-8' codec can't decode"),
        (whole(3, 1), "the family has no name"),
    ],
)
def test_a_spoiled_message_is_refused(message: bytes, why: str) -> None:
    with pytest.raises(ParseError, match=f"message 1 .* cannot be read: {why}"):
        parse_proto(sized(message))
