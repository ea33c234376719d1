"""The borrowing round: current limits of all levels of one server, every 10 s and after each new configuration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from apftop.apf.allocation import EXEMPT_IN_LIMITS_SINCE
from apftop.apf.fair_allocation import AllocationError, Share, fair_allocation
from apftop.apf.release import Release, holds
from apftop.apf.rounding import half_away

PERIOD_NS = 10_000_000_000
EXEMPT_SERVED_FIRST_SINCE = (">=1.31",)


@dataclass(frozen=True, slots=True)
class Borrower:
    """One level in a round. Limits and high watermark in seats; `current` is what it had before the round."""

    exempt: bool
    nominal: int
    lower: int
    upper: int
    current: int
    high_watermark: float
    smoothed: float

    @property
    def floor(self) -> float:
        """What the round leaves the level at least: what it used, up to its nominal limit."""
        return max(self.lower, min(self.nominal, self.high_watermark))

    @property
    def target(self) -> float:
        """What the round takes as the level's wish; NaN where the smoothed demand is."""
        return math.nan if math.isnan(self.smoothed) else max(self.floor, self.smoothed)


@dataclass(frozen=True, slots=True)
class Adjustment:
    """The outcome of one round. `fair` is 0 where the round failed or seats were short.

    `targets` leaves out the exempt level where it does not take part in the sharing. `failure` says why all levels that
    share kept their limits; None if the round succeeded.
    """

    current: Mapping[str, int]
    targets: Mapping[str, float]
    fair: float
    failure: str | None = None


def adjust(levels: Mapping[str, Borrower], release: Release) -> Adjustment:
    """Share out the sum of the nominal limits anew.

    1.28 to 1.30: the exempt level is one of those that share. Since 1.31 it gets what it used and is not counted
    against the others, unless what it leaves is no more than the others' lower limits or floors sum to: then they fall
    to the lower limits, or to a point between these and the floors. Up to 1.27 it takes no part at all.
    """
    if not holds(release, EXEMPT_IN_LIMITS_SINCE):
        limited = {name: level for name, level in levels.items() if not level.exempt}
        return _share(limited, limited)
    if not holds(release, EXEMPT_SERVED_FIRST_SINCE):
        return _share(levels, levels)
    exempt = {name: int(max(level.lower, level.high_watermark)) for name, level in levels.items() if level.exempt}
    others = {name: level for name, level in levels.items() if not level.exempt}
    left = sum(level.nominal for level in levels.values()) - sum(exempt.values())
    lower = sum(level.lower for level in others.values())
    floor = sum(level.floor for level in others.values())
    if left > floor:
        shared = _share(others, levels)
        return Adjustment(exempt | dict(shared.current), shared.targets, shared.fair, shared.failure)
    fraction = (left - lower) / (floor - lower) if left > lower else 0.0
    return Adjustment(
        exempt
        | {name: level.lower + half_away((level.floor - level.lower) * fraction) for name, level in others.items()},
        {name: level.target for name, level in others.items()},
        0.0,
    )


def _share(sharing: Mapping[str, Borrower], levels: Mapping[str, Borrower]) -> Adjustment:
    """Share out the nominal limits of all levels among some, by the rule of fair allocation."""
    targets = {name: level.target for name, level in sharing.items()}
    # What the exempt level has as nominal limit counts, also where it does not share.
    total = sum(level.nominal for level in levels.values())
    try:
        shares = [Share(targets[name], level.floor, level.upper) for name, level in sharing.items()]
        found, fair = fair_allocation(total, shares)
    except AllocationError as error:
        return Adjustment({name: level.current for name, level in sharing.items()}, targets, 0.0, str(error))
    current = {name: half_away(seats) for name, seats in zip(sharing, found, strict=True)}
    return Adjustment(current, targets, fair)
