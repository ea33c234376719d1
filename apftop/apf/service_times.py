"""Service times drawn from an execution histogram."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence
from copy import copy
from itertools import accumulate

MOST_STRETCH = 1.5


class ServiceTimes:
    """Times that requests take once they have started, as a histogram of them shows. Nanoseconds.

    A time falls into a bucket by its count, and anywhere in it alike; what lies beyond the last bound is taken to lie
    within twice that bound. All times are then stretched so that their mean is the one given, by 1.5 at most; `mean_ns`
    is what it then is.
    """

    __slots__ = ("_edges", "_own", "_sums", "mean_ns")

    def __init__(
        self, bounds_ns: Sequence[int], counts: Sequence[int], mean_ns: float | None = None, *, own: bool = False
    ) -> None:
        """`bounds_ns` are rising upper bounds, `counts` those of each bucket, with one more for what is beyond them.

        With `own` the requests that times are drawn for are those that were counted, and not others like them.
        Raises ValueError where nothing was counted or the lengths do not fit.
        """
        if len(counts) != len(bounds_ns) + 1 or not bounds_ns or sum(counts) <= 0:
            raise ValueError("a histogram needs bounds, one count more than these, and something counted")
        self._own = own
        edges = [0, *bounds_ns, 2 * bounds_ns[-1]]
        self._sums = [0, *accumulate(counts)]
        middle = sum(
            count * (low + high) / 2 for count, low, high in zip(counts, edges, edges[1:], strict=False)
        ) / sum(counts)
        stretch = 1.0
        if mean_ns is not None and middle > 0:
            stretch = min(max(mean_ns / middle, 1 / MOST_STRETCH), MOST_STRETCH)
        self._edges = [edge * stretch for edge in edges]
        self.mean_ns = middle * stretch

    def stretched(self, by: float) -> ServiceTimes:
        """The same with all times so many times as long."""
        found = copy(self)
        found._edges = [edge * by for edge in self._edges]
        found.mean_ns = self.mean_ns * by
        return found

    def draws(self, rng: random.Random, number: int) -> list[int]:
        """So many service times; of requests that were counted themselves they are spread as the histogram is."""
        return [self._at(share * self._sums[-1]) for share in self._shares(rng, number)]

    def draws_beyond(self, rng: random.Random, ages_ns: Sequence[int]) -> list[int]:
        """The service times of requests that have been executing for so long and are not done yet, likewise."""
        return [self._beyond(*one) for one in zip(ages_ns, self._shares(rng, len(ages_ns)), strict=True)]

    def _shares(self, rng: random.Random, number: int) -> list[float]:
        """Random numbers below 1; spread evenly, in random order, for requests that were counted themselves."""
        shares = [rng.random() for _ in range(number)]
        if self._own:
            shares = [(place + share) / number for place, share in enumerate(shares)]
            rng.shuffle(shares)
        return shares

    def _beyond(self, age_ns: int, share: float) -> int:
        passed = self._count_below(age_ns)
        if passed >= self._sums[-1]:
            # Older than any that was counted: it starts afresh.
            return age_ns + self._at(share * self._sums[-1])
        return max(age_ns + 1, self._at(passed + share * (self._sums[-1] - passed)))

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
