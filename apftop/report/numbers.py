"""Numbers and times in JSON: what is unknown is null."""

from __future__ import annotations

import math
from typing import Any

from apftop.present import UNKNOWN, utc
from apftop.records.measures import Window


def when(stamp: float | None) -> str | None:
    """A JSON time: RFC 3339, null where unknown or beyond all calendars."""
    text = utc(stamp)
    return None if text == UNKNOWN else text


def number(value: float | None) -> float | int | None:
    """A JSON number: NaN and infinities are null, whole numbers have no fraction, noise beyond 1e-9 is cut."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 2**53 else round(value, 9)


def window_json(window: Window | None) -> dict[str, Any] | None:
    """The two moments that a number is between, by whose clock, and whether counts began anew in it."""
    if window is None:
        return None
    return {
        "t0": when(window.t0),
        "t1": when(window.t1),
        "seconds": number(window.seconds),
        "clock": window.clock,
        "reset": window.reset,
    }
