"""One level of a server for tests of checks: at rest, after some time with a load, with rows of a dump beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from apftop.apf.objects import EXEMPT, Meta, PriorityLevelConfiguration, Queuing
from apftop.apf.release import parse_release
from apftop.check.instants import EXACT, age_s
from apftop.check.point import Fetched, LevelPoint, Point
from apftop.check.window import LevelWindow, level_window
from apftop.derive.own import own_users
from apftop.records.checks import Check
from apftop.records.frame import Clock
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import Histogram, LevelRow, QueueRow, RequestRow

START_NS = 1_700_000_000_000_000_000
"""When every series of a test begins; the times of rows are seconds after it."""

START = START_NS / NANOSECONDS
LEVEL = "load"
LIMIT = 10
SERVER_SEATS = 90
SECONDS_BOUNDS = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0)
WIDTH_BOUNDS = (1.0, 2.0, 4.0, 10.0)
WIDTH_BOUNDS_SINCE_1_34 = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0)
WATCHERS_BOUNDS = (0.0, 1.0, 10.0, 100.0, 1000.0, 10000.0)
SEAT_BOUNDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
REQUEST_BOUNDS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1.0)
MEASURES = frozenset({"dispatched", "rejected", "wait"})
DEMAND_BOUNDS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0, 2.8, 4.0, 6.0)


def empty(bounds: tuple[float, ...]) -> Histogram:
    return Histogram(0, 0.0, bounds, (0,) * (len(bounds) + 1))


def counted(histogram: Histogram, samples: Iterable[float]) -> Histogram:
    """The histogram with more samples."""
    return _weighed(histogram, [(sample, 1) for sample in samples])


def spent(histogram: Histogram, seconds: float, ratio: float) -> Histogram:
    """A histogram over time after so many seconds at one ratio."""
    return _weighed(histogram, [(ratio, round(seconds * NANOSECONDS))])


def _weighed(histogram: Histogram, samples: list[tuple[float, int]]) -> Histogram:
    bounds = (*histogram.bounds, float("inf"))
    return Histogram(
        count=histogram.count + sum(times for _, times in samples),
        sum=histogram.sum + sum(value * times for value, times in samples),
        bounds=histogram.bounds,
        cumulative=tuple(
            before + sum(times for value, times in samples if value <= bound)
            for bound, before in zip(bounds, histogram.cumulative, strict=True)
        ),
    )


def a_level(**changed: Any) -> LevelPoint:
    """A level of ten seats whose series have just begun."""
    level = LevelPoint(
        dispatched=0.0,
        rejected={},
        no_accommodation=0.0,
        widths=empty(WIDTH_BOUNDS),
        watchers=empty(WATCHERS_BOUNDS),
        waits=empty(SECONDS_BOUNDS),
        refused_waits=0,
        enqueued=0,
        execution=empty(SECONDS_BOUNDS),
        regular=empty(SECONDS_BOUNDS),
        waiting_time=empty(REQUEST_BOUNDS),
        executing_time=empty(REQUEST_BOUNDS),
        seat_time=empty(SEAT_BOUNDS),
        demand_time=empty(DEMAND_BOUNDS),
        waiting=0.0,
        waiting_seats=0.0,
        executing=0.0,
        seats=0.0,
        nominal=float(LIMIT),
        lower=float(LIMIT),
        upper=float(LIMIT),
        current=float(LIMIT),
        demand_high=0.0,
        demand_smoothed=0.0,
        progress_r=0.0,
    )
    return replace(level, **changed)


def later(
    level: LevelPoint,
    seconds: float,
    *,
    waiting: float = 0,
    executing: float = 0,
    seats: float | None = None,
    waiting_seats: float | None = None,
    demand: float | None = None,
    divisor: float | None = None,
    slots: int = 192,
    waits: Iterable[float] = (),
    execution: Iterable[float] = (),
    widths: Iterable[float] = (),
    watchers: Iterable[float] = (),
    rejected: Mapping[str, float] | None = None,
    **more: float,
) -> LevelPoint:
    """The level after so many seconds with so much in it all the time, which is what its gauges say in the end.

    Without other words each request has one seat; `demand` is that of seats taken and waited for. `divisor` is that of
    seats, the current limit by default, `slots` that of waiting requests. `more` is added to counters.
    """
    seats = executing if seats is None else seats
    waiting_seats = waiting if waiting_seats is None else waiting_seats
    demand = seats + waiting_seats if demand is None else demand
    divisor = divisor or level.current or 1.0
    reasons = {**level.rejected}
    for reason, number in (rejected or {}).items():
        reasons[reason] = reasons.get(reason, 0.0) + number
    return replace(
        level,
        waiting=float(waiting),
        executing=float(executing),
        seats=float(seats),
        waiting_seats=float(waiting_seats),
        waiting_time=level.waiting_time and spent(level.waiting_time, seconds, waiting / slots),
        executing_time=level.executing_time and spent(level.executing_time, seconds, executing / divisor),
        seat_time=level.seat_time and spent(level.seat_time, seconds, seats / divisor),
        demand_time=level.demand_time and spent(level.demand_time, seconds, demand / divisor),
        waits=level.waits and counted(level.waits, waits),
        execution=level.execution and counted(level.execution, execution),
        widths=level.widths and counted(level.widths, widths),
        watchers=level.watchers and counted(level.watchers, watchers),
        rejected=reasons,
        **{name: getattr(level, name) + number for name, number in more.items()},
    )


def a_config(
    name: str = LEVEL,
    *,
    queues: int | None = 16,
    hand: int = 4,
    length: int = 12,
    shares: int = 25,
    exempt: bool = False,
    **changed: Any,
) -> PriorityLevelConfiguration:
    """A level's object; `queues` None is one that rejects."""
    queuing = None if queues is None or exempt else Queuing(queues, hand, length)
    return PriorityLevelConfiguration(Meta(name), exempt, shares, queuing=queuing, **changed)


def a_row(
    arrived: float,
    started: float | None = None,
    *,
    queue: int = 0,
    index: int = 0,
    initial: int = 1,
    final: int = 0,
    linger_s: float = 0.0,
    flow: str = "elephant",
    schema: str = LEVEL,
    level: str = LEVEL,
) -> RequestRow:
    """One row of a dump of requests; times in seconds after `START`. It waits unless it has started."""
    return RequestRow(
        level=level,
        schema=schema,
        queue=queue,
        index=index if started is None else -1,
        distinguisher=flow,
        arrive_ns=START_NS + round(arrived * NANOSECONDS),
        initial_seats=initial,
        final_seats=final,
        additional_latency_ns=round(linger_s * NANOSECONDS),
        additional_latency=f"{linger_s * 1000:g}ms" if linger_s else "0s",
        start_ns=None if started is None else START_NS + round(started * NANOSECONDS),
        details=None,
    )


def a_point(
    level: LevelPoint,
    rows: Iterable[RequestRow] | None = (),
    *,
    name: str = LEVEL,
    lag_s: float = 0.02,
    config: PriorityLevelConfiguration | None = None,
    release: str = "1.30.4",
    lists_executing: bool = True,
    dumped: LevelRow | None = None,
    queue_rows: Iterable[QueueRow] | None = None,
    **changed: Any,
) -> Point:
    """The moment of a level's metrics, `lag_s` after the dump with these rows of it; `rows` None is no dump at all."""
    number = age_s(level) or 0.0
    rows = None if rows is None else tuple(rows)
    metrics, dump = START + number, START + number - lag_s
    found = Point(
        number=round(number * 1000),
        release=parse_release(release),
        metrics=Fetched(metrics, metrics, metrics),
        measures=MEASURES,
        levels={name: level},
        levels_fetched=None if dumped is None else Fetched(dump, dump, dump),
        dumped=None if dumped is None else {name: dumped},
        queue_rows=None if queue_rows is None else {name: tuple(queue_rows)},
        requests_fetched=None if rows is None else Fetched(dump, dump, dump),
        requests=None if rows is None else {name: rows},
        own_users=own_users(rows or ()),
        lists_executing=rows is not None and lists_executing,
        clock=Clock(None, "no dump of requests", None, None) if rows is None else Clock(dump, EXACT[1], 0.0, 0.0),
        clock_set=False,
        configs={name: config or a_config(name, exempt=name == EXEMPT)},
        schemas={},
        live=frozenset({name}),
        server_concurrency=float(SERVER_SEATS),
        fair=1.0,
        size_based=None,
    )
    return replace(found, **changed)


def a_window(*points: Point, name: str = LEVEL) -> LevelWindow:
    """A level over these points, all of one process."""
    found = level_window(name, points, {name: START})
    assert found is not None
    return found


def steady_limit(window: LevelWindow) -> bool:
    """Whether the current limit was seen alike at all instants."""
    return None not in window.limits and len(set(window.limits)) == 1


def at_end(window: LevelWindow, **changed: Any) -> LevelWindow:
    """The window with other numbers of the level at its end."""
    level = replace(window.last.level, **changed)
    return a_window(
        *(one.point for one in window.instants[:-1]),
        replace(window.last.point, levels={window.name: level}),
        name=window.name,
    )


def held(law: Callable[[LevelWindow], Check | None], window: LevelWindow) -> Check:
    """What a law that applies to the level says of a window."""
    check = law(window)
    assert check is not None
    return check
