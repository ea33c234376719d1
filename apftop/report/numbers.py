"""Numbers and times in JSON: what is unknown is null."""

from __future__ import annotations

import math

from apftop.present import UNKNOWN, utc


def when(stamp: float | None) -> str | None:
    """A JSON time: RFC 3339, null where unknown or beyond all calendars."""
    text = utc(stamp)
    return None if text == UNKNOWN else text


def number(value: float | None) -> float | int | None:
    """A JSON number: NaN and infinities are null, whole numbers have no fraction, noise beyond 1e-9 is cut."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 2**53 else round(value, 9)
