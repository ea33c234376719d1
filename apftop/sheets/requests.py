"""View 4: the requests that wait and execute, on each replica."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from apftop.present import plain
from apftop.present import seconds as seconds_text
from apftop.records.checks import Start
from apftop.records.frame import Replica, Request
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint
from apftop.sheets import columns
from apftop.sheets.bands import band
from apftop.sheets.figures import BLANK, UNKNOWN, count, seconds, words
from apftop.sheets.lacking import lacking
from apftop.sheets.look import EACH, Look
from apftop.sheets.scope import nobody, replicas_of, tells_apart, title, within
from apftop.sheets.sheet import Cell, Column, Row, RowKey
from apftop.sheets.table import Shown, Table, cells_of, columns_of

IN_DUMP = "dump_requests"


@dataclass(frozen=True, slots=True)
class Line:
    """One request on one replica, and when it is to start by the model, where that is known."""

    key: RowKey
    replica: Replica
    request: Request
    start: Start | None


def table(moment: Moment, look: Look) -> Table:
    """The requests in scope: those that wait first, the oldest first, and apftop's own last."""
    shown = (STATE, *((REPLICA,) if tells_apart(moment, look) else ()), *REST)
    found = sorted(lines(moment, look), key=_rank)
    notes = lacking(moment, look, Endpoint.REQUESTS, lambda replica: replica.requests is not None)
    old = [one.name for one in replicas_of(moment, look) if one.requests is not None and not one.lists_executing]
    if old:
        notes = (*notes, f"{', '.join(map(plain, old))}: up to 1.27 the dump has waiting requests only")
    return Table(
        title=title(look, EACH),
        columns=columns_of(shown, totals=False),
        rows=tuple(
            Row(
                line.key,
                cells_of(shown, line),
                "own" if line.request.own else "",
                subject={"level": line.request.level, "replica": line.replica.name},
            )
            for line in found
        ),
        idle=frozenset(),
        empty=nobody(moment, look) or (notes[0] if notes else "no request waits or executes here"),
        notes=notes,
    )


def lines(moment: Moment, look: Look) -> Iterator[Line]:
    """The requests in scope, in the order of the dumps."""
    for replica in replicas_of(moment, look):
        taken: Counter[RowKey] = Counter()
        checks = moment.checks.get(replica.name)
        for one in replica.requests or ():
            if within(look, level=one.level, schema=one.schema, queue=str(one.queue), client=one.user):
                key = _key(replica, one)
                taken[key] += 1
                start = checks.start(one.level, one.key) if checks and not one.executing else None
                yield Line((*key, str(taken[key])), replica, one, start)


def _key(replica: Replica, request: Request) -> RowKey:
    """The request by when it arrived, which no other dump changes."""
    names = (replica.name, request.level, request.schema, request.user or request.distinguisher)
    return (*names, str(request.arrive_ns))


def _rank(line: Line) -> tuple[bool, bool, float, RowKey]:
    request = line.request
    return request.own, request.executing, -(request.age_s or 0.0), line.key


def _state(line: Line) -> Cell:
    state = "executing" if line.request.executing else "waiting"
    return words(f"{state}, own" if line.request.own else state, "" if line.request.executing else "warn")


def _start(line: Line) -> Cell:
    """The band, or what most runs did not end before."""
    if line.request.executing:
        return BLANK
    start = line.start
    if start is None:
        return UNKNOWN
    if start.after_s is None:
        return Cell(f">{seconds_text(start.by_s)}", (start.by_s, math.inf), "warn")
    return Cell(band(start.after_s.low, start.after_s.high), (start.after_s.low, start.after_s.high))


def _queue(line: Line) -> Cell:
    """The queue, and the place in it of a request that waits."""
    request = line.request
    if request.queue < 0:
        return BLANK
    text = str(request.queue) if request.executing else f"{request.queue}/{request.index}"
    return Cell(text, float(request.queue))


def _object(line: Line) -> Cell:
    """Namespace and name as `namespace/name`; a cluster-wide one has no namespace."""
    request = line.request
    if request.verb is None:
        return UNKNOWN
    namespace, name = request.namespace or "", request.name or ""
    return words(f"{namespace}/{name}" if namespace else name)


STATE: Shown[Line] = Shown(
    Column(
        "state",
        "STATE",
        9,
        "waiting in a queue or executing; own is a question of apftop itself, or of another reader of the dumps who "
        "has the same user",
        IN_DUMP,
        "text",
    ),
    _state,
)
REPLICA: Shown[Line] = Shown(replace(columns.REPLICA, rank=3), lambda line: words(line.replica.name))
REST: tuple[Shown[Line], ...] = (
    Shown(replace(columns.LEVEL, rank=2, source=IN_DUMP), lambda line: words(line.request.level)),
    Shown(replace(columns.SCHEMA, rank=4, source=IN_DUMP), lambda line: words(line.request.schema)),
    Shown(
        Column(
            "queue",
            "QUEUE",
            6,
            "index of the queue, and of a waiting request its place there, from 0; sorts and filters by the queue",
            IN_DUMP,
            rank=5,
        ),
        _queue,
    ),
    Shown(
        Column(
            "flow",
            "FLOW",
            10,
            "flow distinguisher: a user or a namespace; requests of one flow share a few queues",
            IN_DUMP,
            "text",
            most=50,
            rank=7,
            ends=True,
        ),
        lambda line: words(line.request.distinguisher),
    ),
    Shown(
        Column(
            "user", "USER", 14, "who asks; the impersonated one where there is one", IN_DUMP, "text", most=60, ends=True
        ),
        lambda line: words(line.request.user),
    ),
    Shown(
        Column("kind", "WHAT", 12, "verb and resource, or path", IN_DUMP, "text", most=40),
        lambda line: words(line.request.kind or None),
    ),
    Shown(
        Column(
            "object", "OBJECT", 10, "namespace and name of what is asked for", IN_DUMP, "text", 60, rank=6, ends=True
        ),
        _object,
    ),
    Shown(
        Column(
            "width",
            "WIDTH",
            5,
            "seats that it takes: the larger of its initial and final seats, as the server estimates",
            IN_DUMP,
        ),
        lambda line: count(line.request.width),
    ),
    Shown(
        Column("age", "AGE", 6, "seconds since it arrived", "dump_requests, by the server's clock", "seconds"),
        lambda line: seconds(line.request.age_s),
    ),
    Shown(
        Column(
            "starts",
            "STARTS IN",
            9,
            "when a waiting request is to begin to execute, in nine of ten runs of the model: seconds counted from the "
            "dump that the runs began with, as its age is from the dump shown, which may be a later one; > where most "
            "runs ended before it began; - where it was not in a run",
            "the model of APF, from dump_requests and metrics",
            "seconds",
            rank=2,
        ),
        _start,
    ),
    Shown(
        Column(
            "wait",
            "WAIT",
            6,
            "seconds that an executing request waited in its queue: exact; one that waits has waited for its age",
            "dump_requests: arrival and start",
            "seconds",
            rank=1,
        ),
        lambda line: seconds(line.request.wait_s) if line.request.executing else BLANK,
    ),
    Shown(
        Column(
            "executes",
            "RUNS",
            6,
            "seconds since it began to execute",
            "dump_requests, by the server's clock",
            "seconds",
            rank=5,
        ),
        lambda line: seconds(line.request.executing_s) if line.request.executing else BLANK,
    ),
)
