"""All checks of one server at one moment, out of what is remembered of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from apftop.check.band import EMPTY, Results, band_check, prediction, starts
from apftop.check.clocks import clock
from apftop.check.counting import arrivals, enqueued, executed, refusals, served_waits
from apftop.check.current_limits import current_limits, fair_fraction
from apftop.check.fairness import light_flows, overtaking
from apftop.check.hands import hand, whole_hand
from apftop.check.judge import unknown
from apftop.check.lawbook import lawbook
from apftop.check.limit import over_limit, work_conservation
from apftop.check.nominal import nominal
from apftop.check.order import order
from apftop.check.point import Point, Track
from apftop.check.rows import seat_cap, seats_within_limit, wait_limit
from apftop.check.same import metrics_moment, same_server
from apftop.check.sampled import flow_waits, following
from apftop.check.seats import demand_time, executing_time, seat_time
from apftop.check.track import Tracks
from apftop.check.waiting import little_s, waiting_time
from apftop.check.window import LevelWindow, level_window, window
from apftop.derive.freshness import answers
from apftop.records.checks import WORST_FIRST, Check, Checks, LevelChecks, ReplicaChecks
from apftop.records.raw import Endpoint
from apftop.records.state import State

Law = Callable[[LevelWindow], Check | None]
"""None where the law does not apply to the level at all."""

OVER_TIME: dict[str, Law] = {
    "arrivals": arrivals,
    "served-waits": served_waits,
    "refusals": refusals,
    "enqueued": enqueued,
    "executed": executed,
    "waiting-time": waiting_time,
    "executing-time": executing_time,
    "seat-time": seat_time,
    "demand-time": demand_time,
    "over-limit": over_limit,
    "work-conservation": work_conservation,
}
"""Laws over a window: they need two answers of metrics."""

AT_MOMENTS: tuple[Law, ...] = (
    same_server,
    hand,
    whole_hand,
    order,
    seats_within_limit,
    seat_cap,
    wait_limit,
    overtaking,
    light_flows,
)
"""Laws about moments: held at each dump of the window, of which one is enough."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Checks with what they were made of: tracks, and by replica what was simulated."""

    tracks: Tracks
    results: Mapping[str, Results]
    checks: Checks


NONE_YET = Checked({}, {}, {})


def checks_now(tracks: Tracks, state: State, results: Mapping[str, Results], before: Checked = NONE_YET) -> Checked:
    """The checks of all servers whose metrics answer; those of whom nothing new is known are as `before`."""
    known = {
        name: track
        for name, track in tracks.items()
        if track.points and answers(state.replicas[name], Endpoint.METRICS)
    }
    return Checked(
        known,
        results,
        {
            name: before.checks[name]
            if before.tracks.get(name) is track and before.results.get(name) is results.get(name)
            else checked(track, results.get(name, EMPTY))
            for name, track in known.items()
        },
    )


def checked(track: Track, results: Results = EMPTY) -> ReplicaChecks:
    """All that can be said now of one server; nothing without metrics. Levels that it no longer runs are left out.

    `results` are of what was simulated of this server.
    """
    points = window(track)
    if not points:
        return ReplicaChecks()
    limits = [nominal(points), current_limits(points)]
    levels = {}
    for name in sorted(points[-1].levels.keys() & points[-1].live):
        found = level_window(name, points, track.born)
        if found is not None:
            levels[name] = _level(found, track, [check for some in limits for check in some.get(name, ())], results)
    return ReplicaChecks(_sorted(_server(track, points)), levels)


def _server(track: Track, points: tuple[Point, ...]) -> Iterator[Check]:
    for check in (clock(points), metrics_moment(track), fair_fraction(points)):
        if check is not None:
            yield check


def _level(level: LevelWindow, track: Track, limits: list[Check], results: Results) -> LevelChecks:
    found = limits
    for code, law in OVER_TIME.items():
        if level.seconds <= 0:
            found.append(unknown(code, track.broken or "a second answer of metrics"))
        elif (check := law(level)) is not None:
            found.append(check)
    found += [check for law in AT_MOMENTS if (check := law(level)) is not None]
    if (band := band_check(level, results)) is not None:
        found.append(band)
    return LevelChecks(
        checks=_sorted(found),
        observed_wait_s=_observed_wait_s(level),
        little_s=little_s(level) if level.seconds > 0 else None,
        prediction=prediction(level, results),
        starts=starts(level, results),
        flows=flow_waits(level),
        followed=following(level),
    )


def _observed_wait_s(level: LevelWindow) -> float | None:
    """The mean of the wait histogram over the window, time-outs among them; None where nothing was counted."""
    waits = level.rise("waits") if level.seconds > 0 else None
    return waits.sum / waits.count if waits is not None and waits.count else None


def _sorted(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Those that are off first; within that in the order of the law book."""
    codes = list(lawbook())
    return tuple(sorted(checks, key=lambda check: (WORST_FIRST.index(check.verdict), codes.index(check.law))))
