"""What is remembered of a server for its checks: the points of the latest window, as long as it is one process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from apftop.check.instants import births
from apftop.check.point import Point, Track
from apftop.check.take import near, point, with_dumps
from apftop.derive.pairing import pair, told_apart
from apftop.join import view
from apftop.records.parsed import Metrics
from apftop.records.state import Read, ReplicaState, State
from apftop.rules import rules

MOST_POINTS = 40

Tracks = Mapping[str, Track]
"""By replica."""


def followed(tracks: Tracks, state: State, replica: str | None = None) -> dict[str, Track]:
    """The tracks after one more sample of `replica`, or of any; what the state has no more is forgotten."""
    names = state.replicas.keys() if replica is None else [replica]
    found = {name: track for name, track in tracks.items() if name in state.replicas}
    for name in names:
        one = state.replicas.get(name)
        if one is not None and not one.federated:
            found[name] = follow(found.get(name, Track()), one)
    return found


def follow(track: Track, state: ReplicaState) -> Track:
    """The track after what a replica has said last: a new point for new metrics, or a dump that the last one lacks."""
    read = state.metrics[-1] if state.metrics else None
    if read is None:
        return track
    if track.read is not read:
        return _with_metrics(track, state, read)
    late = _late_dumps(track.points[-1], state)
    if late is track.points[-1]:
        return track
    return replace(track, points=(*track.points[:-1], late), born=births(track.born, late))


def _with_metrics(track: Track, state: ReplicaState, read: Read[Metrics]) -> Track:
    seen = view(read.data)
    new = point(track.points[-1].number + 1 if track.points else 1, state, seen)
    broken = ""
    if track.read is not None and track.seen is not None:
        pairing = pair(track.seen, seen, track.read.time, read.time, told_apart(track.read, read))
        if pairing.step is None:
            broken = pairing.note.removeprefix("no rates: ")
        elif pairing.step.anew:
            broken = "the server restarted, or its counters were reset"
        else:
            points = _needed((*track.points, new))
            return Track(points, births(track.born, new), track.broken, read, seen)
    return Track((new,), births({}, new), broken, read, seen)


def _needed(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """The last point, those of a window before it, and one that is older than the window."""
    end, least = points[-1].metrics.time, rules().check.window_s
    start = max(0, len(points) - MOST_POINTS)
    for number, one in enumerate(points[:-1]):
        if end is not None and one.metrics.time is not None and end - one.metrics.time >= least:
            start = max(start, number)
    return points[start:]


def _late_dumps(last: Point, state: ReplicaState) -> Point:
    """The last point with dumps that came after its metrics, where it has none from before them."""
    levels = None if last.dumped is not None or not state.levels else near(state.levels[-1], last.metrics)
    queues = None if last.queue_rows is not None else near(state.queues, last.metrics)
    requests = None if last.requests is not None else near(state.requests, last.metrics)
    if levels is None and queues is None and requests is None:
        return last
    return with_dumps(last, levels, queues, requests)
