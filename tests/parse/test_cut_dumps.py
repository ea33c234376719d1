"""Bodies that are cut or are another thing: never a wrong row, always a reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from apftop.parse.dumps import parse_levels, parse_queues, parse_requests
from apftop.records.parsed import Dump, ParseError
from tests.parse.dump_samples import (
    BASE_126,
    BASE_128,
    DETAILS,
    LEVELS_SAMPLE,
    QUEUES_SAMPLE,
    REQUEST_ROWS,
    REQUESTS_SAMPLE,
    pod,
    request,
)
from tests.parse.go_table import render


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n\r\n"])
def test_a_header_alone_is_an_empty_dump(end: bytes) -> None:
    for parse, sample in (
        (parse_levels, LEVELS_SAMPLE),
        (parse_queues, QUEUES_SAMPLE),
        (parse_requests, REQUESTS_SAMPLE),
    ):
        dump = parse(sample.splitlines()[0] + end)
        assert (dump.rows, dump.bad) == ((), ())


def test_a_whole_last_row_needs_no_newline() -> None:
    assert parse_requests(REQUESTS_SAMPLE.removesuffix(b"\n")).rows == REQUEST_ROWS
    assert parse_queues(QUEUES_SAMPLE.removesuffix(b"\n")).rows == parse_queues(QUEUES_SAMPLE).rows


def test_a_row_cut_in_its_subresource_is_told() -> None:
    body = render([(*BASE_128, *DETAILS), pod("u", "p")])
    with pytest.raises(ParseError, match="truncated at line 2"):
        parse_requests(body.removesuffix(b"tus\n"))


def test_requests_cut_anywhere_never_give_a_wrong_row() -> None:
    never_wrong(REQUESTS_SAMPLE, parse_requests)


def test_requests_without_details_cut_anywhere_never_give_a_wrong_row() -> None:
    rows = [request(user)[:10] for user in ("a", "b, c", "")]
    never_wrong(render([BASE_128, *rows]), parse_requests)
    never_wrong(render([BASE_126, *([*row[:8], "50ms"] for row in rows)]), parse_requests)


def test_queues_cut_anywhere_never_give_a_wrong_row() -> None:
    never_wrong(QUEUES_SAMPLE, parse_queues)


def test_levels_cut_anywhere_never_give_a_wrong_row() -> None:
    never_wrong(LEVELS_SAMPLE, parse_levels)


def never_wrong(body: bytes, parse: Callable[[bytes], Dump[Any]]) -> None:
    rows = parse(body).rows
    for end in range(len(body)):
        try:
            dump = parse(body[:end])
        except ParseError:
            continue
        assert dump.rows == rows[: len(dump.rows)]
        assert dump.bad == ()
        assert len(dump.rows) == max(0, body[:end].rstrip(b"\n").count(b"\n"))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "an empty body"),
        (b"\n", "an empty body"),
        (b"404 page not found\n", "text: '404 page not found', not a dump_requests table"),
        (
            b'{"kind":"Status","message":"forbidden: User \\"sre\\" cannot get path","code":403}',
            'a JSON Status: forbidden: User "sre" cannot get path',
        ),
        (b'{"kind":"Status","reason":"Forbidden","code":403}', "a JSON Status: Forbidden 403"),
        (b"<html><head><title>502 Bad Gateway</title></head></html>", "an HTML page: '502 Bad Gateway'"),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "a raw HTTP answer: 'HTTP/1.1 403 Forbidden'"),
        (b"# HELP go_info x\n", "metrics in text form"),
        (b"\x1f\x8b\x08\x00", "gzip data"),
        (QUEUES_SAMPLE, "this is a dump_queues table, not dump_requests"),
        (LEVELS_SAMPLE, "this is a dump_priority_levels table, not dump_requests"),
        (b"NAME, AGE\nx,    1\n", "this is a table of NAME, AGE, not dump_requests"),
        (b"PriorityLevelName, FlowSch", "truncated at line 1, in its header"),
        (REQUESTS_SAMPLE[:70], "truncated at line 1"),
    ],
)
def test_what_is_no_dump_of_requests_is_named(body: bytes, says: str) -> None:
    with pytest.raises(ParseError, match=re.escape(says)):
        parse_requests(body)


def test_requests_are_not_taken_for_queues_or_levels() -> None:
    with pytest.raises(ParseError, match="this is a dump_requests table, not dump_queues"):
        parse_queues(REQUESTS_SAMPLE)
    with pytest.raises(ParseError, match="this is a dump_requests table, not dump_priority_levels"):
        parse_levels(REQUESTS_SAMPLE)
