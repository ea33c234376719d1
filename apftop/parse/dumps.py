"""The three debug dumps of every release, from their bytes to rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from apftop.other_body import describe
from apftop.parse.cells import Remembered, boolean, integer, name, seat_seconds
from apftop.parse.dump_requests import read_requests
from apftop.parse.table import Cutter, Table, read_table, split_plain
from apftop.records.parsed import BadLine, Dump, LevelRow, ParseError, QueueRow, RequestRow

NONE = "<none>"

_MARKS = {
    "dump_requests": {"ArriveTime", "RequestIndexInQueue"},
    "dump_queues": {"Index", "PendingRequests"},
    "dump_priority_levels": {"ActiveQueues", "IsIdle", "IsQuiescing"},
}
_LAST_COLUMNS = {
    "dump_requests": {"AdditionalLatency", "StartTime", "SubResource"},
    "dump_queues": {"TotalWorkSum"},
    "dump_priority_levels": {"ExecutingRequests", "CancelledRequests"},
}
_LEVEL_COLUMNS = (
    "ActiveQueues",
    "IsIdle",
    "IsQuiescing",
    "WaitingRequests",
    "ExecutingRequests",
    "DispatchedRequests",
    "RejectedRequests",
    "TimedoutRequests",
    "CancelledRequests",
)
_QUEUE_COLUMNS = (
    "Index",
    "PendingRequests",
    "ExecutingRequests",
    "SeatsInUse",
    "NextDispatchR",
    "InitialSeatsSum",
    "MaxSeatsSum",
    "TotalWorkSum",
)
_QUEUE_TABLE = ("PriorityLevelName", *_QUEUE_COLUMNS)

_Row = TypeVar("_Row", LevelRow, QueueRow)
_Value = TypeVar("_Value")
_Cells = Mapping[str, str]


def parse_levels(body: bytes) -> Dump[LevelRow]:
    """Read dump_priority_levels; raises ParseError where the body is another thing or is cut.

    Without a final newline nothing tells whether the last number is whole, so that counts as cut.
    """
    table = _open(body, "dump_priority_levels")
    if table.unfinished and table.lines:
        raise ParseError(f"truncated at line {table.first + len(table.lines) - 1}: no newline after its last number")
    return _read_plain(table, _level_row)


def parse_queues(body: bytes) -> Dump[QueueRow]:
    """Read dump_queues, leaving out the `<none>` row of the exempt level; raises ParseError as `parse_levels` does.

    A release without the columns of seats gave each request one seat; a column of R or work that is missing reads 0.
    """
    table = _open(body, "dump_queues")
    return _read_plain(table, _queue_row, _quick_queue if table.columns == _QUEUE_TABLE else None)


def parse_requests(body: bytes) -> Dump[RequestRow]:
    """Read dump_requests with or without details; raises ParseError as `parse_levels` does.

    A release without the columns of seats gave each request one seat and no additional latency.
    """
    return read_requests(_open(body, "dump_requests"))


def _open(body: bytes, wanted: str) -> Table:
    try:
        table = read_table(body)
    except ParseError:
        raise ParseError(f"this is {describe(body)}, not a {wanted} table") from None
    columns = set(table.columns)
    ours = "PriorityLevelName" in columns
    found = next((dump for dump, marks in _MARKS.items() if ours and marks & columns), None)
    if found is not None and found != wanted:
        raise ParseError(f"this is a {found} table, not {wanted}")
    if ours and table.unfinished and not table.lines and table.columns[-1] not in _LAST_COLUMNS[wanted]:
        raise ParseError(f"{wanted} truncated at line {table.first - 1}, in its header")
    if found is None:
        raise ParseError(f"this is a table of {', '.join(table.columns)[:120]}, not {wanted}")
    return table


def _read_plain(
    table: Table,
    make: Callable[[_Cells], _Row | None],
    quick: Callable[[list[str], Remembered[int]], _Row] | None = None,
) -> Dump[_Row]:
    """All rows; `quick` reads the cells of a usual one in less time, and raises ValueError for any other."""
    rows: list[_Row] = []
    bad: list[BadLine] = []
    cutter = Cutter(table.offsets)
    last = len(table.lines) - 1
    integers = Remembered(integer)
    for index, line in enumerate(table.lines):
        if quick is not None and not (table.unfinished and index == last):
            try:
                rows.append(quick(cutter.cut(line), integers))
                continue
            except ValueError:
                pass
        if not line.strip():
            continue
        try:
            row = _read_line(line, table, cutter, make)
        except ValueError as error:
            row, why = None, str(error)
        else:
            why = ""
        if table.unfinished and index == last and (why or len(line) < table.offsets[-1]):
            raise ParseError(f"truncated at line {table.first + index}: {line[:120]!r}")
        if why:
            bad.append(BadLine(table.first + index, line, why))
        elif row is not None:
            rows.append(row)
    return Dump(table.columns, tuple(rows), tuple(bad))


def _read_line(line: str, table: Table, cutter: Cutter, make: Callable[[_Cells], _Row | None]) -> _Row | None:
    try:
        return make(dict(zip(table.columns, cutter.cut(line), strict=True)))
    except ValueError:
        # No cell of these two dumps may hold a comma, so that a table somebody laid out anew can still be read.
        return make(dict(zip(table.columns, split_plain(line, len(table.columns)), strict=True)))


def _level_row(cells: _Cells) -> LevelRow:
    return LevelRow(
        name=name(cells["PriorityLevelName"]),
        active_queues=_optional(cells, "ActiveQueues", integer),
        is_idle=_optional(cells, "IsIdle", boolean),
        is_quiescing=_optional(cells, "IsQuiescing", boolean),
        waiting=_optional(cells, "WaitingRequests", integer),
        executing=_optional(cells, "ExecutingRequests", integer),
        dispatched=_optional(cells, "DispatchedRequests", integer),
        rejected=_optional(cells, "RejectedRequests", integer),
        timed_out=_optional(cells, "TimedoutRequests", integer),
        cancelled=_optional(cells, "CancelledRequests", integer),
        extra=_extra(cells, _LEVEL_COLUMNS),
    )


def _queue_row(cells: _Cells) -> QueueRow | None:
    level = name(cells["PriorityLevelName"])
    if all(cells[column] == NONE for column in cells if column != "PriorityLevelName"):
        return None
    pending = _required(cells, "PendingRequests")
    executing = _required(cells, "ExecutingRequests")
    return QueueRow(
        level=level,
        index=_required(cells, "Index"),
        pending=pending,
        executing=executing,
        seats_in_use=_integer_or(cells, "SeatsInUse", executing),
        next_dispatch_r=seat_seconds(cells.get("NextDispatchR", "0.00000000ss")),
        initial_seats_sum=_integer_or(cells, "InitialSeatsSum", pending),
        max_seats_sum=_integer_or(cells, "MaxSeatsSum", pending),
        total_work=seat_seconds(cells.get("TotalWorkSum", "0.00000000ss")),
        extra=_extra(cells, _QUEUE_COLUMNS),
    )


def _quick_queue(cells: list[str], integers: Remembered[int]) -> QueueRow:
    """A row of `_QUEUE_TABLE`; raises ValueError where it is an unusual one."""
    level, index, pending, executing, seats, dispatch_r, initial, most, work = cells
    return QueueRow(
        name(level),
        integers[index],
        integers[pending],
        integers[executing],
        integers[seats],
        seat_seconds(dispatch_r),
        integers[initial],
        integers[most],
        seat_seconds(work),
    )


def _optional(cells: _Cells, column: str, read: Callable[[str], _Value]) -> _Value | None:
    text = cells.get(column, NONE)
    if text == NONE:
        return None
    try:
        return read(text)
    except ValueError as error:
        raise ValueError(f"{column}: {error}") from None


def _required(cells: _Cells, column: str) -> int:
    if column not in cells:
        raise ValueError(f"the table has no column {column}")
    try:
        return integer(cells[column])
    except ValueError as error:
        raise ValueError(f"{column}: {error}") from None


def _integer_or(cells: _Cells, column: str, default: int) -> int:
    return _required(cells, column) if column in cells else default


def _extra(cells: _Cells, known: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (column, text) for column, text in cells.items() if column not in known and column != "PriorityLevelName"
    )
