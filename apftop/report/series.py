"""A span of a tape as numbers over time: points of each level on each replica, and what began and ended."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from apftop.derive.frame import frame
from apftop.kept import KEPT_OF, bare
from apftop.live import observe
from apftop.records.frame import Frame, Level, Replica
from apftop.records.measures import Quantile
from apftop.records.raw import Endpoint, Sample
from apftop.records.state import State
from apftop.records.tape import Mark, Note, Pulse, usual_s
from apftop.tape.reading import Tape

MOST_POINTS = 180
"""So many frames are derived for a span: what can be told apart in a small chart."""

OLD_S = 15.0
"""What an answer said is not drawn longer after it than this, or than three times from one answer to the next."""

NOT_DRAWN = frozenset({Endpoint.REQUESTS, Endpoint.QUEUES, Endpoint.BACKEND})
"""No chart needs these of a server that tells its metrics."""

Seen = tuple[float, float | None]
"""When (Unix seconds) and what; None is unknown."""


@dataclass(frozen=True, slots=True)
class Point:
    """One level at one moment (Unix seconds): seats, requests a second and waits as in a Frame; None is unknown."""

    at: float
    dispatched_per_s: float | None = None
    refused_per_s: Mapping[str, float] | None = None
    seats: float | None = None
    nominal: float | None = None
    current: float | None = None
    p50: Quantile | None = None
    p99: Quantile | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """One level on one replica. `waiting` are requests in its queues at each answer that told of them."""

    level: str
    replica: str
    exempt: bool
    points: tuple[Point, ...]
    waiting: tuple[Seen, ...]


@dataclass(frozen=True, slots=True)
class Lasted:
    """A finding from when it began to when it ended (Unix seconds).

    `began` is None where the tape does not tell, `ended` where it goes on at the end of the span, or where the tape was
    no longer recorded (`cut`). `replica` is empty where it is about several.
    """

    title: str
    code: str
    subject: str
    severity: str
    replica: str
    began: float | None
    ended: float | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """What a tape tells of the time from `first` to `last` (Unix seconds); a point each `step_s`."""

    first: float
    last: float
    step_s: float
    series: tuple[Series, ...] = ()
    lasted: tuple[Lasted, ...] = ()
    marks: tuple[Mark, ...] = ()
    pulses: tuple[Pulse, ...] = ()


def span_of(tape: Tape, first: float, last: float, every_s: float, request_timeout_s: float | None = None) -> Span:
    """The numbers of a span: a point each `every_s` seconds, or fewer of them for a long one."""
    begin, end = tape.span
    first = min(max(first, begin), end)
    last = max(first, min(last, end))
    step_s = max(every_s, (last - first) / MOST_POINTS)
    notes = tape.notes()
    series = _series(tape, first, last, step_s, request_timeout_s)
    return Span(
        first,
        last,
        step_s,
        series,
        lasting(notes.marks, first, last),
        tuple(one for one in notes.marks if first <= one.at <= last and one.kind not in ("found", "gone")),
        _known([one for one in notes.pulses if first < one.at <= last], series),
    )


def _known(pulses: Sequence[Pulse], series: Iterable[Series]) -> tuple[Pulse, ...]:
    """Pulses without the numbers of servers that had ceased to answer."""
    times = sorted({at for one in series for at, value in one.waiting if value is not None})
    old_s = max(OLD_S, 3 * (usual_s(times) or 0.0))
    found = []
    for one in pulses:
        number = bisect_right(times, one.at)
        fresh = number > 0 and one.at - times[number - 1] <= old_s
        found.append(one if fresh else replace(one, waiting=None, refused_per_s=None))
    return tuple(found)


def lasting(marks: Iterable[Mark], first: float, last: float) -> tuple[Lasted, ...]:
    """The findings that were there at some time of a span, in the order in which they began."""
    open_: dict[tuple[str, str], Lasted] = {}
    done: list[Lasted] = []
    for mark in marks:
        key = (mark.code, mark.subject) if mark.code else ("", mark.text)
        if mark.at > last:
            break
        if mark.kind == "recording":
            done += [replace(one, cut=True, ended=None) for one in open_.values()]
            open_.clear()
        elif mark.kind == "found" and key not in open_:
            open_[key] = Lasted(mark.text, mark.code, mark.subject, mark.severity, mark.replica, mark.at)
        elif mark.kind == "gone":
            one = open_.pop(key, Lasted(mark.text, mark.code, mark.subject, mark.severity, mark.replica, None))
            if mark.at >= first:
                done.append(replace(one, ended=mark.at))
    done = [one for one in done if not one.cut or (one.began or 0.0) >= first]
    return tuple(sorted((*done, *open_.values()), key=lambda one: (one.began or 0.0, one.title)))


def _series(
    tape: Tape, first: float, last: float, step_s: float, request_timeout_s: float | None
) -> tuple[Series, ...]:
    points: dict[tuple[str, str], list[Point]] = defaultdict(list)
    waiting: dict[tuple[str, str], list[Seen]] = defaultdict(list)
    exempt: dict[tuple[str, str], bool] = {}
    before: tuple[State, Frame] | None = None
    for at, state, seen in _states(tape, first, last, step_s):
        for key, one in seen:
            waiting[key].append(one)
        made = frame(state, request_timeout_s, before=before)
        before = state, made
        for server in made.replicas.values():
            for level in server.levels.values():
                key = level.name, server.name
                exempt[key] = level.exempt
                points[key].append(_point(at, server, level))
                if level.waiting_from != Endpoint.LEVELS.value:
                    waiting[key].append((at, level.waiting if _fresh(at, server, level, Endpoint.METRICS) else None))
    return tuple(
        Series(*key, exempt[key], tuple(found), tuple(waiting.get(key, ()))) for key, found in sorted(points.items())
    )


Told = list[tuple[tuple[str, str], Seen]]


def _states(tape: Tape, first: float, last: float, step_s: float) -> Iterator[tuple[float, State, Told]]:
    """What is known at each point, with what dumps of levels said since the one before."""
    number = tape.segment_at(first)
    state, end = tape.opening(number)[0], tape.segment_at(last)
    due, batch = first, list[Sample]()
    while number <= end:
        for one in tape.taken(number):
            while one.at > due:
                state, seen = _taken(state, batch, first)
                batch = []
                yield due, state, seen
                if due >= last:
                    return
                due = min(last, due + step_s)
            if isinstance(one.what, Note):
                if one.what.forgotten:
                    state, seen = _taken(state, batch, first)
                    batch = []
                    left = {name: it for name, it in state.replicas.items() if name not in one.what.forgotten}
                    state = State(left)
            else:
                batch.append(one.what)
        number += 1
        if number <= end and not tape.goes_on(number):
            state, batch = tape.opening(number)[0], []
    state, seen = _taken(state, batch, first)
    yield last, state, seen


def _taken(state: State, batch: Sequence[Sample], first: float) -> tuple[State, Told]:
    """The state after some samples; what later ones of them have overtaken is not read, but for dumps of levels."""
    left: dict[tuple[str, Endpoint], int] = defaultdict(int)
    for sample in batch:
        left[sample.replica, sample.endpoint] += sample.ok
    seen: Told = []
    for sample in batch:
        key = sample.replica, sample.endpoint
        known = state.replicas.get(sample.replica)
        if sample.ok:
            left[key] -= 1
        overtaken = sample.ok and left[key] >= KEPT_OF.get(sample.endpoint, 1)
        not_drawn = sample.endpoint in NOT_DRAWN and known is not None and bool(known.metrics)
        levels = sample.endpoint is Endpoint.LEVELS
        state = observe(state, bare(sample) if (overtaken and not levels) or not_drawn else sample)
        if levels and (sample.received or 0.0) >= first:
            seen += _waiting(state, sample)
    return state, seen


def _waiting(state: State, sample: Sample) -> Told:
    known, at = state.replicas[sample.replica].levels, sample.received or 0.0
    if not known:
        return []
    return [
        ((row.name, sample.replica), (at, None if not sample.ok or row.waiting is None else float(row.waiting)))
        for row in known[-1].data.rows
    ]


def _fresh(at: float, server: Replica, level: Level, endpoint: Endpoint) -> bool:
    """Whether what an endpoint said is of this moment."""
    age = server.samples.get(endpoint.value)
    if age is None or age.time is None or age.stale:
        return False
    window = level.window if endpoint is Endpoint.METRICS else level.recent.window if level.recent else None
    return at - age.time <= max(OLD_S, 3 * window.seconds if window else 0.0)


def _point(at: float, server: Replica, level: Level) -> Point:
    """A level as it is drawn: nothing is known where answers have ceased to come."""
    pace, waits = level.pace, level.waits
    if pace is not None and not _fresh(at, server, level, Endpoint.LEVELS if level.recent else Endpoint.METRICS):
        pace = None
    found = Point(
        at,
        pace.dispatched_per_s if pace else None,
        {reason: pace.window.per_s(number) for reason, number in pace.counts.rejected.items()} if pace else None,
    )
    if not _fresh(at, server, level, Endpoint.METRICS):
        return found
    return replace(
        found,
        seats=level.seats_in_use,
        nominal=level.nominal,
        current=None if level.exempt else level.current,
        p50=waits.p50 if waits else None,
        p99=waits.p99 if waits else None,
    )
