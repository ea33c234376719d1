"""View 3: the queues of the levels that have them, on each replica."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from apftop import present
from apftop.records.frame import Queue, Replica
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint
from apftop.sheets import columns
from apftop.sheets.figures import BLANK, UNKNOWN, count, marked, number, seconds, words
from apftop.sheets.lacking import lacking
from apftop.sheets.look import EACH, Look, View
from apftop.sheets.scope import nobody, replicas_of, tells_apart, title, within
from apftop.sheets.sheet import Cell, Column, Row, RowKey
from apftop.sheets.table import Shown, Table, cells_of, columns_of

IN_DUMP = "dump_queues"

MOST_IDLE = 2000
"""So many queues in which nothing happens are listed: a level may have 100,000 of them."""


@dataclass(frozen=True, slots=True)
class Line:
    """One queue on one replica."""

    key: RowKey
    replica: str
    queue: Queue


def table(moment: Moment, look: Look) -> Table:
    """The queues in scope: most waiting first. Those of different servers are never summed."""
    shown = (LEVEL, *((REPLICA,) if tells_apart(moment, look) else ()), *REST)
    found = sorted(_lines(moment, look), key=_rank)
    notes = lacking(moment, look, Endpoint.QUEUES, _has_queues)
    busy = sum(not _idle(line) for line in found)
    if len(found) > busy + MOST_IDLE:
        notes = (*notes, f"{len(found) - busy - MOST_IDLE} more queues, in which nothing happens, are not listed")
        found = found[: busy + MOST_IDLE]
    return Table(
        title=title(look, EACH),
        columns=columns_of(shown, totals=False),
        rows=tuple(
            Row(
                line.key,
                cells_of(shown, line),
                "dim" if _idle(line) else "",
                _about(line),
                {"level": line.queue.level, "replica": line.replica},
            )
            for line in found
        ),
        idle=frozenset(line.key for line in found if _idle(line)),
        empty=nobody(moment, look) or _queueless(moment, look) or (notes[0] if notes else "no queue is known"),
        notes=notes,
    )


def _has_queues(replica: Replica) -> bool:
    return any(level.queues is not None for level in replica.levels.values())


def _lines(moment: Moment, look: Look) -> Iterator[Line]:
    for replica in replicas_of(moment, look):
        for level in replica.levels.values():
            for queue in level.queues or ():
                if within(look, level=level.name, queue=str(queue.index)):
                    yield Line((level.name, replica.name, str(queue.index)), replica.name, queue)


def _queueless(moment: Moment, look: Look) -> str:
    """That the level that the reader drilled into has no queues; empty if it may have some."""
    name = look.within.get("level")
    levels = [replica.levels[name] for replica in replicas_of(moment, look) if name in replica.levels] if name else []
    if not levels or not all(level.config is not None and level.config.queuing is None for level in levels):
        return ""
    why = "its requests are exempt" if levels[0].exempt else "it rejects what does not fit at once"
    return f"level {present.plain(name or '', 40)} has no queues: {why}"


def _idle(line: Line) -> bool:
    return not (line.queue.waiting or line.queue.executing or line.queue.seats_in_use)


def _rank(line: Line) -> tuple[bool, int, int, str, str, int]:
    queue = line.queue
    return _idle(line), -queue.waiting, -queue.seats_in_use, queue.level, line.replica, queue.index


def _about(line: Line) -> dict[str, str]:
    queue = line.queue
    view = View.REQUESTS.value
    return {"view": view, "level": queue.level, "queue": str(queue.index), "replica": line.replica}


def _flows(line: Line) -> Cell:
    if line.queue.flows is None:
        return UNKNOWN
    return words(", ".join(flow or "(none)" for flow in line.queue.flows))


def _oldest(line: Line) -> Cell:
    return seconds(line.queue.oldest_waiting_s) if line.queue.waiting else BLANK


LEVEL: Shown[Line] = Shown(columns.LEVEL, lambda line: words(line.queue.level))
REPLICA: Shown[Line] = Shown(columns.REPLICA, lambda line: words(line.replica))
REST: tuple[Shown[Line], ...] = (
    Shown(
        Column("queue", "QUEUE", 5, "index of the queue in its level, from 0", IN_DUMP),
        lambda line: count(line.queue.index),
    ),
    Shown(
        replace(columns.WAITING, help="requests that wait in this queue", source=IN_DUMP),
        lambda line: marked(line.queue.waiting, present.whole, "warn"),
    ),
    Shown(
        Column("executing", "EXEC", 5, "requests from this queue that execute", IN_DUMP),
        lambda line: count(line.queue.executing),
    ),
    Shown(
        Column("seats", "SEATS", 5, "seats in use by requests from this queue, lingering ones among them", IN_DUMP),
        lambda line: count(line.queue.seats_in_use),
    ),
    Shown(
        Column("waiting_seats", "WAIT SEATS", 10, "seats that the waiting requests will take", IN_DUMP, rank=3),
        lambda line: count(line.queue.waiting_seats),
    ),
    Shown(
        Column(
            "next",
            "NEXT",
            4,
            "next: the head of this queue has the least virtual finish of its level, and is the only request that the "
            "level considers; if it does not fit, nothing starts",
            "dump_queues and dump_requests",
            "text",
            rank=1,
        ),
        lambda line: words("next" if line.queue.next else "", "good"),
    ),
    Shown(
        replace(columns.OLDEST, help="age in seconds of the request that has waited longest in this queue"),
        _oldest,
    ),
    Shown(
        Column(
            "next_r",
            "NEXT R",
            10,
            "virtual time in seat-seconds from which the queue's next request is charged: a lower one goes first",
            IN_DUMP,
            rank=6,
        ),
        lambda line: number(line.queue.next_dispatch_r, lambda r: f"{r:.2f}"),
    ),
    Shown(
        Column("work", "WORK", 6, "work of the waiting requests as estimated, in seat-seconds", IN_DUMP, rank=5),
        lambda line: number(line.queue.work, lambda work: f"{work:.2f}"),
    ),
    Shown(
        Column(
            "flows",
            "FLOWS",
            12,
            "flows that have requests in this queue, most requests first; apftop's own questions are left out",
            "dump_requests",
            "text",
            most=80,
            rank=2,
        ),
        _flows,
    ),
)
