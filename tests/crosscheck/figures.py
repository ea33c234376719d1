"""How sharp checks are, and how quiet: shares of windows that fire, by fault, over many runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from apftop.check.missing import Missing
from apftop.check.waiting import spent_waiting_s
from apftop.check.window import Instant, LevelWindow
from apftop.records.raw import Endpoint
from tests.check.build import steady_limit
from tests.crosscheck import faults
from tests.crosscheck.faults import Fault
from tests.crosscheck.followed import follow
from tests.crosscheck.runs import Run

WAITED_S = 0.05
"""An interval counts as one with waiting requests above this."""

WAITING_S = 5.0
"""Windows with more than so many request-seconds of waiting tell whether the wait sum is right."""

EXECUTING_S = 5.0
"""Windows with more than so many request-seconds of execution tell whether limit and service are."""

IN_USE = 0.5
"""A limit that is slightly wrong tells where more than this share of it is in use."""

QUICK_S = 1.9
"""A clock that is 2 s off tells where a dump was fetched within this time."""

FLOW_ROWS = 20
"""So many requests that wait or execute tell whether a hand is right."""


@dataclass(frozen=True)
class About:
    """What a healthy window of a level tells about itself.

    `in_use` is the share of the limit that was, on average, `trip_s` the quickest fetch of a dump of requests.
    """

    waiting_s: float
    executing_s: float
    in_use: float
    steady: bool
    rows: int
    trip_s: float


Where = tuple[str, str, float, str]
"""Run, replica, time of the last round, and level under load."""


@dataclass(frozen=True)
class Told:
    """A fault, the laws of which one must fire, and the windows in which it can be told."""

    fault: Fault
    laws: frozenset[str]
    telling: Callable[[About], bool]
    least: float


@dataclass(frozen=True)
class Share:
    """In how many of the windows a fault was flagged; `also` are laws besides those that must fire, by windows."""

    fault: str
    fired: int
    windows: int
    least: float
    also: Counter[str]

    @property
    def share(self) -> float:
        return self.fired / self.windows if self.windows else 1.0


@dataclass(frozen=True)
class Healthy:
    """What checks say where nothing is wrong: windows, those that are off, and verdicts by law."""

    windows: int
    off: tuple[str, ...]
    verdicts: Counter[tuple[str, str]]
    waiting_intervals: int


def _any(_: About) -> bool:
    return True


def _quick(about: About) -> bool:
    return about.trip_s < QUICK_S


def _loaded(about: About) -> bool:
    return about.steady and about.executing_s > EXECUTING_S


def _busy(about: About) -> bool:
    return _loaded(about) and about.in_use > IN_USE


def _waited(about: About) -> bool:
    return about.waiting_s > WAITING_S


def _dealt(about: About) -> bool:
    return about.rows >= FLOW_ROWS


CLOCK = frozenset({"clock"})
FOREIGN = frozenset({"same-server", "metrics-moment"})
TIME = frozenset({"executing-time"})
WAIT = frozenset({"waiting-time"})
HAND = frozenset({"hand"})

TOLD: dict[str, Told] = {
    "metrics of another replica": Told(faults.metrics_of_another, FOREIGN, _any, 1.0),
    "metrics one scrape old": Told(faults.late(Endpoint.METRICS), FOREIGN, _any, 1.0),
    "dumps one scrape old": Told(faults.late(Endpoint.LEVELS, Endpoint.REQUESTS), FOREIGN | CLOCK, _any, 1.0),
    "clock 2 s ahead": Told(faults.clock(2.0), CLOCK, _quick, 1.0),
    "clock 2 s behind": Told(faults.clock(-2.0), CLOCK, _quick, 1.0),
    "clock 0.5 s ahead": Told(faults.clock(0.5), CLOCK, _quick, 0.95),
    "hand 2 less": Told(faults.hand_told(-2), HAND, _dealt, 1.0),
    "hand 1 less": Told(faults.hand_told(-1), HAND, _dealt, 1.0),
    "hand 2 more": Told(faults.hand_told(2), HAND | {"whole-hand"}, _dealt, 0.75),
    "limit halved": Told(faults.limit_told(0.5), TIME | {"seats-within-limit"}, _loaded, 1.0),
    "limit doubled": Told(faults.limit_told(2.0), TIME, _loaded, 1.0),
    "limit 15% too high": Told(faults.limit_told(1.15), TIME, _busy, 0.85),
    "service x3": Told(faults.grown(faults.EXECUTION_SUM, 3.0), TIME, _loaded, 1.0),
    "service x1.3": Told(faults.grown(faults.EXECUTION_SUM, 1.3), TIME, _loaded, 0.95),
    "service /3": Told(faults.grown(faults.EXECUTION_SUM, 1 / 3), TIME, _loaded, 1.0),
    "wait sum x1.3": Told(faults.grown(faults.WAIT_SUM, 1.3), WAIT, _waited, 0.75),
    "wait sum x0.7": Told(faults.grown(faults.WAIT_SUM, 0.7), WAIT, _waited, 0.75),
    "queues x length x2": Told(faults.LENGTH_DOUBLED, WAIT, _waited, 0.85),
    "half of the dispatched lost": Told(faults.grown(faults.DISPATCHED, 0.5), frozenset({"arrivals"}), _busy, 0.95),
}
"""Faults by name."""


def healthy(runs: Iterable[Run]) -> tuple[Healthy, dict[Where, About]]:
    """The checks of runs in which nothing is wrong, and what their windows tell."""
    windows, intervals = 0, 0
    off: list[str] = []
    verdicts: Counter[tuple[str, str]] = Counter()
    about: dict[Where, About] = {}
    for run in runs:
        for step in follow(run):
            windows += step.whole
            off += [f"{run.name}, replica {step.replica}: {name} {law}" for name, law in sorted(step.off())]
            verdicts.update((check.law, check.verdict) for _, check in step.all())
            for level in run.levels:
                if (found := step.level(level)) is None:
                    continue
                intervals += _waited_lately(found)
                if step.whole and found.seconds:
                    about[run.name, step.replica, step.t, level] = _about(found)
    return Healthy(windows, tuple(off), verdicts, intervals), about


def shares(runs: Sequence[Run], about: dict[Where, About], names: Iterable[str] = TOLD) -> list[Share]:
    """For each fault the share of windows that flag it, of those that can tell."""
    return [_share(name, TOLD[name], runs, about) for name in names]


def _share(name: str, told: Told, runs: Sequence[Run], about: dict[Where, About]) -> Share:
    fired = windows = 0
    also: Counter[str] = Counter()
    for run in runs:
        for step in follow(told.fault(run)):
            levels = [one for one in run.levels if _tells(told, about.get((run.name, step.replica, step.t, one)))]
            if not levels:
                continue
            off = step.off()
            also.update({law for _, law in off} - told.laws)
            # What is wrong with all of a server is told once, on whatever level it shows.
            whole = told.telling in (_any, _quick)
            for level in levels[:1] if whole else levels:
                windows += 1
                fired += any(law in told.laws and (whole or of in ("", level)) for of, law in off)
    return Share(name, fired, windows, told.least, also)


def _tells(told: Told, about: About | None) -> bool:
    return about is not None and told.telling(about)


def _about(window: LevelWindow) -> About:
    try:
        waiting_s = spent_waiting_s(window) if window.config is not None and window.config.queuing else 0.0
    except Missing:
        waiting_s = 0.0
    execution = window.rise("execution")
    executing_s = execution.sum if execution is not None else 0.0
    limit = window.limits[0] or 0.0
    queued = window.config is not None and window.config.queuing is not None and window.config.queuing.queues > 1
    return About(
        waiting_s=waiting_s,
        executing_s=executing_s,
        in_use=executing_s / (limit * window.seconds) if limit else 0.0,
        steady=steady_limit(window) and limit > 0,
        rows=len({(row.arrive_ns, row.schema, row.distinguisher) for one in window.instants for row in one.rows or ()})
        if queued
        else 0,
        trip_s=min(map(_trip_s, window.instants)),
    )


def _trip_s(instant: Instant) -> float:
    fetched = instant.point.requests_fetched
    if fetched is None or fetched.sent is None or fetched.received is None:
        return math.inf
    return fetched.received - fetched.sent


def _waited_lately(window: LevelWindow) -> bool:
    """Whether something waited between the last two answers."""
    if len(window.instants) < 2:
        return False
    before, after = (one.level.waiting_time for one in window.instants[-2:])
    if before is None or after is None:
        return False
    idle = after.cumulative[0] - before.cumulative[0]
    return (after.count - before.count - idle) / 1e9 > WAITED_S
