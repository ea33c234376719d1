"""Durations as Go writes and reads them: `1.2s`, `350ms`, `1m2.3s`."""

from __future__ import annotations

import re
from decimal import Decimal

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
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(h|ms|m|s|us|µs|μs|ns)")


def go_duration_ns(text: str) -> int | None:
    """Nanoseconds of a duration, the rest cut off; None where it is none. `0` is one without a unit."""
    sign = -1 if text.startswith("-") else 1
    rest = text.removeprefix("-") if sign < 0 else text.removeprefix("+")
    if rest == "0":
        return 0
    if not rest or _PART.sub("", rest):
        return None
    return sign * sum(int(Decimal(number) * _UNITS[unit]) for number, unit in _PART.findall(rest))
