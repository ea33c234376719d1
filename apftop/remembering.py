"""What earlier looks have left for later ones: written down for a tape, and brought back from there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from apftop.baselines import calm
from apftop.causes import Causes, Lasting
from apftop.check.point import Track
from apftop.check.track import Tracks, lately
from apftop.records.frame import Frame, Level, LevelState, Replica
from apftop.records.memory import Calm, Drawn, Lasted, Memory, Past, PastFrame, Tracked
from apftop.records.moment import Trend
from apftop.records.raw import Endpoint
from apftop.trends import Trends

Counted = frozenset[tuple[str, Endpoint]]


@dataclass(frozen=True, slots=True)
class History:
    """What all looks up to now have left: trends, and what was found since when."""

    trends: Trends = field(default_factory=dict)
    causes: Causes = field(default_factory=Causes)


def memory(history: History, tracks: Tracks, counted: Counted, told: Frame | None) -> Memory:
    """It as a memory; `told` is the last frame gone by that an earlier memory has."""
    past = history.causes.past
    start = next((number + 1 for number, one in enumerate(past) if one is told), 0)
    return Memory(
        tuple(Drawn(*key, one.waiting, one.seats, one.at) for key, one in history.trends.items()),
        tuple(Lasted(*key, one.since, one.last) for key, one in history.causes.lasting.items()),
        tuple(_tracked(name, one) for name, one in tracks.items()),
        tuple(sorted((replica, str(endpoint)) for replica, endpoint in counted)),
        tuple(_past(past[start:])),
        len(past),
    )


def recalled(memories: Sequence[Memory], now: Frame) -> History:
    """The history that the last of these memories had; `now` is a frame of that time, in whose shape earlier ones are.

    The others are those before it, oldest first.
    """
    last = memories[-1]
    return History(
        {(one.replica, one.level): Trend(one.waiting, one.seats, one.at) for one in last.trends},
        Causes(
            lasting={(one.code, one.subject): Lasting(one.since, one.last) for one in last.lasting},
            past=_frames(memories, now),
        ),
    )


def tracked(tracks: Tracks, last: Memory) -> dict[str, Track]:
    """The tracks with what the samples of the latest window do not tell of them."""
    known = {one.replica: one for one in last.tracked}
    return {name: _remembering(one, known[name]) if name in known else one for name, one in tracks.items()}


def counted(last: Memory) -> Counted:
    """What the look of then had so far."""
    return frozenset((replica, Endpoint(endpoint)) for replica, endpoint in last.counted)


def needed_from(last: Memory) -> float | None:
    """Since when samples are needed beside a memory (Unix seconds); None for none."""
    return min((one.first for one in last.tracked if one.first is not None), default=None)


def _tracked(name: str, track: Track) -> Tracked:
    first = track.points[0].metrics if track.points else None
    return Tracked(
        name, (first.received or first.time) if first is not None else None, track.born, track.broken, track.set_at
    )


def _remembering(track: Track, its: Tracked) -> Track:
    if its.first is not None:
        oldest = next((n for n, one in enumerate(track.points) if (one.metrics.received or 0.0) >= its.first), 0)
        track = replace(track, points=track.points[oldest:])
    points = track.points
    if its.set_at is not None:
        points = tuple(replace(one, clock_set=lately(its.set_at, one.metrics.time)) for one in points)
    return replace(track, points=points, born=its.born, broken=its.broken, set_at=its.set_at)


def _past(frames: Iterable[Frame]) -> Iterator[PastFrame]:
    was: Mapping[str, Replica] = {}
    for frame in frames:
        changed = (one for name, one in frame.replicas.items() if was.get(name) is not one)
        yield PastFrame(tuple(frame.replicas), tuple(_window(one) for one in changed))
        was = frame.replicas


def _window(one: Replica) -> Past:
    return Past(one.name, one.window, tuple(_calm(level) for level in one.levels.values()))


def _calm(level: Level) -> Calm:
    if level.load is None or not calm(level):
        return Calm(level.name, None)
    return Calm(level.name, level.load, level.window.t1 if level.window is not None else None)


def _frames(memories: Sequence[Memory], now: Frame) -> tuple[Frame, ...]:
    """The frames gone by, as far as later moments look at them."""
    shape = next((one for one in now.replicas.values() if one.levels), None)
    if shape is None:
        return ()
    found: list[Frame] = []
    replicas: dict[str, Replica] = {}
    for one in (frame for some in memories for frame in some.past):
        known = replicas | {past.replica: _replica(past, shape) for past in one.changed}
        replicas = {name: known[name] for name in one.replicas}
        found.append(replace(now, replicas=replicas))
    return tuple(found[len(found) - min(len(found), memories[-1].kept) :])


def _replica(past: Past, shape: Replica) -> Replica:
    level = next(iter(shape.levels.values()))
    levels = {one.level: _level(one, past, level) for one in past.levels}
    return replace(shape, name=past.replica, window=past.window, levels=levels, schemas={}, flows=(), requests=None)


def _level(one: Calm, past: Past, shape: Level) -> Level:
    window = replace(past.window, t1=one.t1) if past.window is not None and one.load is not None else None
    state: LevelState = "saturated" if one.load is None else "busy"
    return replace(
        shape, name=one.level, state=state, load=one.load, window=window, inside=None, queues=None, waits=None
    )
