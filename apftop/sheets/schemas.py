"""View 2: flow schemas, on each replica or summed over them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from apftop import present
from apftop.records.frame import Replica, Schema
from apftop.records.measures import Quantile
from apftop.records.moment import Moment
from apftop.sheets import columns
from apftop.sheets.figures import (
    BLANK,
    UNKNOWN,
    add,
    count,
    greatest,
    highest,
    interval,
    marked,
    rate,
    rejections,
    seconds,
    words,
)
from apftop.sheets.look import EACH, SUM, Look, View
from apftop.sheets.scope import metrics_stale, nobody, replicas_of, tells_apart, title, within
from apftop.sheets.sheet import Cell, Column, Row, RowKey
from apftop.sheets.table import Shown, Table, cells_of, columns_of
from apftop.sheets.trouble import rough


@dataclass(frozen=True, slots=True)
class Line:
    """One schema on one replica, or over several.

    `flows` have requests now. `partial` says that its wait is not known on all of the replicas.
    """

    key: RowKey
    about: dict[str, str]
    subject: dict[str, str] | None
    schema: Schema
    replica: str
    levels: frozenset[str]
    dispatched: float | None
    rejected: float | None
    wait_p95: Quantile | None
    seats: float | None
    waiting: float | None
    executing: float | None
    flows: frozenset[tuple[str, str]] | None
    oldest_s: float | None
    counts: bool
    stale: bool
    partial: bool = False


def table(moment: Moment, look: Look) -> Table:
    """The schemas in scope: who waits or is refused first, then the busiest."""
    shown = (NAME, *((WHERE,) if look.scope == EACH and tells_apart(moment, look) else ()), *REST)
    found = sorted(_lines(moment, look), key=_rank)
    return Table(
        title=title(look, look.scope),
        columns=columns_of(shown, totals=look.totals),
        rows=tuple(
            Row(line.key, cells_of(shown, line), "dim" if _idle(line) else "", line.about, line.subject)
            for line in found
        ),
        idle=frozenset(line.key for line in found if _idle(line)),
        empty=nobody(moment, look) or "no flow schema is known here yet",
    )


def _lines(moment: Moment, look: Look) -> list[Line]:
    found = [
        _line(moment, replica, schema, flows, look)
        for replica in replicas_of(moment, look)
        for flows in (_flows(replica),)
        for schema in replica.schemas.values()
        if within(look, level=schema.level, schema=schema.name)
    ]
    if look.scope != SUM:
        return found
    by_name: dict[str, list[Line]] = defaultdict(list)
    for line in found:
        by_name[line.schema.name].append(line)
    return [_sum(name, parts) for name, parts in by_name.items()]


def _flows(replica: Replica) -> dict[str, set[tuple[str, str]]] | None:
    """The flows of each schema by level and name; None where no dump tells."""
    if replica.requests is None:
        return None
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for flow in replica.flows:
        found[flow.schema].add((flow.level, flow.flow))
    return found


def _line(
    moment: Moment, replica: Replica, schema: Schema, flows: dict[str, set[tuple[str, str]]] | None, look: Look
) -> Line:
    counts, window = schema.counts, schema.window
    dispatched = rejected = None
    if counts is not None and window is not None:
        dispatched, rejected = counts.dispatched, counts.rejected_total
        if not look.totals:
            dispatched, rejected = window.per_s(dispatched), window.per_s(rejected)
    return Line(
        key=(schema.name, replica.name),
        about=_about(replica, schema, look),
        subject=_subject(replica, schema, look),
        schema=schema,
        replica=replica.name,
        levels=frozenset({schema.level} if schema.level is not None else ()),
        dispatched=dispatched,
        rejected=rejected,
        wait_p95=schema.waits.p95 if schema.waits else None,
        seats=schema.seats_in_use,
        waiting=schema.waiting,
        executing=schema.executing,
        flows=None if flows is None else frozenset(flows.get(schema.name, ())),
        oldest_s=schema.oldest_waiting_s,
        counts=look.totals,
        stale=metrics_stale(moment, replica),
    )


def _about(replica: Replica, schema: Schema, look: Look) -> dict[str, str]:
    """The queues of its level, or its requests where there are none."""
    level = replica.levels.get(schema.level or "")
    queueless = level is not None and level.config is not None and level.config.queuing is None
    about = {"view": View.REQUESTS.value, "schema": schema.name}
    if schema.level is not None and not queueless:
        about = {"view": View.QUEUES.value, "level": schema.level}
    return about if look.scope == SUM else about | {"replica": replica.name}


def _subject(replica: Replica, schema: Schema, look: Look) -> dict[str, str] | None:
    """The level that its requests go to."""
    if schema.level is None:
        return None
    return {"level": schema.level} if look.scope == SUM else {"level": schema.level, "replica": replica.name}


def _sum(name: str, parts: Sequence[Line]) -> Line:
    flows = [part.flows for part in parts if part.flows is not None]
    return Line(
        key=(name,),
        about=parts[0].about,
        subject=parts[0].subject,
        schema=parts[0].schema,
        replica="",
        levels=frozenset(level for part in parts for level in part.levels),
        dispatched=add(part.dispatched for part in parts),
        rejected=add(part.rejected for part in parts),
        wait_p95=highest(part.wait_p95 for part in parts),
        seats=add(part.seats for part in parts),
        waiting=add(part.waiting for part in parts),
        executing=add(part.executing for part in parts),
        flows=frozenset().union(*flows) if len(flows) == len(parts) else None,
        oldest_s=greatest(part.oldest_s for part in parts),
        counts=parts[0].counts,
        stale=any(part.stale for part in parts),
        partial=any(part.dispatched is None for part in parts),
    )


def _idle(line: Line) -> bool:
    """Whether nothing is known to happen in it."""
    return not any((line.dispatched, line.rejected, line.waiting, line.executing, line.seats))


def _rank(line: Line) -> tuple[bool, float, float, int, int, RowKey]:
    refused, waiting = line.rejected or 0.0, line.waiting or 0.0
    return not (refused or waiting), -refused, -waiting, -rough(line.seats), -rough(line.dispatched), line.key


def _precedence(line: Line) -> Cell:
    return count(line.schema.config.precedence) if line.schema.config else UNKNOWN


def _distinguisher(line: Line) -> Cell:
    config = line.schema.config
    return words(config.distinguisher or "none") if config else UNKNOWN


def _oldest(line: Line) -> Cell:
    """Of a sum it is only of those replicas whose dump is there."""
    if line.waiting == 0 and line.oldest_s is None:
        return BLANK
    return seconds(line.oldest_s, stale=line.stale or line.flows is None)


def _remarks(line: Line) -> Cell:
    """What the objects say that is out of the ordinary."""
    schema = line.schema
    remarks = ["deleted"] if schema.deleted else []
    if schema.config is not None and schema.config.dangling:
        remarks.append("its level does not exist")
    if schema.past_levels:
        remarks.append("once on " + ", ".join(schema.past_levels))
    return words("; ".join(remarks), "warn" if schema.deleted or remarks[:1] == ["its level does not exist"] else "")


NAME: Shown[Line] = Shown(columns.SCHEMA, lambda line: words(line.schema.name))
WHERE: Shown[Line] = Shown(columns.REPLICA, lambda line: words(line.replica))
REST: tuple[Shown[Line], ...] = (
    Shown(
        replace(columns.LEVEL, help="priority level that its requests go to", source="objects, else metrics", rank=1),
        lambda line: words(", ".join(sorted(line.levels)) or None),
    ),
    Shown(
        Column(
            "precedence",
            "PREC",
            5,
            "matching precedence: the schema of the lowest one that matches a request takes it",
            "objects",
            rank=6,
        ),
        _precedence,
    ),
    Shown(
        Column(
            "distinguisher",
            "DISTINGUISHER",
            13,
            "what tells its flows apart: the user, the namespace, or nothing",
            "objects",
            "text",
            rank=7,
        ),
        _distinguisher,
    ),
    Shown(
        replace(columns.WAITING, source="current_inqueue_requests"),
        lambda line: marked(line.waiting, present.whole, "warn", stale=line.stale),
    ),
    Shown(
        Column("executing", "EXEC", 5, "requests that execute now", "current_executing_requests", rank=5),
        lambda line: count(line.executing, stale=line.stale),
    ),
    Shown(
        Column("seats", "SEATS", 5, "seats in use, lingering ones among them", "current_executing_seats", rank=3),
        lambda line: count(line.seats, stale=line.stale),
    ),
    Shown(columns.DISPATCHED, lambda line: rate(line.dispatched, counts=line.counts, stale=line.stale)),
    Shown(columns.REJECTED, lambda line: rejections(line.rejected, counts=line.counts, stale=line.stale)),
    Shown(columns.WAIT_P95, lambda line: interval(line.wait_p95, stale=line.partial or line.stale)),
    Shown(
        Column("flows", "FLOWS", 5, "flows that have requests now; of a sum, different ones", "dump_requests", rank=4),
        lambda line: UNKNOWN if line.flows is None else count(len(line.flows)),
    ),
    Shown(columns.OLDEST, _oldest),
    Shown(
        Column(
            "remarks",
            "REMARKS",
            8,
            "deleted: there is no object, only metrics; once on: levels that its requests went to before",
            "objects and metrics",
            "text",
            most=60,
            rank=8,
        ),
        _remarks,
    ),
)
