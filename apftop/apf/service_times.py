"""Service times drawn from an execution histogram."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

MOST_STRETCH = 1.5


class ServiceTimes:
    """Times that requests take once they have started, as a histogram of them shows. Nanoseconds.

    A time falls into a bucket by its count, and anywhere in it alike; what lies beyond the last bound is taken to lie
    within twice that bound. All times are then stretched so that their mean is the one given, by 1.5 at most.
    """

    __slots__ = ("_edges", "_sums")

    def __init__(self, bounds_ns: Sequence[int], counts: Sequence[int], mean_ns: float | None = None) -> None:
        """`bounds_ns` are rising upper bounds, `counts` those of each bucket, with one more for what is beyond them.

        Raises ValueError where nothing was counted or the lengths do not fit.
        """
        if len(counts) != len(bounds_ns) + 1 or not bounds_ns or sum(counts) <= 0:
            raise ValueError("a histogram needs bounds, one count more than these, and something counted")
        edges = [0, *bounds_ns, 2 * bounds_ns[-1]]
        self._sums = [0, *accumulate(counts)]
        middle = sum(
            count * (low + high) / 2 for count, low, high in zip(counts, edges, edges[1:], strict=False)
        ) / sum(counts)
        stretch = 1.0
        if mean_ns is not None and middle > 0:
            stretch = min(max(mean_ns / middle, 1 / MOST_STRETCH), MOST_STRETCH)
        self._edges = [edge * stretch for edge in edges]

    def draw(self, rng: random.Random) -> int:
        """One service time."""
        return self._at(rng.random() * self._sums[-1])

    def draw_beyond(self, rng: random.Random, age_ns: int) -> int:
        """The service time of a request that has been executing for `age_ns` and is not done yet."""
        passed = self._count_below(age_ns)
        if passed >= self._sums[-1]:
            # Older than any that was counted: it starts afresh.
            return age_ns + self.draw(rng)
        return max(age_ns + 1, self._at(passed + rng.random() * (self._sums[-1] - passed)))

    def _at(self, rank: float) -> int:
        """The time that has `rank` counts below it."""
        bucket = bisect_right(self._sums, rank) - 1
        below, count = self._sums[bucket], self._sums[bucket + 1] - self._sums[bucket]
        low, high = self._edges[bucket], self._edges[bucket + 1]
        return int(low + (rank - below) / count * (high - low))

    def _count_below(self, time_ns: int) -> float:
        bucket = bisect_right(self._edges, time_ns) - 1
        if bucket + 1 >= len(self._edges):
            return self._sums[-1]
        low, high = self._edges[bucket], self._edges[bucket + 1]
        return self._sums[bucket] + (time_ns - low) / (high - low) * (self._sums[bucket + 1] - self._sums[bucket])
