"""One priority level on one replica: limits, seats, waiting, rates, waits, and who is in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from apftop.apf.allocation import reachable_maximum, seat_cap
from apftop.derive.counts import Tally, counts, execution_of, level_of, tally, waits_of
from apftop.derive.demand import Totals, demand, demand_gauges
from apftop.derive.dispatch import next_to_dispatch
from apftop.derive.dump_rates import recent
from apftop.derive.evidence import Evidence
from apftop.derive.inside import inside, load
from apftop.derive.load import Means, load_of, means, usual_loads
from apftop.derive.membership import Membership
from apftop.derive.own import less_own
from apftop.derive.queues import queues
from apftop.derive.readings import by_level, known
from apftop.derive.states import level_state
from apftop.derive.utilization import fills, utilizations
from apftop.records.frame import Level, Request
from apftop.records.load import Load
from apftop.records.measures import Fill, Utilization
from apftop.records.state import Read
from apftop.rules import rules

GAUGES = (
    "nominal",
    "lower",
    "upper",
    "current",
    "executing",
    "seats_in_use",
    "waiting",
    "waiting_seats",
)


# Gauges in which the request for the metrics counts itself.
SCRAPE_COUNTS = ("executing", "seats_in_use")


@dataclass(frozen=True, slots=True)
class Gauges:
    """The level gauges of one replica, and what they say of the whole."""

    totals: Mapping[str, Mapping[str, float]]
    reachable: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Whole:
    """What is worked out once for all levels of one replica."""

    read: Gauges
    rises: Tally | None
    full: Mapping[str, Utilization]
    fills: Mapping[str, Fill]
    demand: Totals
    means: Means | None
    usual: Mapping[str, Load]


def gauges(evidence: Evidence, live: tuple[str, ...]) -> Gauges:
    """Sum the gauges by level once; the reachable maximum takes live levels only."""
    view = evidence.view
    totals = {measure: by_level(view, measure) if view else {} for measure in GAUGES}
    upper, lower, nominal = (_finite(totals[measure], live) for measure in ("upper", "lower", "nominal"))
    return Gauges(totals, reachable_maximum(upper, lower, sum(nominal.values())) if lower else {})


def levels(evidence: Evidence, members: Membership, read: Gauges) -> dict[str, Level]:
    """All live levels, and the stale ones marked as such, by name."""
    whole = Whole(
        read=read,
        rises=tally(evidence, level_of),
        full=utilizations(evidence),
        fills=fills(evidence),
        demand=demand_gauges(evidence.view),
        means=means(evidence.step),
        usual=usual_loads(evidence.step),
    )
    found = {name: _level(name, evidence, whole) for name in (*members.live, *members.stale)}
    return {
        name: level_state(
            replace(level, quiescing=True) if name in members.draining else level, stale=name in members.stale
        )
        for name, level in sorted(found.items())
    }


def _level(name: str, evidence: Evidence, whole: Whole) -> Level:
    read, rises = whole.read, whole.rises
    config = evidence.configs.get(name) if evidence.configs else None
    row = evidence.rows.get(name) if evidence.rows else None
    rows = load(evidence, name)
    listed = evidence.requests is not None
    values = {measure: _reading(evidence, read, measure, name) for measure in GAUGES}
    waiting, waiting_from = _first(
        (row.waiting if row else None, "dump_priority_levels"),
        (values["waiting"], "metrics"),
        (sum(not request.executing for request in rows) if listed else None, "dump_requests"),
    )
    executing, executing_from = _first(
        (less_own(row.executing if row else None, evidence.own.dump, level=name), "dump_priority_levels"),
        (values["executing"], "metrics"),
        (sum(request.executing for request in rows) if evidence.lists_executing else None, "dump_requests"),
    )
    seats, seats_from = _seats(name, values["seats_in_use"], evidence, rows)
    features = evidence.view.features if evidence.view else {}
    window, number = (evidence.step.window, counts(rises, name)) if evidence.step and rises else (None, None)
    asked = load_of(whole.means, name, evidence.step, number)
    dumped = recent(evidence, name, config)
    if number is None and dumped is not None:
        window, number = dumped.window, dumped.counts
    head = next_to_dispatch(
        name, (evidence.queues or {}).get(name, ()), (evidence.request_rows or {}).get(name, ()), values["current"]
    )
    return Level(
        name=name,
        config=config,
        state="unknown",
        quiescing=row.is_quiescing if row else None,
        nominal=values["nominal"],
        lower=values["lower"],
        upper=values["upper"],
        reachable_max=read.reachable.get(name),
        current=values["current"],
        executing=executing,
        executing_from=executing_from,
        seats_in_use=seats,
        seats_from=seats_from,
        waiting=waiting,
        waiting_from=waiting_from,
        waiting_seats=values["waiting_seats"],
        active_queues=row.active_queues if row else None,
        max_seats_per_request=seat_cap(
            config, values["nominal"], evidence.release, features.get("SizeBasedListCostEstimate")
        ),
        utilization=whole.full.get(name),
        window=window,
        counts=number,
        waits=waits_of(rises, name, evidence) if rises else None,
        execution=execution_of(rises, name) if rises else None,
        inside=inside(evidence, name),
        next_to_dispatch=head,
        recent=dumped,
        queues=queues(evidence, name, rows, head),
        load=asked,
        usual=whole.usual.get(name),
        demand=demand(evidence.view, whole.demand, name),
        fill=whole.fills.get(name),
    )


def _reading(evidence: Evidence, read: Gauges, measure: str, name: str) -> float | None:
    if evidence.view is None:
        return None
    value = known(evidence.view, measure, read.totals[measure], name)
    return less_own(value, evidence.own.scrape, level=name) if measure in SCRAPE_COUNTS else value


def _seats(
    name: str, measured: float | None, evidence: Evidence, rows: tuple[Request, ...]
) -> tuple[float | None, str]:
    """Seats in use by the freshest of the gauge, the queues and the rows that execute, in this order where equal.

    Rows leave out lingering seats, so that they count only where nothing as fresh is known.
    """
    state = evidence.state
    found: list[tuple[float | None, float | None, str]] = []
    if measured is not None:
        found.append((_time(state.metrics[-1]), measured, "metrics"))
    if evidence.queues and name in evidence.queues:
        seats = sum(row.seats_in_use for row in evidence.queues[name])
        others = less_own(float(seats), evidence.own.queues, level=name)
        found.append((_time(state.queues), others, "dump_queues"))
    if evidence.lists_executing:
        seats = sum(row.width for row in rows if row.executing)
        found.append((_time(state.requests), float(seats), "dump_requests, without lingering seats"))
    best = next(iter(found), None)
    for one in found[1:]:
        if best and best[0] is not None and one[0] is not None and one[0] > best[0] + rules().window.fresher_s:
            best = one
    return (best[1], best[2]) if best else (None, "")


def _time(read: Read[Any] | None) -> float | None:
    return read.time if read else None


def _first(*choices: tuple[float | None, str]) -> tuple[float | None, str]:
    return next((choice for choice in choices if choice[0] is not None), (None, ""))


def _finite(values: Mapping[str, float], names: tuple[str, ...]) -> dict[str, float]:
    return {name: values[name] for name in names if name in values and not math.isnan(values[name])}
