"""Exact time averages of seats in use and of full queues, from histograms that count nanoseconds (1.26 to 1.37)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from apftop.derive.evidence import Evidence
from apftop.records.measures import NANOSECONDS, Fill, Utilization
from apftop.records.parsed import Histogram
from apftop.records.view import Key

MEASURE = "seat_utilization"
REQUESTS = "request_utilization"
WAITING = "waiting"


def utilizations(evidence: Evidence) -> dict[str, Utilization]:
    """How full each level was over the window; over its whole life where only one answer is there, marked as such."""
    found = _over_time(evidence, MEASURE)
    averages = {key: _averages(one, lifetime=evidence.step is None) for key, one in found.items()}
    return {key.level: one for key, one in averages.items() if one is not None and key == Key(key.level)}


def fills(evidence: Evidence) -> dict[str, Fill]:
    """How full the queues of each level were over the same time; a level without queues has one place to wait."""
    return {
        key.level: Fill(_above(one, 0.25), one.count / NANOSECONDS, evidence.step is None)
        for key, one in _over_time(evidence, REQUESTS).items()
        if one.count > 0 and key == Key(key.level, by=WAITING)
    }


def _over_time(evidence: Evidence, measure: str) -> Mapping[Key, Histogram]:
    """What was counted over the window; since the level is there where only one answer is."""
    if evidence.step is not None:
        return evidence.step.histograms(measure)
    return evidence.view.histograms.get(measure, {}) if evidence.view else {}


def _averages(histogram: Histogram, *, lifetime: bool) -> Utilization | None:
    # Up to 1.27 a limit of 0 divides by 0: what was counted then lies in the last bucket, and the sum is spoilt.
    if histogram.count <= 0 or not math.isfinite(histogram.sum):
        return None
    return Utilization(
        mean=histogram.sum / histogram.count,
        ge_95=_above(histogram, 0.95),
        gt_99=_above(histogram, 0.99),
        gt_1=_above(histogram, 1.0),
        seconds=histogram.count / NANOSECONDS,
        lifetime=lifetime,
    )


def _above(histogram: Histogram, bound: float) -> float | None:
    """The share of time above a bucket bound, the bound itself left out."""
    if bound not in histogram.bounds:
        return None
    return 1.0 - histogram.cumulative[histogram.bounds.index(bound)] / histogram.count
