"""What each level was asked to do: arrivals, width and execution time, over the window and in its life before it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from apftop.derive.deltas import Step
from apftop.derive.utilization import MEASURE as LIFE
from apftop.records.load import Load
from apftop.records.measures import NANOSECONDS, Counts
from apftop.records.parsed import Histogram
from apftop.records.view import Key, View
from apftop.rules import rules

COUNTERS = ("dispatched", "rejected", "waiting")
HISTOGRAMS = ("width", "execution")


@dataclass(frozen=True, slots=True)
class Means:
    """Mean width in seats and mean execution time in seconds by level; a level without any is not there."""

    width: Mapping[str, float]
    execution_s: Mapping[str, float]

    def load(self, name: str, seconds: float, arrivals: float) -> Load:
        """The load of one level in which so many requests arrived within so many seconds."""
        return Load(seconds, max(0.0, arrivals) / seconds, self.width.get(name), self.execution_s.get(name))


def means(step: Step | None) -> Means | None:
    """Of what came and what ended over the window, this tool's own requests among it; None without two answers."""
    if step is None:
        return None
    return _means({measure: step.histograms(measure) for measure in HISTOGRAMS})


def load_of(of: Means | None, name: str, step: Step | None, counts: Counts | None) -> Load | None:
    """The load of a level over the window of the metrics; None where its counts are not known.

    Requests that were refused have arrived too: they are in `work_estimated_seats` as well (1.26 to 1.37).
    """
    if of is None or step is None or counts is None or step.window.seconds <= 0:
        return None
    return of.load(name, step.window.seconds, counts.arrivals)


def usual_loads(step: Step | None) -> dict[str, Load]:
    """The load of each level from its beginning to the window, by the counters at the window's start.

    Its life are the nanoseconds that the histogram of its seats has counted until then (1.26 to 1.37). A level that is
    younger than `load.least_life_s`, one of which something is not known, and all levels of a server that began anew
    within the window have none.
    """
    if step is None or step.anew or step.before.incomplete:
        return {}
    before = step.before
    of = _means({measure: before.histograms.get(measure, {}) for measure in HISTOGRAMS})
    unknown = {key.level for measure in (*COUNTERS, *HISTOGRAMS) for key in before.torn.get(measure, ())}
    arrived = _arrived(before)
    return {
        key.level: of.load(key.level, lived.count / NANOSECONDS, arrived.get(key.level, 0.0))
        for key, lived in before.histograms.get(LIFE, {}).items()
        if key.level not in unknown and lived.count / NANOSECONDS >= rules().load.least_life_s
    }


def _arrived(view: View) -> dict[str, float]:
    """Requests since the levels are there: those that started, were refused, or wait."""
    totals: dict[str, float] = {}
    for measure in COUNTERS:
        for key, value in view.values.get(measure, {}).items():
            if math.isfinite(value):
                totals[key.level] = totals.get(key.level, 0.0) + value
    return totals


def _means(of: Mapping[str, Mapping[Key, Histogram]]) -> Means:
    runs = ((key, one) for key, one in of["execution"].items() if key.by != "watch")
    return Means(_by_level(of["width"].items()), _by_level(runs))


def _by_level(parts: Iterable[tuple[Key, Histogram]]) -> dict[str, float]:
    counts: dict[str, int] = {}
    sums: dict[str, float] = {}
    for key, one in parts:
        counts[key.level] = counts.get(key.level, 0) + one.count
        sums[key.level] = sums.get(key.level, 0.0) + one.sum
    return {name: sums[name] / count for name, count in counts.items() if count and math.isfinite(sums[name])}
