"""The debug dumps with other names, laid out anew: all numbers and times stay, and so do their columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from apftop.parse.cells import NANOSECONDS, ZERO_TIME
from apftop.parse.dumps import NONE, parse_levels, parse_queues, parse_requests
from apftop.records.parsed import Details, LevelRow, QueueRow, RequestRow
from apftop.redacting import words
from apftop.redacting.pseudonyms import Kind, Naming

LEAST_WIDTH = 8
LEFT_OUT = "(left out)"
"""Stands for a line that cannot be read."""

UNKNOWN = "-"
"""Stands for what is in a column that is not known."""

Read = Callable[..., object]

Whose = Callable[[RequestRow], str]
"""How the flows of a row's schema are told apart where the dump does not show it: ByUser, ByNamespace or nothing."""

_LEVEL: dict[str, Callable[[LevelRow], object]] = {
    "ActiveQueues": lambda row: row.active_queues,
    "IsIdle": lambda row: row.is_idle,
    "IsQuiescing": lambda row: row.is_quiescing,
    "WaitingRequests": lambda row: row.waiting,
    "ExecutingRequests": lambda row: row.executing,
    "DispatchedRequests": lambda row: row.dispatched,
    "RejectedRequests": lambda row: row.rejected,
    "TimedoutRequests": lambda row: row.timed_out,
    "CancelledRequests": lambda row: row.cancelled,
}
_QUEUE: dict[str, Callable[[QueueRow], object]] = {
    "Index": lambda row: row.index,
    "PendingRequests": lambda row: row.pending,
    "ExecutingRequests": lambda row: row.executing,
    "SeatsInUse": lambda row: row.seats_in_use,
    "NextDispatchR": lambda row: _seat_seconds(row.next_dispatch_r),
    "InitialSeatsSum": lambda row: row.initial_seats_sum,
    "MaxSeatsSum": lambda row: row.max_seats_sum,
    "TotalWorkSum": lambda row: _seat_seconds(row.total_work),
}
_REQUEST: dict[str, Callable[[RequestRow], object]] = {
    "QueueIndex": lambda row: row.queue,
    "RequestIndexInQueue": lambda row: row.index,
    "ArriveTime": lambda row: _instant(row.arrive_ns),
    "InitialSeats": lambda row: row.initial_seats,
    "FinalSeats": lambda row: row.final_seats,
    "AdditionalLatency": lambda row: row.additional_latency,
    "StartTime": lambda row: ZERO_TIME if row.start_ns is None else _instant(row.start_ns),
}
_DETAIL: dict[str, Callable[[Details, Naming], str]] = {
    "UserName": lambda one, naming: words.user(one.user, naming),
    "Verb": lambda one, naming: words.verb(one.verb, naming),
    "APIPath": lambda one, naming: words.path(one.path, naming),
    "Namespace": lambda one, naming: naming(Kind.NAMESPACE, one.namespace),
    "Name": lambda one, naming: words.named(one.name, one.resource, naming),
    "APIVersion": lambda one, naming: words.version(one.api_version, naming),
    "Resource": lambda one, naming: naming(Kind.RESOURCE, one.resource),
    "SubResource": lambda one, naming: naming(Kind.SUBRESOURCE, one.subresource),
}
_FLOW = ("FlowDistingsher", "FlowDistinguisher")
_CAMEL = re.compile(r"[A-Z][A-Za-z]{1,40}")
"""What servers call their columns, also those of releases to come, which the report names."""
Told = tuple[bytes, tuple[str, ...]]
"""A body, and what was left out of it, in words."""


def levels(body: bytes, naming: Naming) -> Told:
    """dump_priority_levels. Raises ParseError where it cannot be read."""
    dump = parse_levels(body)
    return _table(
        dump.columns,
        ([_cell(one, row, row.name, _LEVEL, naming) for one in dump.columns] for row in dump.rows),
        len(dump.bad),
    )


def queues(body: bytes, naming: Naming) -> Told:
    """dump_queues, without the row of the exempt level, which has none. Raises ParseError where it cannot be read."""
    dump = parse_queues(body)
    return _table(
        dump.columns,
        ([_cell(one, row, row.level, _QUEUE, naming) for one in dump.columns] for row in dump.rows),
        len(dump.bad),
    )


def requests(body: bytes, naming: Naming, whose: Whose) -> Told:
    """dump_requests. Raises ParseError where it cannot be read."""
    dump = parse_requests(body)
    rows = ([_request_cell(one, row, naming, whose) for one in dump.columns] for row in dump.rows)
    return _table(dump.columns, rows, len(dump.bad))


def distinguisher(row: RequestRow, naming: Naming, whose: Whose) -> str:
    """What tells a row's flow apart, under other names."""
    text, details = row.distinguisher, row.details
    if details is not None and text == details.user != details.namespace:
        return words.user(text, naming)
    if details is not None and text == details.namespace != details.user:
        return naming(Kind.NAMESPACE, text)
    return naming(Kind.NAMESPACE, text) if whose(row) == "ByNamespace" else words.user(text, naming)


def _request_cell(column: str, row: RequestRow, naming: Naming, whose: Whose) -> str:
    if column == "PriorityLevelName":
        return naming(Kind.LEVEL, row.level)
    if column == "FlowSchemaName":
        return naming(Kind.SCHEMA, row.schema)
    if column in _FLOW:
        return distinguisher(row, naming, whose)
    if column in _DETAIL:
        return _DETAIL[column](row.details, naming) if row.details is not None else ""
    return str(_REQUEST[column](row)) if column in _REQUEST else UNKNOWN


def _cell(column: str, row: LevelRow | QueueRow, level: str, known: Mapping[str, Read], naming: Naming) -> str:
    if column == "PriorityLevelName":
        return naming(Kind.LEVEL, level)
    value = known[column](row) if column in known else UNKNOWN
    return NONE if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], bad: int) -> Told:
    """Cells joined by a comma, each column but the last as wide as its longest cell with a comma and a blank."""
    table = [[one if _CAMEL.fullmatch(one) else f"Column{at}" for at, one in enumerate(columns)], *rows]
    widths = [max(LEAST_WIDTH, max(len(row[at]) for row in table) + 2) for at in range(len(columns) - 1)]
    lines = [
        "".join([f"{cell},".ljust(width) for cell, width in zip(row, widths, strict=False)] + [row[-1]])
        for row in table
    ]
    told = (f"{bad} lines that cannot be read",) if bad else ()
    return "".join(f"{line}\n" for line in (*lines, *[LEFT_OUT] * bad)).encode(), told


def _seat_seconds(units: int) -> str:
    sign = "-" if units < 0 else ""
    return f"{sign}{abs(units) // 100_000_000}.{abs(units) % 100_000_000:08d}ss"


def _instant(nanoseconds: int) -> str:
    """RFC 3339 in UTC; zeros at the end of the fraction are dropped."""
    seconds, part = divmod(nanoseconds, NANOSECONDS)
    fraction = f".{part:09d}".rstrip("0") if part else ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S") + fraction + "Z"
