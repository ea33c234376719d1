"""Numbers and foreign text as people read them; one way for the screen, the text report and Markdown."""

from __future__ import annotations

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


def plain(text: str, width: int | None = None) -> str:
    """Foreign text with everything that a terminal could act on escaped, cut to a width in characters."""
    shown = _DOUBTFUL.sub(lambda found: found[0] if _shown(found[0]) else _escaped(found[0]), text)
    if width is not None and len(shown) > width:
        return shown[: max(0, width - 1)] + "…"
    return shown


def _shown(character: str, also: str = "") -> bool:
    return character == also or unicodedata.category(character) not in _UNSHOWN


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"


def whole(value: float | None) -> str:
    """A count or a number of seats."""
    if value is None:
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
    if size == 0:
        return "0s"
    if size < 0.001:
        return f"{value * 1e6:.0f}us"
    if size < 1:
        return f"{value * 1e3:.3g}ms"
    return f"{value:.3g}s" if size < 1000 else f"{value:.0f}s"


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
    """A share of one."""
    if value is None:
        return UNKNOWN
    return f"{value * 100:.1f}%" if 0 < value < 0.9995 else f"{value * 100:.0f}%"


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
