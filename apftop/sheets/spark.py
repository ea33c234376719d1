"""A series as text: one character a point, so that it costs no more than any other cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

from apftop.records.moment import Trend
from apftop.sheets.figures import UNKNOWN
from apftop.sheets.sheet import Cell

BARS = "▁▂▃▄▅▆▇█"
GAP = "·"


def spark(points: Sequence[float | None], top: float | None) -> str:
    """Points from 0 to `top`, or to their greatest: the lowest bar is 0 and only 0, `·` is unknown."""
    known = [point for point in points if point is not None and math.isfinite(point)]
    height = top or max(known, default=0.0)
    return "".join(_bar(point, height) for point in points)


def _bar(point: float | None, height: float) -> str:
    if point is None or not math.isfinite(point):
        return GAP
    if point <= 0 or height <= 0:
        return BARS[0]
    steps = len(BARS) - 1
    return BARS[min(steps, max(1, math.ceil(point / height * steps)))]


def trend_cell(trend: Trend | None, limit: float | None) -> Cell:
    """Waiting requests (`w`, up to their greatest) where any waited, else seats in use (`s`, up to the limit)."""
    if trend is None or not (trend.waiting or trend.seats):
        return UNKNOWN
    if any(trend.waiting):
        return Cell(spark(trend.waiting, None) + " w")
    return Cell(spark(trend.seats, limit) + " s")
