"""What happened between two views: counters and histograms with resets and newborn series, and how long it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from apftop.records.frame import Window
from apftop.records.parsed import Histogram
from apftop.records.view import Key, View
from apftop.rules import rules

NANOSECONDS = 1e9


@dataclass(frozen=True, slots=True)
class Step:
    """Two views of one server, the earlier possibly of a process that has since restarted."""

    before: View
    after: View
    restarted: bool
    window: Window | None

    def counters(self, measure: str) -> dict[Key, float]:
        """The rise of each counter of a measure; a series that fell, or began inside the window, counts from 0."""
        later = self.after.values.get(measure, {})
        if self.restarted:
            return dict(later)
        earlier = self.before.values.get(measure, {})
        return {key: _rise(earlier.get(key, 0.0), value) for key, value in later.items()}

    def histograms(self, measure: str) -> dict[Key, Histogram]:
        """The rise of each histogram of a measure, by the same rules."""
        later = self.after.histograms.get(measure, {})
        if self.restarted:
            return dict(later)
        earlier = self.before.histograms.get(measure, {})
        return {key: subtract(value, earlier.get(key)) for key, value in later.items()}


def step(before: View, after: View, t0: float | None, t1: float | None) -> Step:
    """Pair two views. `t0` and `t1` are Unix seconds by the taker's clock, None where unknown."""
    restarted = _restarted(before, after)
    return Step(before, after, restarted, _window(before, after, t0, t1, restarted))


def subtract(later: Histogram, earlier: Histogram | None) -> Histogram:
    """The samples that were added; all of the later where there is no earlier, after a reset, or with other buckets."""
    if earlier is None or earlier.bounds != later.bounds or later.count < earlier.count:
        return later
    cumulative = tuple(b - a for a, b in zip(earlier.cumulative, later.cumulative, strict=True))
    if any(count < 0 for count in cumulative) or any(b < a for a, b in pairwise(cumulative)):
        return later
    return Histogram(later.count - earlier.count, later.sum - earlier.sum, later.bounds, cumulative)


def add(parts: list[Histogram]) -> Histogram | None:
    """The sum of histograms that share their bounds; None when there is none, or when the bounds differ."""
    if not parts or any(part.bounds != parts[0].bounds for part in parts):
        return None
    return Histogram(
        count=sum(part.count for part in parts),
        sum=sum(part.sum for part in parts),
        bounds=parts[0].bounds,
        cumulative=tuple(sum(column) for column in zip(*(part.cumulative for part in parts), strict=True)),
    )


def _rise(earlier: float, later: float) -> float:
    return later - earlier if later >= earlier else later


def _restarted(before: View, after: View) -> bool:
    # Process start times are exact to the text of a float: any difference is another process.
    return before.start is not None and after.start is not None and before.start != after.start


def _reset(before: View, after: View) -> bool:
    """Whether a counter fell without a restart, as `DELETE /metrics` makes it."""
    for measure in ("dispatched", "rejected"):
        earlier: Mapping[Key, float] = before.values.get(measure, {})
        later: Mapping[Key, float] = after.values.get(measure, {})
        if any(later.get(key, 0.0) < value for key, value in earlier.items()):
            return True
    return False


def _window(before: View, after: View, t0: float | None, t1: float | None, restarted: bool) -> Window | None:
    if restarted:
        if t1 is None or after.start is None or t1 <= after.start:
            return None
        since = after.start if t0 is None else max(t0, after.start)
        return Window(t1 - since, "stamps", since, t1, reset=True)
    stamped = t1 - t0 if t0 is not None and t1 is not None and t1 > t0 else None
    counted = _nanoseconds(before, after)
    reset = _reset(before, after)
    if stamped is None:
        return Window(counted, "server", t0, t1, reset) if counted else None
    if counted is not None and _agree(stamped, counted):
        return Window(counted, "server", t0, t1, reset)
    return Window(stamped, "stamps", t0, t1, reset)


def _nanoseconds(before: View, after: View) -> float | None:
    """Seconds between the two answers by the server's own counts: a histogram over time gains one each nanosecond."""
    rises = [
        later.count - earlier.count
        for measure in ("request_utilization", "seat_utilization")
        for key, later in after.histograms.get(measure, {}).items()
        if (earlier := before.histograms.get(measure, {}).get(key)) is not None and later.count > earlier.count
    ]
    return median(rises) / NANOSECONDS if rises else None


def _agree(stamped: float, counted: float) -> bool:
    limits = rules().window
    return abs(stamped - counted) <= max(limits.clock_agreement * stamped, limits.clock_agreement_s)
