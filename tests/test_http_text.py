"""Saved raw HTTP answers and their dates."""

from __future__ import annotations

import pytest

from apftop.http_text import HttpAnswer, http_date, parse_http
from apftop.records.parsed import ParseError

FORBIDDEN = b"""\
HTTP/1.1 403 Forbidden
Date: Sun, 12 Apr 2026 10:03:30 GMT
Content-Type: application/json
Audit-Id: 11111111-2222-4333-8444-555555555555

{"kind": "Status", "code": 403}
"""


def test_status_headers_and_body() -> None:
    assert parse_http(FORBIDDEN) == HttpAnswer(
        403,
        (
            ("date", "Sun, 12 Apr 2026 10:03:30 GMT"),
            ("content-type", "application/json"),
            ("audit-id", "11111111-2222-4333-8444-555555555555"),
        ),
        b'{"kind": "Status", "code": 403}\n',
    )


def test_carriage_returns_end_header_lines_and_stay_in_the_body() -> None:
    answer = parse_http(b"HTTP/1.1 200 OK\r\nX-A: b\r\n\r\none\r\n\r\ntwo\r\n")
    assert answer == HttpAnswer(200, (("x-a", "b"),), b"one\r\n\r\ntwo\r\n")


@pytest.mark.parametrize("line", [b"HTTP/2 403", b"HTTP/2 403 ", b"HTTP/1.0 403 Not For You", b"HTTP/3 403"])
def test_status_lines_of_every_version(line: bytes) -> None:
    assert parse_http(line + b"\r\ndate: x\r\n\r\n").status == 403


@pytest.mark.parametrize(
    "before",
    [
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 200 Connection established\r\nVia: proxy\r\n\r\n",
        b"HTTP/1.1 302 Found\nLocation: /x\n\nHTTP/1.1 401 Unauthorized\n\n",
    ],
)
def test_the_last_of_several_answers_counts(before: bytes) -> None:
    assert parse_http(before + FORBIDDEN) == parse_http(FORBIDDEN)


def test_an_answer_may_have_no_headers_and_no_body() -> None:
    assert parse_http(b"HTTP/1.1 204 No Content\n\n") == HttpAnswer(204, (), b"")


def test_an_answer_may_end_after_its_headers() -> None:
    assert parse_http(b"HTTP/2 404\ndate: x") == HttpAnswer(404, (("date", "x"),), b"")


def test_repeated_headers_stay_apart_and_folded_ones_are_joined() -> None:
    answer = parse_http(b"HTTP/1.1 200 OK\nA: 1\nA: 2\n  more\n\n")
    assert answer.headers == (("a", "1"), ("a", "2 more"))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "an empty body"),
        (b"404 page not found\n", "text: '404 page not found', not a raw HTTP answer"),
        (b'{"kind":"Status","message":"no"}', "a JSON Status: no"),
        (b"HTTP/1.1 OK\n\n", "not a raw HTTP answer"),
        (b"HTTP/1.1 200 OK\nDate: x\nno header\n\n", "line 3 is not an HTTP header: 'no header'"),
    ],
)
def test_what_is_no_answer_is_refused(body: bytes, says: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_http(body)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Sun, 12 Apr 2026 10:03:30 GMT", 1_775_988_210.0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777.0),
        ("Sun Nov  6 08:49:37 1994", 784_111_777.0),
        ("Sun, 12 Apr 2026 12:03:30 +0200", 1_775_988_210.0),
    ],
)
def test_dates(text: str, seconds: float) -> None:
    assert http_date(text) == seconds


@pytest.mark.parametrize("text", ["", "yesterday", "2026-04-12T10:03:30Z", "Sun, 99 Apr 2026 10:03:30 GMT", "1"])
def test_what_is_no_date(text: str) -> None:
    assert http_date(text) is None
