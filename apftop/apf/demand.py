"""Seat demand of one level over time, and the smoothed figure that the borrowing round goes by (1.26 to 1.37).

Demand is seats in use, lingering ones included, plus the widths of all waiting requests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from apftop.apf.release import Release, holds

NAN_COUNTS_AS_ZERO_SINCE = (">=1.26.13 <1.27", ">=1.27.10 <1.28", ">=1.28.6 <1.29", ">=1.29")
KEPT = 0.977
TAKEN = 0.023


@dataclass(frozen=True, slots=True)
class Observation:
    """Demand since the last adjustment: seconds, time-weighted mean and deviation (NaN where unknown), and maximum."""

    seconds: float
    average: float
    deviation: float
    most: int


@dataclass(frozen=True, slots=True)
class DemandStats:
    """What the server keeps of a level's demand between adjustments, in seats; all zero for a new level."""

    high_watermark: int = 0
    average: float = 0.0
    deviation: float = 0.0
    smoothed: float = 0.0


class DemandIntegrator:
    """The demand of one level since the last adjustment, added up as it changes. Times are nanoseconds."""

    __slots__ = ("_elapsed", "_integral", "_last_ns", "_most", "_squares", "seats")

    def __init__(self, now_ns: int, seats: int = 0) -> None:
        self.seats = seats
        self._last_ns = now_ns
        self._most = seats
        self._elapsed = self._integral = self._squares = 0.0

    def set(self, now_ns: int, seats: int) -> None:
        """From now on the demand is `seats`; `now_ns` must not go back."""
        self._advance(now_ns)
        self.seats = seats
        if seats > self._most:
            self._most = seats

    def reset(self, now_ns: int) -> Observation:
        """What was seen since the last reset; the next period starts at the demand of this moment."""
        self._advance(now_ns)
        found = Observation(self._elapsed, *self._moments(), self._most)
        self._most = self.seats
        self._elapsed = self._integral = self._squares = 0.0
        return found

    def _advance(self, now_ns: int) -> None:
        # Whole seconds and the rest apart: the sum of both is what the server's clock gives.
        whole, rest = divmod(now_ns - self._last_ns, 1_000_000_000)
        seconds = whole + rest / 1e9
        self._last_ns = now_ns
        self._elapsed += seconds
        self._integral += seconds * self.seats
        self._squares += seconds * (self.seats * self.seats)

    def _moments(self) -> tuple[float, float]:
        if self._elapsed <= 0:
            return math.nan, math.nan
        average = self._integral / self._elapsed
        variance = self._squares / self._elapsed - average * average
        return average, math.sqrt(variance) if variance >= 0 else math.nan


def advance(stats: DemandStats, seen: Observation, release: Release) -> DemandStats:
    """The stats after one adjustment: the envelope (mean plus deviation) is followed up at once and down slowly.

    smoothed = max(envelope, 0.977 * smoothed + 0.023 * envelope). If no time has passed only the high watermark moves,
    and an unknown deviation counts as 0, since 1.26.13, 1.27.10, 1.28.6 and 1.29; before, NaN stays for ever. There, no
    time counts as very little, in which the demand was its maximum: the clock of a real server never stands still.
    """
    average, deviation = seen.average, seen.deviation
    if holds(release, NAN_COUNTS_AS_ZERO_SINCE):
        if seen.seconds <= 0:
            return DemandStats(seen.most, stats.average, stats.deviation, stats.smoothed)
        if math.isnan(deviation):
            deviation = 0.0
    elif seen.seconds <= 0:
        average, deviation = float(seen.most), 0.0
    envelope = average + deviation
    followed = KEPT * stats.smoothed + TAKEN * envelope
    # Not Python's max: NaN wins, whichever side it is on.
    smoothed = math.nan if math.isnan(followed) else max(envelope, followed)
    return DemandStats(seen.most, average, deviation, smoothed)
