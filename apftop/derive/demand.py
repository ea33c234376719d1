"""What each level asked for by the last adjustment of its server, as its gauges tell."""

from __future__ import annotations

from collections.abc import Mapping

from apftop.apf.borrowing import EXEMPT_SERVED_FIRST_SINCE
from apftop.apf.objects import EXEMPT
from apftop.apf.release import holds
from apftop.derive.readings import by_level, known
from apftop.records.measures import Demand
from apftop.records.view import View

MEASURES = ("demand_high", "demand_average", "demand_stdev", "demand_smoothed", "target")
Totals = Mapping[str, Mapping[str, float]]


def demand_gauges(view: View | None) -> Totals:
    """The gauges of demand by measure and level, in seats."""
    return {measure: by_level(view, measure) for measure in MEASURES} if view is not None else {}


def demand(view: View | None, gauges: Totals, name: str) -> Demand | None:
    """The demand of one level; None where its server tells nothing of it, as of the exempt one up to 1.27."""
    if view is None or not any(name in gauges[measure] for measure in MEASURES):
        return None
    high, average, stdev, smoothed, target = (known(view, measure, gauges[measure], name) for measure in MEASURES)
    return Demand(high, average, stdev, smoothed, target if _tells_target(view, name) else None)


def _tells_target(view: View, name: str) -> bool:
    """Since 1.31 `target_seats` of the exempt level is the target of some other level."""
    if name != EXEMPT:
        return True
    return view.release is not None and not holds(view.release, EXEMPT_SERVED_FIRST_SINCE)
