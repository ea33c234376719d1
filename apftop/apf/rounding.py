"""Rounding as the server does it: halves go away from zero."""

from __future__ import annotations

import math


def half_away(value: float) -> int:
    """The nearest whole number, a half going away from zero; raises ValueError or OverflowError for NaN or infinity."""
    whole = math.trunc(value)
    # The difference is exact; adding a half first is not.
    if abs(value - whole) >= 0.5:
        return whole + 1 if value > 0 else whole - 1
    return whole
