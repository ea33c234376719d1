"""Picking the wanted families out of streams: what is kept, what is refused, and what memory it takes."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.parse.body import OPENMETRICS, PROTOBUF, TEXT, Gunzip, pick
from apftop.parse.metrics import parse_metrics
from apftop.parse.pick import ProtoPicker, TextPicker
from apftop.parse.wanted import Wanted
from apftop.records.parsed import Metrics, ParseError
from tests.parse.test_exposition_proto import (
    Drawn,
    double,
    encoded,
    expositions,
    family_message,
    part,
    varint,
    written,
)
from tests.parse.test_exposition_text import flat

WANTED = Wanted(frozenset({"process_start_time_seconds", "apiserver_current_inflight_requests"}), ("apiserver_flow",))
MIXED = ("apiserver_flowcontrol_", "apiserver_request_", "etcd_")

INFLIGHT = b"""\
# HELP apiserver_current_inflight_requests [STABLE] Maximal number of currently used inflight request limit.
# TYPE apiserver_current_inflight_requests gauge
apiserver_current_inflight_requests{request_kind="mutating"} 0
apiserver_current_inflight_requests{request_kind="readOnly"} 1
"""
DURATION = b"""\
# HELP apiserver_request_duration_seconds [STABLE] Response latency distribution in seconds for each verb.
# TYPE apiserver_request_duration_seconds histogram
apiserver_request_duration_seconds_bucket{verb="GET",le="0.005"} 12
apiserver_request_duration_seconds_bucket{verb="GET",le="+Inf"} 13
apiserver_request_duration_seconds_sum{verb="GET"} 0.5
apiserver_request_duration_seconds_count{verb="GET"} 13
"""
SEATS = b"""\
# HELP apiserver_flowcontrol_work_estimated_seats [ALPHA] Number of estimated seats
# TYPE apiserver_flowcontrol_work_estimated_seats histogram
apiserver_flowcontrol_work_estimated_seats_bucket{flow_schema="probes",le="1"} 4
apiserver_flowcontrol_work_estimated_seats_bucket{flow_schema="probes",le="+Inf"} 4
apiserver_flowcontrol_work_estimated_seats_sum{flow_schema="probes"} 4
apiserver_flowcontrol_work_estimated_seats_count{flow_schema="probes"} 4
"""
START = b"""\
# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1.77590000025e+09
"""


def run(picker: TextPicker | ProtoPicker, chunks: Iterable[bytes]) -> bytes:
    for chunk in chunks:
        picker.feed(chunk)
    return picker.finish()


def text(*chunks: bytes, wanted: Wanted = WANTED) -> bytes:
    return run(TextPicker(wanted), chunks)


def without_headers(body: bytes) -> bytes:
    return b"".join(line for line in body.splitlines(keepends=True) if not line.startswith(b"#"))


def content(metrics: Metrics) -> str:
    """What was read of wanted families, as text so that NaN equals NaN."""
    return repr(sorted((name, family) for name, family in metrics.families.items() if WANTED.takes(name)))


def cut(body: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    return [body[start:end] for start, end in pairwise(edges)]


PLACES = st.lists(st.integers(0, 100_000), max_size=12)


@given(expositions(MIXED), st.booleans(), st.booleans(), st.integers(1, 300), PLACES)
def test_text_is_picked_alike_however_it_is_cut(
    families: list[Drawn], headers: bool, crlf: bool, window: int, places: list[int]
) -> None:
    body = written(families, headers=headers).replace("\n", "\r\n" if crlf else "\n").encode()
    with patch("apftop.parse.pick._WINDOW", window):
        picked = text(body)
        assert text(*cut(body, places)) == picked
    assert content(parse_metrics(picked, TEXT)) == content(parse_metrics(body, TEXT))
    assert all(WANTED.takes(name) for name in parse_metrics(picked, TEXT).families)


@given(expositions(MIXED), expositions(("apiserver_flowc_", "kubelet_")), st.integers(1, 300))
def test_series_without_headers_are_found_after_blocks(headed: list[Drawn], bare: list[Drawn], window: int) -> None:
    body = DURATION + written(headed).encode() + written(bare, headers=False).encode()
    with patch("apftop.parse.pick._WINDOW", window):
        picked = text(body)
    expected = [line for line in without_headers(body).splitlines() if line.startswith(b"apiserver_flow")]
    assert without_headers(picked).splitlines() == expected


@given(expositions(MIXED), PLACES)
def test_protobuf_is_picked_alike_however_it_is_cut(families: list[Drawn], places: list[int]) -> None:
    body = encoded(families)
    picked = encoded([family for family in families if WANTED.takes(family.name)])
    assert run(ProtoPicker(WANTED), cut(body, places)) == picked
    assert run(ProtoPicker(WANTED), (body[place : place + 1] for place in range(len(body)))) == picked


@given(expositions(MIXED), st.booleans())
def test_a_cut_stream_is_refused_or_gives_true_values_only(families: list[Drawn], protobuf: bool) -> None:
    body = encoded(families) if protobuf else written(families).encode()
    kind = PROTOBUF if protobuf else TEXT
    whole_body = parse_metrics(*pick([body], kind, "", WANTED))
    for end in range(len(body)):
        try:
            metrics = parse_metrics(*pick([body[:end]], kind, "", WANTED))
        except ParseError:
            continue
        assert flat(metrics).items() <= flat(whole_body).items()


# Text.


def test_wanted_blocks_are_kept_whole() -> None:
    assert text(INFLIGHT + DURATION + SEATS + DURATION + START) == INFLIGHT + SEATS + START


def test_a_body_without_any_comment_is_read_line_by_line() -> None:
    body = without_headers(INFLIGHT + DURATION + SEATS + START)
    assert text(body) == without_headers(INFLIGHT + SEATS + START)


def test_a_body_cut_to_the_lines_of_some_word() -> None:
    body = b"".join(line for line in (DURATION + SEATS).splitlines(keepends=True) if b"flowcontrol" in line)
    assert text(body) == SEATS


def test_a_block_without_headers_after_another_block() -> None:
    assert text(DURATION + without_headers(SEATS) + DURATION) == without_headers(SEATS)


def test_unwanted_series_without_headers_after_a_wanted_block() -> None:
    assert text(SEATS + without_headers(DURATION)) == SEATS


def test_a_repeated_family_is_kept_each_time() -> None:
    assert text(SEATS + DURATION + SEATS) == SEATS + SEATS


def test_a_family_whose_name_begins_like_a_wanted_one_is_not_kept() -> None:
    other = b"# TYPE process_start_time_seconds_ago gauge\nprocess_start_time_seconds_ago 1\n"
    assert text(other + START) == START


def test_a_hash_in_a_label_value_is_no_comment() -> None:
    other = b'# TYPE x gauge\nx{a="#"} 1\nx{a="# TYPE process_start_time_seconds gauge"} 2\n'
    assert text(other + START + other) == START


def test_other_comments_do_not_end_a_block() -> None:
    body = START.replace(b"\nprocess_start_time_seconds 1", b"\n# a remark\nprocess_start_time_seconds 1")
    assert text(body) == START


def test_federated_parts_belong_to_their_histogram() -> None:
    name = b"apiserver_current_inflight_requests"
    body = b"".join(
        b'# TYPE %b%b untyped\n%b%b{instance="a"} 1 1700000000000\n' % (name, suffix, name, suffix)
        for suffix in (b"_bucket", b"_count", b"_sum")
    )
    assert text(DURATION + body) == body


def test_an_openmetrics_counter_is_wanted_by_its_full_name() -> None:
    body = b"# TYPE dispatched counter\ndispatched_total 4\ndispatched_created 1.7e9\n# EOF\n"
    assert text(b"# TYPE x counter\nx_total 1\n" + body, wanted=Wanted(frozenset({"dispatched_total"}))) == body


def test_the_end_mark_is_kept_and_may_lack_its_line_end() -> None:
    assert text(DURATION + b"# EOF") == b"# EOF\n"


@pytest.mark.parametrize("tail", [b"apiserver_request_total 1", b"# HELP x", b"# EO", b"\r"])
def test_a_body_that_ends_within_a_line_is_refused(tail: bytes) -> None:
    with pytest.raises(
        ParseError, match=f"truncated: the body ends within the line that begins at byte {len(SEATS)}: "
    ):
        text(SEATS + tail)


def test_an_endless_line_is_refused() -> None:
    with pytest.raises(ParseError, match="a line of over 1048576 bytes"):
        text(*[b"x" * 65536] * 20)


def test_the_bytes_of_the_whole_stream_are_counted() -> None:
    pickers: list[TextPicker | ProtoPicker] = [TextPicker(WANTED), ProtoPicker(WANTED)]
    for picker, body in zip(pickers, (DURATION, family_message("x", 1)), strict=True):
        run(picker, [body, body])
        assert picker.bytes_seen == 2 * len(body)


# Protobuf.


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (family_message("etcd_x", 1, part(2, double(1, 1.0)))[:-3], r"message 1 \(etcd_x\) lacks its last 3 bytes"),
        (family_message("etcd_x", 1) + b"\x09\x0a\x06etc", "ends at the beginning of message 2"),
        (b"\x85", "ends at the beginning of message 1"),
        (part(2, "text"), "message 1 does not begin with the name"),
        (b"\x05" + part(1, "longer"), "message 1 has a name of 6 bytes"),
        (varint(9000) + part(1, "x" * 5000), "message 1 has a name of 5000 bytes"),
        (b"\xff" * 20, "goes on for more than 10 bytes"),
    ],
)
def test_a_broken_protobuf_stream_is_refused(body: bytes, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        run(ProtoPicker(WANTED), [body])


def test_an_empty_message_is_passed_over() -> None:
    assert run(ProtoPicker(WANTED), [b"\0", b"\0" + family_message("apiserver_flow", 1)]) != b""


# Whole bodies.


def body_of(kind: str) -> bytes:
    gauge = family_message("process_start_time_seconds", 1, part(2, double(1, 1.0)))
    return {TEXT: INFLIGHT + DURATION, OPENMETRICS: INFLIGHT + DURATION + b"# EOF\n", PROTOBUF: gauge}[kind]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("encoding", ["", "gzip", "identity"])
@pytest.mark.parametrize("declared", ["", "the same"])
@pytest.mark.parametrize("kind", [TEXT, OPENMETRICS, PROTOBUF])
def test_format_and_encoding_are_known_by_the_first_bytes(
    kind: str, declared: str, encoding: str, packed: bool
) -> None:
    body = gzip.compress(body_of(kind)) if packed else body_of(kind)
    picked, found = pick([body[:1], body[1:]], kind if declared else "", encoding, WANTED)
    assert found == kind
    assert parse_metrics(picked, found).families


def test_a_byte_order_mark_is_passed_over() -> None:
    assert pick([b"\xef\xbb\xbf" + START], "", "", WANTED) == (START, TEXT)


@pytest.mark.parametrize(
    ("declared", "kind"), [("", TEXT), (TEXT, TEXT), (OPENMETRICS, OPENMETRICS), (PROTOBUF, PROTOBUF)]
)
def test_an_empty_body_is_empty(declared: str, kind: str) -> None:
    assert pick([], declared, "gzip", WANTED) == (b"", kind)


def test_openmetrics_without_its_end_is_truncated() -> None:
    with pytest.raises(ParseError, match="truncated: no `# EOF` line"):
        pick([INFLIGHT], "application/openmetrics-text; version=1.0.0; charset=utf-8", "", WANTED)


@pytest.mark.parametrize("kind", ["", TEXT, PROTOBUF, "text/html"])
@pytest.mark.parametrize(
    "body",
    [b"<html><body>502</body></html>", b'{\n  "kind": "Status",\n  "code": 403\n}\n', b'\n {"kind":"Status"}', b"[1]"],
)
def test_pages_and_json_are_no_metrics(body: bytes, kind: str) -> None:
    with pytest.raises(ParseError, match="this is not a metrics answer: "):
        pick([body], kind, "", WANTED)


@pytest.mark.parametrize(
    "body", [b"Too many requests, please try again later.\n", b"404 page not found\n", b"\x89PNG\r\n"]
)
def test_other_answers_are_no_metrics(body: bytes) -> None:
    with pytest.raises(ParseError, match="this is not a metrics answer: "):
        pick([body], TEXT, "", WANTED)


def test_a_refused_answer_is_shown_cut_and_escaped() -> None:
    with pytest.raises(ParseError) as caught:
        pick([b"<p>\x1b[31m" + b"z" * 900], "text/html", "br", WANTED)
    assert str(caught.value) == f"this is not a metrics answer (content encoding br): '<p>\\x1b[31m{'z' * 72}'"


# Parsing by content type.


def test_the_content_type_chooses_the_format() -> None:
    body = family_message("g", 1, part(2, double(1, 4.0)))
    assert parse_metrics(body, PROTOBUF).format == "protobuf"
    assert parse_metrics(b"# TYPE g gauge\ng 4\n", TEXT).format == "text"


def test_protobuf_is_known_without_a_content_type() -> None:
    assert parse_metrics(family_message("g", 1, part(2, double(1, 4.0))), "").format == "protobuf"


@pytest.mark.parametrize(
    ("content_type", "form"), [(TEXT, "text"), ("", "text"), (OPENMETRICS, "openmetrics"), (PROTOBUF, "protobuf")]
)
def test_an_empty_body_has_no_families(content_type: str, form: str) -> None:
    metrics = parse_metrics(b"", content_type)
    assert (metrics.families, metrics.format) == ({}, form)


def test_parsed_openmetrics_without_its_end_is_truncated() -> None:
    with pytest.raises(ParseError, match="truncated: no `# EOF` line"):
        parse_metrics(b"x 1\n", OPENMETRICS)


# Gzip.


@given(st.binary(max_size=4000), st.integers(1, 5), PLACES)
def test_gzip_is_unpacked_however_it_is_cut(content: bytes, copies: int, places: list[int]) -> None:
    body = gzip.compress(content * copies) + gzip.compress(b"more") + b"\0" * 9
    gunzip = Gunzip()
    assert b"".join(piece for chunk in cut(body, places) for piece in gunzip.feed(chunk)) == content * copies + b"more"
    gunzip.finish()


def test_a_cut_gzip_stream_is_refused_at_every_byte() -> None:
    body = gzip.compress(INFLIGHT + DURATION)
    for end in range(1, len(body)):
        with pytest.raises(ParseError):
            pick([body[:end]], TEXT, "gzip", WANTED)


@pytest.mark.parametrize("spoil", [lambda body: body[:-5] + b"12345", lambda body: body + b"tail"])
def test_a_corrupt_gzip_stream_is_refused(spoil: Callable[[bytes], bytes]) -> None:
    with pytest.raises(ParseError, match="corrupt gzip after"):
        pick([spoil(gzip.compress(START))], TEXT, "gzip", WANTED)


# Memory.


def long_text() -> Iterator[bytes]:
    block = without_headers(DURATION) * 180
    yield INFLIGHT + DURATION
    for _ in range(60_000_000 // len(block)):
        yield block[:]
    yield SEATS


def long_protobuf() -> Iterator[bytes]:
    yield varint(60 * 2**20 + 6) + part(1, "etcd")
    for _ in range(60):
        yield bytes(2**20)
    yield family_message("process_start_time_seconds", 1)


def long_gzip() -> Iterator[bytes]:
    yield gzip.compress(b"".join(long_text()), 1)


@pytest.mark.parametrize("stream", [long_text, long_protobuf, long_gzip])
def test_a_body_of_60_megabytes_takes_little_memory(stream: Callable[[], Iterator[bytes]]) -> None:
    chunks = [next(stream())] if stream is long_gzip else stream()
    tracemalloc.start()
    try:
        picked, _ = pick(chunks, "", "", WANTED)
        assert tracemalloc.get_traced_memory()[1] < 16_000_000
    finally:
        tracemalloc.stop()
    assert picked
