"""What a body is that is not what was asked for: a refusal, a page of a proxy, another kind of file."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

UTF8_BOM = b"\xef\xbb\xbf"
"""What some editors put before UTF-8 text."""

UTF16 = (b"\xff\xfe", b"\xfe\xff")
"""How text in UTF-16 begins, as PowerShell's `>` writes it."""

_LONGEST = 160
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


def describe(body: bytes) -> str:
    """A short noun phrase for an error message, such as `an HTML page: '502 Bad Gateway'`."""
    if body.startswith(b"\x1f\x8b"):
        return "gzip data"
    if body.startswith(UTF16):
        return "UTF-16 text (save it as UTF-8)"
    text = body.decode("utf-8", errors="replace").lstrip("\ufeff \t\r\n")
    if not text:
        return "an empty body"
    line = text.splitlines()[0].strip()
    if text.startswith("<"):
        title = _TITLE.search(text[:10_000])
        return f"an HTML page: {_short(title[1])!r}" if title else f"an HTML page or XML: {_short(line)!r}"
    if text.startswith("HTTP/"):
        return f"a raw HTTP answer: {_short(line)!r}"
    if text.startswith("{"):
        return _describe_json(body)
    if text.startswith(("# HELP", "# TYPE")):
        return "metrics in text form"
    if text.startswith("PriorityLevelName,"):
        return "a table of a debug dump"
    return f"text: {_short(line)!r}"


def status_text(status: Mapping[object, object]) -> str:
    """What a `kind: Status` object says: its message, else its reason and code."""
    message = status.get("message")
    if isinstance(message, str) and message:
        return _short(message)
    # Other values may be lists or mappings of any size.
    values = [status.get(key) for key in ("reason", "code", "status")]
    parts = [_short(str(value)) for value in values if value and isinstance(value, (str, int))]
    return _short(" ".join(parts[:2])) or "without a message"


def _describe_json(body: bytes) -> str:
    try:
        value = msgspec.json.decode(body.removeprefix(UTF8_BOM))
    except (msgspec.DecodeError, RecursionError):
        return "broken JSON"
    kind = value.get("kind")
    if kind == "Status":
        return f"a JSON Status: {status_text(value)}"
    return f"a JSON {_short(kind)}" if isinstance(kind, str) else "JSON without a kind"


def _short(text: str) -> str:
    text = " ".join(text[: 10 * _LONGEST].split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
