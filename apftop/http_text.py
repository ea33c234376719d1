"""Saved raw HTTP answers: status line, headers, blank line, body."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from apftop.other_body import UTF8_BOM, describe
from apftop.records.parsed import ParseError

_STATUS = re.compile(rb"HTTP/[0-9](?:\.[0-9])? ([1-5][0-9]{2})(?: [^\r\n]*)?\r?(?:\n|\Z)")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\n]*)")


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """One HTTP answer; header names are in lower case, the body is as it was sent."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def parse_http(body: bytes) -> HttpAnswer:
    """Read a saved answer; of several in a row (`100 Continue`, a proxy's own, a redirect) the last counts.

    Raises ParseError where the text does not begin with a status line or a header line is broken.
    """
    rest = body.removeprefix(UTF8_BOM)
    line = 1
    while True:
        status = _STATUS.match(rest)
        if status is None:
            raise ParseError(f"this is {describe(body)}, not a raw HTTP answer")
        headers, rest, line = _headers(rest[status.end() :], line + 1)
        if not _STATUS.match(rest):
            return HttpAnswer(int(status[1]), headers, rest)


def _headers(rest: bytes, line: int) -> tuple[tuple[tuple[str, str], ...], bytes, int]:
    """The headers, what follows their blank line, and the number of the line where that begins."""
    headers: list[tuple[str, str]] = []
    while rest:
        text, _, rest = rest.partition(b"\n")
        text = text.rstrip(b"\r")
        line += 1
        if not text:
            break
        if text[:1] in b" \t" and headers:
            name, value = headers[-1]
            headers[-1] = (name, f"{value} {_decode(text)}")
            continue
        match = _HEADER.fullmatch(text)
        if match is None:
            raise ParseError(f"line {line - 1} is not an HTTP header: {_decode(text)[:120]!r}")
        headers.append((match[1].decode("ascii").lower(), _decode(match[2])))
    return tuple(headers), rest, line


def _decode(text: bytes) -> str:
    return text.decode("utf-8", errors="replace").strip()


def http_date(text: str) -> float | None:
    """An HTTP date (`Sun, 12 Apr 2026 10:03:30 GMT`) in Unix seconds; None where it is not one."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
