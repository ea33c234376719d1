"""Concurrency limits of one server's levels: from shares, and every 10 s anew from demand (1.31 to 1.37)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from apftop.apf.objects import PriorityLevelConfiguration

PERIOD_NS = 10_000_000_000
DECAY = 0.977
LEAST_TARGET = 0.001
_SLACK = 1e-7


@dataclass(frozen=True, slots=True)
class Bounds:
    """What follows from shares alone, in seats."""

    nominal: int
    lower: int
    upper: int


@dataclass(frozen=True, slots=True)
class Demand:
    """Seats that a level could use over the last period: what its requests hold and wait for."""

    average: float = 0.0
    stdev: float = 0.0
    high: int = 0
    smoothed: float = 0.0


@dataclass(frozen=True, slots=True)
class Allotment:
    """Current limits and targets in seats by level, and the fraction of the targets that all can have."""

    current: Mapping[str, int]
    targets: Mapping[str, float]
    fair_frac: float


def bounds(configs: Iterable[PriorityLevelConfiguration], server_seats: int) -> dict[str, Bounds]:
    """Nominal, lower and upper limits by level: nominal = ceil(server seats * shares / sum of shares)."""
    configs = tuple(configs)
    shares = sum(config.shares for config in configs)
    found = {}
    for config in configs:
        nominal = math.ceil(server_seats * config.shares / shares)
        borrowing = config.borrowing_limit_percent
        found[config.name] = Bounds(
            nominal,
            nominal - _round(nominal * config.lendable_percent / 100),
            nominal + (server_seats if borrowing is None else _round(nominal * borrowing / 100)),
        )
    return found


def first_limit(one: Bounds) -> int:
    """The current limit of a level that is new: half of what it may lend is lent."""
    return one.nominal - (one.nominal - one.lower) // 2


class DemandMeter:
    """Integrates the demand of a level over a period."""

    def __init__(self, now: int) -> None:
        self.last = Demand()
        self._value = self._high = 0
        self._begin(now)

    def set(self, seats: int, now: int) -> None:
        """The demand is so many seats from now on."""
        self._integrate(now)
        self._value = seats
        self._high = max(self._high, seats)

    def read(self, now: int) -> Demand:
        """End the period: the envelope, average plus deviation, counts at once when it rises and slowly when it falls.

        Over no time at all only the high watermark changes.
        """
        self._integrate(now)
        old = self.last
        average, stdev = old.average, old.stdev
        smoothed = old.smoothed
        if now > self._begun:
            seconds = (now - self._begun) / 1e9
            average = self._sum / seconds
            stdev = math.sqrt(max(0.0, self._squares / seconds - average * average))
            smoothed = max(average + stdev, DECAY * smoothed + (1 - DECAY) * (average + stdev))
        self.last = Demand(average, stdev, self._high, smoothed)
        self._begin(now)
        return self.last

    def _begin(self, now: int) -> None:
        self._begun = self._at = now
        self._sum = self._squares = 0.0
        self._high = self._value

    def _integrate(self, now: int) -> None:
        seconds = (now - self._at) / 1e9
        self._sum += self._value * seconds
        self._squares += self._value * self._value * seconds
        self._at = now


def allot(
    limits: Mapping[str, Bounds], demands: Mapping[str, Demand], exempt: frozenset[str], standing: Mapping[str, int]
) -> Allotment:
    """Hand out all nominal seats anew: to each level at least what it used at most, and what is left by fairness.

    Since 1.31 exempt levels get what they used, on top of the others' limits unless seats run short. Where the problem
    cannot be solved the others keep their `standing` limits.
    """
    total = sum(one.nominal for one in limits.values())
    current = {name: max(limits[name].lower, demands[name].high) for name in exempt}
    others = [name for name in limits if name not in exempt]
    lower = {name: max(limits[name].lower, min(limits[name].nominal, demands[name].high)) for name in others}
    targets = {name: max(float(lower[name]), demands[name].smoothed) for name in others}
    remaining = total - sum(current.values())
    least = sum(limits[name].lower for name in others)
    wanted = sum(lower.values())
    if remaining <= least:
        return Allotment(current | {name: limits[name].lower for name in others}, targets, 0.0)
    if remaining <= wanted:
        part = (remaining - least) / (wanted - least)
        short = {name: limits[name].lower + _round((lower[name] - limits[name].lower) * part) for name in others}
        return Allotment(current | short, targets, 0.0)
    items = {name: (max(targets[name], LEAST_TARGET), lower[name], limits[name].upper) for name in others}
    fair = _fair_frac(total, items)
    if fair is None:
        return Allotment(current | {name: standing[name] for name in others}, targets, 0.0)
    given = {name: _round(_clamp(fair, item)) for name, item in items.items()}
    return Allotment(current | given, targets, fair)


Item = tuple[float, int, int]
"""Target, lower and upper limit of a level."""


def _clamp(fraction: float, item: Item) -> float:
    target, lower, upper = item
    return min(max(fraction * target, lower), upper)


def _fair_frac(total: int, items: Mapping[str, Item]) -> float | None:
    """The fraction p for which the sum of clamp(p * target, lower, upper) is the total; None if there is none.

    The sum is piecewise linear and rises with p, so that p lies between two neighbouring bends.
    """
    bends = sorted({bound / target for target, *limits in items.values() for bound in limits})
    sums = [sum(_clamp(bend, item) for item in items.values()) for bend in bends]
    if not bends or total < sums[0] - _SLACK or total > sums[-1] + _SLACK:
        return None
    for index, reached in enumerate(sums):
        if reached >= total - _SLACK:
            if index == 0 or reached <= total:
                return bends[index]
            before, rise = sums[index - 1], reached - sums[index - 1]
            return bends[index - 1] + (bends[index] - bends[index - 1]) * (total - before) / rise
    return bends[-1]


def _round(value: float) -> int:
    """Go's rounding of a number that is not negative: halves go up."""
    return math.floor(value + 0.5)
