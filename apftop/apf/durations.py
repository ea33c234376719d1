"""Durations as Go writes and reads them: `1.2s`, `350ms`, `1m2.3s`."""

from __future__ import annotations

import re

_UNITS = {
    "h": 3_600_000_000_000,
    "m": 60_000_000_000,
    "s": 10**9,
    "ms": 10**6,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ns": 1,
}
_PART = re.compile(r"(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(h|ms|m|s|us|µs|μs|ns)")
_LONGEST = 2**63
_DIGITS = 19
# What stands further behind the point is less than a nanosecond.
_PLACES = 64


def go_duration_ns(text: str) -> int | None:
    """Nanoseconds of a duration, the rest cut off; None where it is none, or too long for Go. `0` needs no unit."""
    sign = -1 if text.startswith("-") else 1
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0
    if not rest or _PART.sub("", rest):
        return None
    total = sum(_part(whole, after or alone, _UNITS[unit]) for whole, after, alone, unit in _PART.findall(rest))
    # The longest one with a minus is one nanosecond longer.
    return sign * total if total < _LONGEST or (sign < 0 and total == _LONGEST) else None


def _part(whole: str, fraction: str, unit: int) -> int:
    whole = whole.lstrip("0")
    if len(whole) > _DIGITS:
        return _LONGEST + 1
    kept, scale = 0, 1
    for digit in fraction[:_PLACES]:
        # Go leaves out the digits that its integer has no room for.
        if kept > (_LONGEST - 1) // 10 or kept * 10 + int(digit) > _LONGEST:
            break
        kept, scale = kept * 10 + int(digit), scale * 10
    # The fraction is a float in Go too.
    return int(whole or 0) * unit + int(float(kept) * (unit / scale))
