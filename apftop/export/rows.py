"""The rows of all tables of one moment, as the report's JSON has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from apftop.export.shots import Shot
from apftop.export.tables import Column, Table
from apftop.records.frame import Frame
from apftop.records.tape import Note
from apftop.report.document import document, taken_of
from apftop.report.numbers import number, when

Json = dict[str, Any]
Row = dict[str, Any]
"""One row by the names of columns: None is unknown, times are RFC 3339."""

_MOST = 1 << 63


def rows_of(shot: Shot, wanted: tuple[Table, ...]) -> Iterator[tuple[str, Row]]:
    """The rows of the wanted tables, each with the name of its table."""
    told = document(shot.frame, "", taken_of(None, shot.at, None), (), shot.checks, shot.found)
    at = {"time": when(shot.at)}
    for table in wanted:
        for row in _TABLES.get(table.name, _none)(told, shot.frame):
            yield table.name, row_of(table, {**row, **at})


def rows_of_notes(note: Note, wanted: tuple[Table, ...]) -> Iterator[tuple[str, Row]]:
    """The rows of marks and pulses."""
    for table in wanted:
        if table.name == "marks":
            for mark in note.marks:
                told = {"replica": mark.replica or None, "kind": mark.kind, "text": mark.text}
                yield table.name, row_of(table, {"time": when(mark.at), **told})
        elif table.name == "pulses":
            for pulse in note.pulses:
                figures = {"waiting": number(pulse.waiting), "refused_per_s": number(pulse.refused_per_s)}
                yield table.name, row_of(table, {"time": when(pulse.at), **figures, "severity": pulse.severity or None})


def row_of(table: Table, told: Json) -> Row:
    """The columns of a table out of what is told, which has them where `path` says."""
    return {column.name: _value(column, told) for column in table.columns}


def _value(column: Column, told: Json) -> Any:
    found: Any = told
    for step in _steps(column.path):
        if found is None:
            return None
        found = found[int(step)] if isinstance(found, list) else found.get(step)
    if column.type == "int" and found is not None and not (isinstance(found, int) and abs(found) < _MOST):
        # Seats and requests are whole and fit into 64 bits: what does not comes from no API server.
        return None
    return float(found) if column.type == "float" and found is not None else found


@cache
def _steps(path: str) -> tuple[str, ...]:
    return tuple(path.split("/"))


def _none(told: Json, frame: Frame) -> Iterator[Json]:
    yield from ()


def _levels(told: Json, frame: Frame) -> Iterator[Json]:
    for replica, name, level in _each(told, "levels"):
        yield {**level, "replica": replica, "level": name}


def _schemas(told: Json, frame: Frame) -> Iterator[Json]:
    for replica, name, schema in _each(told, "schemas"):
        yield {**schema, "replica": replica, "schema": name}


def _rejections(told: Json, frame: Frame) -> Iterator[Json]:
    for replica, name, level in _each(told, "levels"):
        yield from _by_reason(level, {"replica": replica, "level": name, "schema": None})
    for replica, name, schema in _each(told, "schemas"):
        yield from _by_reason(schema, {"replica": replica, "level": schema["level"], "schema": name})


def _by_reason(counted: Json, about: Json) -> Iterator[Json]:
    window = counted["window"] or {}
    rates = counted["rejected_per_s"] or {}
    over = {"window_end": window.get("t1"), "window_s": window.get("seconds")}
    for reason, count in (counted["rejected"] or {}).items():
        if reason != "total":
            yield {**about, **over, "reason": reason, "rejected": count, "rejected_per_s": rates.get(reason)}


def _wait_buckets(told: Json, frame: Frame) -> Iterator[Json]:
    for replica in frame.replicas.values():
        for name, level in replica.levels.items():
            window = level.window
            about = {
                "replica": replica.name,
                "level": name,
                "window_end": when(window.t1) if window else None,
                "window_s": number(window.seconds) if window else None,
            }
            for bucket in level.waits.buckets if level.waits else ():
                bounds = {"above": number(bucket.low), "le": number(bucket.high)}
                yield {**about, **bounds, "count": bucket.count}


def _queues(told: Json, frame: Frame) -> Iterator[Json]:
    for replica in frame.replicas.values():
        for level in replica.levels.values():
            for queue in level.queues or ():
                yield {
                    "replica": replica.name,
                    "level": queue.level,
                    "queue": queue.index,
                    "waiting": queue.waiting,
                    "executing": queue.executing,
                    "seats_in_use": queue.seats_in_use,
                    "waiting_seats": queue.waiting_seats,
                    "next_dispatch_r": number(queue.next_dispatch_r),
                    "work": number(queue.work),
                    "next": queue.next,
                    "flows": None if queue.flows is None else list(queue.flows),
                    "oldest_waiting_s": number(queue.oldest_waiting_s),
                }


def _requests(told: Json, frame: Frame) -> Iterator[Json]:
    yield from _whose(told["requests"], told)


def _flows(told: Json, frame: Frame) -> Iterator[Json]:
    yield from _whose(told["flows"], told)


def _whose(rows: list[Json], told: Json) -> Iterator[Json]:
    """Rows with their replica, which the report leaves out where there is one only."""
    single = next(iter(told["replicas"]), None)
    yield from ({"replica": single, **row} for row in rows)


def _clients(told: Json, frame: Frame) -> Iterator[Json]:
    for replica, name, level in _each(told, "levels"):
        users: Mapping[str, Any] = level["by_user"] or {}
        waiting, executing = users.get("waiting") or {}, users.get("executing")
        for user in dict.fromkeys((*waiting, *(executing or {}))):
            seats = None if executing is None else executing.get(user, 0)
            about = {"replica": replica, "level": name, "user": user}
            yield {**about, "waiting": waiting.get(user, 0), "executing": seats}


def _replicas(told: Json, frame: Frame) -> Iterator[Json]:
    for name, replica in told["replicas"].items():
        yield {**replica, "replica": name}


def _findings(told: Json, frame: Frame) -> Iterator[Json]:
    yield from told["findings"]


def _checks(told: Json, frame: Frame) -> Iterator[Json]:
    for name, replica in told["replicas"].items():
        yield from ({**check, "replica": name, "level": None} for check in replica["checks"])
    for replica, name, level in _each(told, "levels"):
        yield from ({**check, "replica": replica, "level": name} for check in level["checks"])


def _totals(told: Json, frame: Frame) -> Iterator[Json]:
    for name, level in told["totals"]["levels"].items():
        yield {**level, "level": name}


def _each(told: Json, kind: str) -> Iterator[tuple[str, str, Json]]:
    """All levels or schemas with the name of their replica and their own."""
    for replica, one in told["replicas"].items():
        for name, inner in one[kind].items():
            yield replica, name, inner


_TABLES = {
    "levels": _levels,
    "schemas": _schemas,
    "rejections": _rejections,
    "wait_buckets": _wait_buckets,
    "queues": _queues,
    "requests": _requests,
    "flows": _flows,
    "clients": _clients,
    "replicas": _replicas,
    "findings": _findings,
    "checks": _checks,
    "totals": _totals,
}
