"""Recordings as what is remembered of their servers, with the objects that were in force."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from apftop.apf.builtins import builtin_levels
from apftop.apf.objects import Meta, PriorityLevelConfiguration, Queuing
from apftop.check.point import Point, Track
from apftop.check.track import followed
from apftop.check.window import window
from apftop.live import observe
from apftop.records.raw import Endpoint
from apftop.records.state import Read, ReplicaState, State
from apftop.rules import rules
from tests.recording import Recording

LONGEST_S = 3.0
"""The four fetches of a scrape took no longer."""

LOAD = PriorityLevelConfiguration(Meta("load", creation="2020-01-01T00:00:00Z"), False, 25, 50, 50, Queuing(16, 4, 12))


def tracks(recording: Recording, *, hand: int = 4, late: bool = False) -> Iterator[Track]:
    """After each scrape the track of its replica.

    `hand` is the hand size told for the level under test. With `late` each scrape has the metrics of the one before it.
    """
    state, found = State(), dict[str, Track]()
    metrics: dict[str, bytes] = {}
    ends = [scrape.t for scrape in recording.scrapes[1:]]
    for scrape, end in zip(recording.scrapes, [*ends, recording.scrapes[-1].t + LONGEST_S], strict=True):
        before, metrics[scrape.replica] = metrics.get(scrape.replica), scrape.bodies[Endpoint.METRICS]
        if late and before is None:
            continue
        if late and before is not None:
            scrape = replace(scrape, bodies={**scrape.bodies, Endpoint.METRICS: before})
        for sample in scrape.samples():
            received = min(end, scrape.t + LONGEST_S)
            state = observe(state, replace(sample, begun=received, received=received))
        if recording.level == LOAD.name:
            state = _with_objects(state, scrape.replica, hand)
        found = followed(found, state)
        yield found[scrape.replica]


def windows(recording: Recording, *, hand: int = 4, late: bool = False) -> Iterator[tuple[Track, tuple[Point, ...]]]:
    """Those that are as long as a window should be."""
    for track in tracks(recording, hand=hand, late=late):
        points = window(track)
        first, last = points[0].metrics.time, points[-1].metrics.time
        if first is not None and last is not None and last - first >= rules().check.window_s:
            yield track, points


def _with_objects(state: State, name: str, hand: int) -> State:
    load = replace(LOAD, queuing=Queuing(16, hand, 12))
    read = Read((*builtin_levels().values(), load), None, None, None, None, None, "", 200)
    replica: ReplicaState = replace(state.replicas[name], configs=read)
    return State({**state.replicas, name: replica})
