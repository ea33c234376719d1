"""A point out of what has been read of a replica: the last metrics, level by level, and the dumps next to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from apftop.check.point import Fetched, LevelPoint, Point
from apftop.derive.clock import clock
from apftop.derive.deltas import add
from apftop.derive.own import own_users
from apftop.derive.readings import by_level, known, server_concurrency, zero_if_absent
from apftop.records.parsed import Dump, Histogram, LevelRow, QueueRow, RequestRow
from apftop.records.state import Read, ReplicaState
from apftop.records.view import View
from apftop.rules import rules

Row = TypeVar("Row", QueueRow, RequestRow)
D = TypeVar("D", LevelRow, QueueRow, RequestRow)

NOTHING = Histogram(0, 0.0, (), (0,))
"""A series that is not exposed before something is counted in it."""

MOST = 2.0**53

GAUGES = (
    "waiting",
    "waiting_seats",
    "executing",
    "seats_in_use",
    "nominal",
    "lower",
    "upper",
    "current",
    "demand_high",
    "demand_smoothed",
    "progress_r",
)


def point(number: int, state: ReplicaState, seen: View) -> Point:
    """The point of the last answer of metrics, which is there, as joined."""
    metrics = fetched(state.metrics[-1])
    levels = near(state.levels[-1] if state.levels else None, metrics)
    queues, requests = near(state.queues, metrics), near(state.requests, metrics)
    totals = {measure: by_level(seen, measure) for measure in GAUGES}
    configs = {config.name: config for config in state.configs.data} if state.configs else None
    found = Point(
        number=number,
        release=seen.release,
        metrics=metrics,
        measures=frozenset(seen.sources),
        levels=_levels(seen, totals),
        levels_fetched=None,
        dumped=None,
        queue_rows=None,
        requests_fetched=None,
        requests=None,
        own_users=frozenset(),
        lists_executing=False,
        clock=clock(None),
        clock_set=False,
        configs=configs,
        schemas={schema.name: schema for schema in state.schemas.data} if state.schemas else None,
        live=frozenset(),
        server_concurrency=_sound(server_concurrency(totals["upper"], totals["nominal"])),
        fair=_sound(next(iter(seen.values.get("fair_frac", {}).values()), None)),
        size_based=seen.features.get("SizeBasedListCostEstimate"),
    )
    return with_dumps(found, levels, queues, requests)


def with_dumps(
    taken: Point,
    levels: Read[Dump[LevelRow]] | None,
    queues: Read[Dump[QueueRow]] | None,
    requests: Read[Dump[RequestRow]] | None,
) -> Point:
    """The same with the dumps that are given; of those that are not, it keeps what it has."""
    if levels is not None:
        rows = {row.name: row for row in levels.data.rows}
        taken = replace(taken, levels_fetched=fetched(levels), dumped=rows)
    if queues is not None:
        taken = replace(taken, queue_rows=_grouped(queues.data.rows))
    if requests is not None:
        taken = replace(
            taken,
            requests_fetched=fetched(requests),
            requests=_grouped(requests.data.rows),
            own_users=own_users(requests.data.rows),
            # Up to 1.27 the dump lists waiting requests only.
            lists_executing="StartTime" in requests.data.columns,
            clock=clock(requests),
        )
    return replace(taken, live=_live(taken))


def fetched(read: Read[object]) -> Fetched:
    """When an answer was asked for and given; of a saved one, the time that was noted with it."""
    if read.measured is None:
        return Fetched(read.noted, read.noted, read.noted, read.peer)
    return Fetched(read.sent, read.begun, read.received, read.peer)


def near(read: Read[Dump[D]] | None, metrics: Fetched) -> Read[Dump[D]] | None:
    """A dump, if it was fetched next to these metrics, or when either was is not known.

    One of another server behind the same balancer is not next to them.
    """
    if read is None or (read.peer and metrics.peer and read.peer != metrics.peer):
        return None
    given, asked = fetched(read).time, metrics.time
    if given is None or asked is None or abs(asked - given) <= rules().check.together_s:
        return read
    return None


def _live(taken: Point) -> frozenset[str]:
    """The levels that the server runs: by its dump, else by the objects; all in the metrics where neither is known."""
    if taken.dumped is not None:
        return frozenset(taken.dumped)
    if taken.configs is not None:
        return frozenset(taken.configs)
    return frozenset(taken.levels)


def _grouped(rows: Iterable[Row]) -> dict[str, tuple[Row, ...]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.level].append(row)
    return {level: tuple(group) for level, group in groups.items()}


def _sound(number: float | None) -> float | None:
    """None also for what no server can count: NaN, infinite, or beyond what a float holds exactly."""
    return number if number is not None and abs(number) <= MOST else None


def _levels(seen: View, totals: Mapping[str, Mapping[str, float]]) -> dict[str, LevelPoint]:
    """Each level that any of the measures names, and no series is about that is torn or counts what nobody can."""
    histograms = {name: _by_level(seen, name) for name in ("width", "watchers", "queue_length", "execution")}
    served = _by_level(seen, "wait", "true")
    refused = _by_level(seen, "wait", "false")
    regular = _by_level(seen, "execution", "regular")
    waiting_time, executing_time = (_by_level(seen, "request_utilization", one) for one in ("waiting", "executing"))
    seat_time, demand_time = _by_level(seen, "seat_utilization"), _by_level(seen, "demand")
    dispatched, no_accommodation = by_level(seen, "dispatched"), by_level(seen, "no_accommodation")
    rejected: dict[str, dict[str, float]] = defaultdict(dict)
    for key, value in seen.values.get("rejected", {}).items():
        reasons = rejected[key.level]
        reasons[key.by] = reasons.get(key.by, 0.0) + value
    torn = {key.level for keys in seen.torn.values() for key in keys}
    counts = [*dispatched.items(), *no_accommodation.items()]
    counts += [(name, sum(reasons.values())) for name, reasons in rejected.items()]
    torn |= {name for name, count in counts if _sound(count) is None}
    names = {*totals["nominal"], *totals["current"], *dispatched, *waiting_time, *seat_time} - torn

    def gauge(measure: str, name: str) -> float | None:
        return _sound(known(seen, measure, totals[measure], name)) if measure in seen.sources else None

    def counted(measure: str, found: Mapping[str, Histogram | None], name: str) -> Histogram | None:
        """An absent series is one that nothing was counted in, if the answer has such series at all.

        Elsewhere a family that is absent is taken for one without events; here it may have been cut out.
        """
        if name in found:
            return found[name]
        return NOTHING if measure in seen.sources and zero_if_absent(seen, measure, name) else None

    return {
        name: LevelPoint(
            dispatched=dispatched.get(name, 0.0),
            rejected=rejected.get(name, {}),
            no_accommodation=no_accommodation.get(name, 0.0),
            widths=counted("width", histograms["width"], name),
            watchers=counted("watchers", histograms["watchers"], name),
            waits=counted("wait", served, name),
            refused_waits=one.count if (one := refused.get(name)) else 0,
            enqueued=one.count if (one := counted("queue_length", histograms["queue_length"], name)) else None,
            execution=counted("execution", histograms["execution"], name),
            regular=counted("execution", regular, name),
            waiting_time=waiting_time.get(name),
            executing_time=executing_time.get(name),
            seat_time=seat_time.get(name),
            demand_time=demand_time.get(name),
            waiting=gauge("waiting", name),
            waiting_seats=gauge("waiting_seats", name),
            executing=gauge("executing", name),
            seats=gauge("seats_in_use", name),
            nominal=gauge("nominal", name),
            lower=gauge("lower", name),
            upper=gauge("upper", name),
            current=gauge("current", name),
            demand_high=gauge("demand_high", name),
            demand_smoothed=gauge("demand_smoothed", name),
            progress_r=gauge("progress_r", name),
        )
        for name in names
    }


def _by_level(seen: View, measure: str, by: str = "") -> dict[str, Histogram | None]:
    """A histogram by level, summed over its schemas; None where their buckets differ."""
    parts: dict[str, list[Histogram]] = defaultdict(list)
    for key, histogram in seen.histograms.get(measure, {}).items():
        if not by or key.by == by:
            parts[key.level].append(histogram)
    return {level: add(some) for level, some in parts.items()}
