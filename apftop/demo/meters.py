"""Instruments of a simulated server: distributions, ratios over time, and greatest values of a second."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from apftop.records.parsed import Histogram

SECONDS = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0)
LENGTHS = (0.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0)
WATCHERS = (0.0, 1.0, 10.0, 100.0, 1000.0, 10000.0)
WIDTHS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0)
SEAT_RATIOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
REQUEST_RATIOS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1.0)
KIND_RATIOS = (0.0, 0.001, 0.01, *SEAT_RATIOS[1:])
DEMAND_RATIOS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0, 2.8, 4.0, 6.0)


class Distribution:
    """An event histogram."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.sum = 0.0

    @property
    def count(self) -> int:
        return sum(self.counts)

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def age(self, factor: int) -> None:
        """As if all that was observed had been so `factor` times."""
        self.counts = [count * factor for count in self.counts]
        self.sum *= factor

    def read(self) -> Histogram:
        cumulative = tuple(accumulate(self.counts))
        return Histogram(cumulative[-1], self.sum, self.bounds, cumulative)


class TimedRatio:
    """A histogram to which every nanosecond adds the ratio that holds at its end."""

    __slots__ = ("_bucket", "_counted", "_denominator", "_numerator", "_ratio", "_since")

    def __init__(self, bounds: Sequence[float], now: int) -> None:
        self._counted = Distribution(bounds)
        self._since = now
        self._numerator = 0
        self._denominator = 1.0
        self._ratio = 0.0
        self._bucket = bisect_left(self._counted.bounds, 0.0)

    def set(self, numerator: int, now: int) -> None:
        """The numerator is this from now on."""
        self._count(now)
        if numerator != self._numerator:
            self._numerator = numerator
            self._divide()

    def divide_by(self, denominator: float, now: int) -> None:
        """The denominator is this from now on; it must be above 0."""
        self._count(now)
        self._denominator = denominator
        self._divide()

    def age(self, factor: int, now: int) -> None:
        """As if all the time so far had passed `factor` times."""
        self._count(now)
        self._counted.age(factor)

    def read(self, now: int) -> Histogram:
        self._count(now)
        return self._counted.read()

    def _count(self, now: int) -> None:
        passed = now - self._since
        if passed:
            self._counted.counts[self._bucket] += passed
            self._counted.sum += self._ratio * passed
            self._since = now

    def _divide(self) -> None:
        self._ratio = self._numerator / self._denominator
        self._bucket = bisect_left(self._counted.bounds, self._ratio)


class SecondPeak:
    """A number of requests, shown as its greatest value within the last whole second."""

    __slots__ = ("_last", "_peak", "_second", "value")

    def __init__(self, now: int) -> None:
        self.value = self._peak = self._last = 0
        self._second = now // 1_000_000_000

    def add(self, change: int, now: int) -> None:
        self._roll(now)
        self.value += change
        self._peak = max(self._peak, self.value)

    def read(self, now: int) -> int:
        self._roll(now)
        return self._last

    def _roll(self, now: int) -> None:
        second = now // 1_000_000_000
        if second != self._second:
            self._last = self._peak if second == self._second + 1 else self.value
            self._peak = self.value
            self._second = second


@dataclass(slots=True)
class Tally:
    """What /metrics says of one schema in one level. A part without events has no series yet."""

    dispatched: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    no_accommodation: int = 0
    executing: int = 0
    seats_in_use: int = 0
    waiting: int = 0
    waiting_seats: int = 0
    waits: dict[str, Distribution] = field(default_factory=dict)
    executions: dict[str, Distribution] = field(default_factory=dict)
    queue_lengths: Distribution = field(default_factory=lambda: Distribution(LENGTHS))
    watchers: Distribution = field(default_factory=lambda: Distribution(WATCHERS))
    widths: Distribution = field(default_factory=lambda: Distribution(WIDTHS))

    def reject(self, reason: str) -> None:
        self.rejected[reason] = self.rejected.get(reason, 0) + 1

    def waited(self, accepted: bool, seconds: float) -> None:
        """One sample of the wait histogram; `accepted` is what the label `execute` says."""
        _under(self.waits, "true" if accepted else "false").observe(seconds)

    def executed(self, verb: str, seconds: float) -> None:
        _under(self.executions, "watch" if verb == "watch" else "regular").observe(seconds)

    def age(self, factor: int) -> None:
        """As if all events so far had happened `factor` times; what is inside now stays."""
        self.dispatched *= factor
        self.no_accommodation *= factor
        self.rejected = {reason: count * factor for reason, count in self.rejected.items()}
        for one in (*self.waits.values(), *self.executions.values(), self.queue_lengths, self.watchers, self.widths):
            one.age(factor)


def _under(parts: dict[str, Distribution], key: str) -> Distribution:
    found = parts.get(key)
    if found is None:
        found = parts[key] = Distribution(SECONDS)
    return found
