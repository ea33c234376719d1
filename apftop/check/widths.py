"""How wide the requests of a level can be: from the buckets of those counted, and from what was there before."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from apftop.check.missing import Missing, needed
from apftop.check.window import Instant, LevelWindow
from apftop.records.parsed import Histogram

UNKNOWN = "widths of requests are not known"


@dataclass(frozen=True, slots=True)
class Widths:
    """Ranges of whole seats, ends included, in which each width lies; an open end is infinite."""

    ranges: frozenset[tuple[float, float]]

    @property
    def least(self) -> float:
        return min((low for low, _ in self.ranges), default=1.0)

    @property
    def most(self) -> float:
        return max((high for _, high in self.ranges), default=1.0)

    def overlap(self, low: float, high: float) -> bool:
        """Whether a request may be from `low` to `high` seats wide."""
        return any(begin <= high and end >= low for begin, end in self.ranges)


def widths(window: LevelWindow) -> Widths:
    """The widths of all requests that were in the level during the window. Raises Missing where they are not known.

    They are those of requests that came in the window (`work_estimated_seats`, 1.26 to 1.37) and of those that were
    there when it began.
    """
    return Widths(frozenset([*_filled(needed(window.rise("widths"), UNKNOWN)), *_present(window.first)]))


def _present(one: Instant) -> Iterable[tuple[float, float]]:
    """Widths of those in the level at one moment: by its gauges, else by its rows, else by all that ever came."""
    level = one.level
    if level.executing is not None and level.executing == level.seats and _narrow(level.waiting, level.waiting_seats):
        return [(1.0, 1.0)] if level.executing or level.waiting else []
    if one.executing is not None and one.rows:
        return [(float(row.width), float(row.width)) for row in one.rows]
    return _filled(needed(level.widths, UNKNOWN))


def _narrow(requests: float | None, seats: float | None) -> bool:
    """Whether each request has one seat."""
    return requests == 0 or (requests is not None and requests == seats)


def _filled(histogram: Histogram) -> Iterable[tuple[float, float]]:
    """The ranges of the buckets that are not empty."""
    if histogram.native_only:
        raise Missing(UNKNOWN)
    highs, counts = (*histogram.bounds, math.inf), (0, *histogram.cumulative)
    for (low, high), (before, after) in zip(pairwise((0.0, *highs)), pairwise(counts), strict=True):
        if after > before:
            yield low + 1.0, high
