"""One check in words and numbers, for its row and its page."""

from __future__ import annotations

import math

from apftop import present
from apftop.records.checks import Check

SECONDS = "s"
"""The unit of a check that has a text of its own."""

WHOLE_FROM = 1e4
"""From here on no decimals are shown, below it four digits that matter."""


def value(number: float | None, unit: str) -> str:
    """One value; its unit is in it only where that is seconds."""
    if number is None or math.isnan(number):
        return present.UNKNOWN
    if unit == SECONDS:
        return present.seconds(number)
    if math.isinf(number):
        return "-inf" if number < 0 else "inf"
    return f"{number:.0f}" if abs(number) >= WHOLE_FROM else f"{number:.4g}"


def expected(check: Check) -> str:
    """One value, or two with what lies between them, or one and what lies beyond it."""
    if check.expected is None or check.expected == (None, None):
        return present.UNKNOWN
    low, high = check.expected
    if low is None:
        return f"<={value(high, check.unit)}"
    if high is None:
        return f">={value(low, check.unit)}"
    one, other = value(low, check.unit), value(high, check.unit)
    if one == other:
        return one
    return f"{one} to {other}" if low < 0 else f"{one}-{other}"


def unit(check: Check) -> str:
    """The unit of its numbers, where they do not say it themselves."""
    return "" if check.unit == SECONDS else present.plain(check.unit)


def because(check: Check) -> str:
    """What it means where it is off, and what is missing where it is unknown."""
    return present.plain(check.reason or check.missing)
