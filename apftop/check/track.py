"""What is remembered of a server for its checks: the points of the latest window, as long as it is one process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from apftop.apf.objects import FlowSchema
from apftop.check.clock_steps import was_set
from apftop.check.instants import births
from apftop.check.point import Point, Track
from apftop.check.take import near, point, with_dumps
from apftop.check.window import first_needed
from apftop.derive.pairing import pair, told_apart
from apftop.join import view
from apftop.records.parsed import Metrics
from apftop.records.state import Read, ReplicaState, State
from apftop.records.view import View
from apftop.rules import rules

MOST_POINTS = 40
CLOCK_SET = "the server's clock was set"

Objects = Mapping[str, FlowSchema] | None

Tracks = Mapping[str, Track]
"""By replica."""


def followed(tracks: Tracks, state: State) -> dict[str, Track]:
    """The tracks after one more sample; what the state has no more is forgotten."""
    return {name: follow(tracks.get(name, Track()), one) for name, one in state.replicas.items() if not one.federated}


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
            return _continued(track, new, read, seen)
    return Track((new,), births({}, new), broken, None, read, seen)


def _continued(track: Track, new: Point, read: Read[Metrics], seen: View) -> Track:
    """The track with one more point of the same process; a clock that was set ends it like another process."""
    new = replace(new, schemas=_same(track.points[-1].schemas, new.schemas))
    dumped = [one for one in track.points if one.requests is not None]
    if dumped and was_set(dumped[-1], new):
        return Track((replace(new, clock_set=True),), births({}, new), CLOCK_SET, new.metrics.time, read, seen)
    new = replace(new, clock_set=lately(track.set_at, new.metrics.time))
    return Track(_needed((*track.points, new)), births(track.born, new), track.broken, track.set_at, read, seen)


def _same(before: Objects, after: Objects) -> Objects:
    """The former of two that are alike, so that those who compare them see it at once."""
    return before if before == after else after


def lately(set_at: float | None, now: float | None) -> bool:
    """Whether requests from before a clock was set may still be there."""
    return set_at is not None and now is not None and abs(now - set_at) < rules().check.clock.set_for_s


def _needed(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Those of the latest window, if that has not too many."""
    start = max(first_needed(points), len(points) - MOST_POINTS)
    return points[start:]


def _late_dumps(last: Point, state: ReplicaState) -> Point:
    """The last point with dumps that came after its metrics, where it has none from before them."""
    levels = None if last.dumped is not None or not state.levels else near(state.levels[-1], last.metrics)
    queues = None if last.queue_rows is not None else near(state.queues, last.metrics)
    requests = None if last.requests is not None else near(state.requests, last.metrics)
    if levels is None and queues is None and requests is None:
        return last
    return with_dumps(last, levels, queues, requests)
