"""Numbers and foreign text as people read them; one way for the screen, the text report and Markdown."""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import UTC, datetime

from apftop.records.measures import Quantile

UNKNOWN = "-"
# The last year that a time has a text for.
END_OF_TIMES = 253402300800.0
# What a terminal may act on or hide: controls, formats (bidi, zero width), surrogates, private use, unassigned.
_DOUBTFUL = re.compile(r"[^\x20-\x7e]")
_UNSHOWN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Blanks that look like nothing, and what changes the width of the character before it.
_MISLEADING = re.compile("[\u115f\u1160\u2800\u3164\uffa0\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef]")
# What lies on the character before it and takes no cell of its own.
_MARKS = frozenset({"Mn", "Me", "Mc"})
_JOINING_JAMO = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")


def plain(text: str, width: int | None = None) -> str:
    """Foreign text with everything that a terminal could act on escaped, cut to a width in characters."""
    shown = _DOUBTFUL.sub(lambda found: found[0] if _shown(found[0]) else _escaped(found[0]), text)
    if width is not None and len(shown) > width:
        return shown[: max(0, width - 1)] + "…"
    return shown


def _shown(character: str, also: str = "") -> bool:
    if character == also:
        return True
    return unicodedata.category(character) not in _UNSHOWN and not _MISLEADING.match(character)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"


def cells(text: str) -> int:
    """How many cells of a terminal text takes that `plain` let through."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.category(character) in _MARKS or _JOINING_JAMO.match(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """Text in at most so many cells, with `…` where the end of it is left out."""
    return text if cells(text) <= width else _first(text, width - 1) + "…" if width > 0 else ""


def cut_front(text: str, width: int) -> str:
    """Text in at most so many cells, with `…` where the beginning of it is left out."""
    return text if cells(text) <= width else "…" + _last(text, width - 1) if width > 0 else ""


def _first(text: str, width: int) -> str:
    kept = 0
    for at, character in enumerate(text):
        kept += _cells(character)
        if kept > width:
            return text[:at]
    return text


def _last(text: str, width: int) -> str:
    """The end of text, without marks that lie on what comes before it."""
    at, kept = len(text), 0
    while at and (kept := kept + _cells(text[at - 1])) <= width:
        at -= 1
    while at < len(text) and not _cells(text[at]):
        at += 1
    return text[at:]


def whole(value: float | None) -> str:
    """A count or a number of seats."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def rate(value: float | None) -> str:
    """Something a second: enough digits to tell apart what differs."""
    if value is None:
        return UNKNOWN
    if value == 0:
        return "0"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def seconds(value: float | None) -> str:
    """A duration, with the unit that suits it."""
    if value is None:
        return UNKNOWN
    size = abs(value)
    if size < 5e-7:
        return "0s"
    if size < 0.001:
        return f"{value * 1e6:.0f}us"
    return f"{_three(value * 1e3)}ms" if size < 1 else f"{_three(value)}s"


def _three(value: float) -> str:
    """Three digits that matter, or all of the whole ones."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"


def interval(value: Quantile | None) -> str:
    """A quantile by the bounds between which it lies; never the estimate alone."""
    if value is None:
        return UNKNOWN
    if value.high is None:
        return f">{seconds(value.low)}"
    if value.low == 0:
        return f"<={seconds(value.high)}"
    return f"{seconds(value.low)}-{seconds(value.high)}"


def percent(value: float | None) -> str:
    """A share of one, halves up: 114 of 160 are 71.3%."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    # Noise of the division is cut first, so that a half is one.
    tenths = math.floor(round(value * 1000, 6) + 0.5)
    return f"{tenths / 10:.1f}%" if value > 0 and tenths < 1000 else f"{value * 100:.0f}%"


def span(value: float | None) -> str:
    """How long something has lasted: two units at most, whole ones."""
    if value is None:
        return UNKNOWN
    if value < 60:
        return f"{max(0, int(value))}s"
    minutes, hours, days = int(value // 60), int(value // 3600), int(value // 86400)
    if minutes < 60:
        return f"{minutes}m"
    return f"{hours}h{minutes % 60}m" if hours < 24 else f"{days}d{hours % 24}h"


def size(value: float | None) -> str:
    """Bytes, with the unit that suits them."""
    if value is None:
        return UNKNOWN
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= factor:
            return f"{_three(value / factor)} {unit}"
    return f"{value:.0f} B"


def utc(stamp: float | None) -> str:
    """Unix seconds as RFC 3339 in UTC with milliseconds."""
    if stamp is None or not 0 <= stamp < END_OF_TIMES:
        return UNKNOWN
    return datetime.fromtimestamp(stamp, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def json_text(text: str) -> str:
    """JSON with everything in its strings escaped that a terminal could act on; elsewhere JSON has none of it."""
    return _DOUBTFUL.sub(lambda found: found[0] if _shown(found[0], "\n") else _json_escaped(found[0]), text)


def _json_escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
