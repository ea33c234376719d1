"""Lines of evidence by server: the worst first, a few of them, and how many more there are."""

from __future__ import annotations

from collections.abc import Sequence

from apftop.findings.scene import Place
from apftop.present import plain, rate, span, whole
from apftop.records.frame import Level

MOST = 5
"""So many servers are told of one by one."""


def few(lines: Sequence[str], what: str = "servers") -> tuple[str, ...]:
    """The first lines, and how many more there are of `what`."""
    if len(lines) <= MOST:
        return tuple(lines)
    return (*lines[:MOST], f"and {len(lines) - MOST} more {what}")


def on(places: Sequence[Place]) -> str:
    """Where something is, for a title: `on kas-a`, or `on 3 servers`."""
    names = dict.fromkeys(place.replica.name for place in places)
    return f"on {plain(next(iter(names)))}" if len(names) == 1 else f"on {len(names)} servers"


def replicas(places: Sequence[Place]) -> tuple[str, ...]:
    """The servers by name, in the order of their places."""
    return tuple(dict.fromkeys(place.replica.name for place in places))


def doing(place: Place) -> str:
    """What a level does now and did over its window, as far as that is known; empty where nothing is."""
    level, pace = place.level, place.level.pace
    told = []
    if level.seats_in_use is not None and level.current is not None:
        told.append(f"{whole(level.seats_in_use)} of {whole(level.current)} seats in use")
    if level.waiting is not None:
        told.append(f"{whole(level.waiting)} wait")
    if pace is not None:
        told.append(f"{rate(pace.dispatched_per_s)}/s dispatched")
        reasons = [f"{plain(one)} {rate(pace.window.per_s(n))}/s" for one, n in pace.counts.rejected.items() if n]
        why = f" ({', '.join(reasons)})" if reasons else ""
        told.append(f"{rate(pace.rejected_per_s)}/s refused{why} over {span(pace.window.seconds)}")
    return ", ".join(told)


def hurt(place: Place) -> float:
    """Requests that wait and that were refused a second: how much a level hurts its clients."""
    pace = place.level.pace
    return (place.level.waiting or 0.0) + (pace.rejected_per_s if pace is not None else 0.0)


def in_need(level: Level, least: float) -> bool:
    """Whether so many requests of a level wait, or were refused over its window, at least."""
    refused = 0.0 if level.pace is None else level.pace.counts.rejected_total
    return refused + (level.waiting or 0.0) >= least


def restart(names: Sequence[str]) -> str:
    """To restart API servers, as the first words of an advice."""
    if len(names) == 1:
        return f"restart the API server on {plain(names[0])}"
    return f"restart the API servers on {', '.join(few([plain(one) for one in names]))}, one at a time"


def window(place: Place) -> str:
    """How long the window of a level is, in words."""
    return span(place.level.window.seconds) if place.level.window is not None else "the window"
