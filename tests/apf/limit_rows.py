"""Limits and demand of one level as the vectors have them."""

from __future__ import annotations

from apftop.apf.borrowing import Adjustment
from apftop.apf.levels import Level
from tests.apf.vectors import close

Row = list[float | None]


def limit_row(level: Level, adjustment: Adjustment, name: str) -> Row:
    """Nominal, lower, upper, current, high watermark, average, deviation, smoothed, target."""
    return [
        level.limits.nominal,
        level.limits.lower,
        level.limits.upper,
        level.current,
        level.stats.high_watermark,
        level.stats.average,
        level.stats.deviation,
        level.stats.smoothed,
        adjustment.targets.get(name),
    ]


def same_row(found: Row, wanted: Row) -> bool:
    """Equal but for what is not wanted (null)."""
    return all(want is None or (got is not None and close(got, want)) for got, want in zip(found, wanted, strict=True))
