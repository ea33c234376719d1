"""The rows of dump_requests: cut at the header's offsets, and by structure where a field moved the cells."""

from __future__ import annotations

from collections.abc import Callable

from apftop.apf.request_path import path_parts
from apftop.parse.cells import ZERO_TIME, Remembered, duration_ns, integer, name, unix_ns
from apftop.parse.request_structure import DETAILS, DISTINGUISHERS, agrees, read_structure, starts_row
from apftop.parse.table import Cutter, Table
from apftop.records.parsed import BadLine, Details, Dump, ParseError, RequestRow

_REQUIRED = ("PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "ArriveTime")
_DEFAULTS = {"InitialSeats": "1", "FinalSeats": "0", "AdditionalLatency": "0s", "StartTime": ZERO_TIME}
_KNOWN = frozenset((*_REQUIRED, *_DEFAULTS, *DISTINGUISHERS, *DETAILS))
_MOST_LINES = 16

_Make = Callable[[list[str]], RequestRow]


def read_requests(table: Table) -> Dump[RequestRow]:
    """Read every line of a dump_requests table; raises ParseError where it lacks a column or ends in mid-row."""
    return _Reader(table).read()


class _Reader:
    """One pass over the lines of one table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._make = _row_maker(table.columns)
        self._cut = Cutter(table.offsets).cut
        # The server writes no tab unless a field has switched its alignment off.
        self._moved = any("\t" in line for line in table.lines)

    def read(self) -> Dump[RequestRow]:
        lines, make, cut = self._table.lines, self._make, self._cut
        rows: list[RequestRow] = []
        bad: list[BadLine] = []
        whole = len(lines) - 1 if self._table.unfinished and lines else len(lines)
        index, fitted = 0, -1
        while index < whole:
            line = lines[index]
            try:
                row = make(cut(line))
                if not self._moved or _agrees(row):
                    rows.append(row)
                    fitted = index
                    index += 1
                    continue
                why = "the path says otherwise than the other cells"
            except ValueError as error:
                why = str(error)
            if not line.strip():
                index += 1
                continue
            # The lines below a field with a newline have columns of their own: a fit may be chance from here on.
            self._moved = True
            if index and fitted == index - 1 and not starts_row(line) and not _agrees(rows[-1]):
                # The line above fitted by chance: it is only the first half of a row.
                rows.pop()
                index, fitted = index - 1, -1
            odd = self._by_structure(index, whole)
            if isinstance(odd, str):
                bad.append(BadLine(self._table.first + index, lines[index], odd or why))
                index += 1
            else:
                found, used = odd
                rows.append(found)
                index += used
        if whole < len(lines) and lines[whole].strip():
            rows.append(self._unfinished(lines[whole]))
        return Dump(self._table.columns, tuple(rows), tuple(bad))

    def _by_structure(self, index: int, whole: int) -> tuple[RequestRow, int] | str:
        """The row that starts at a line and the number of lines it takes, or why there is none."""
        lines = self._table.lines
        if not starts_row(lines[index]):
            return ""
        end = index + 1
        while end < whole and not starts_row(lines[end]):
            end += 1
            if end - index > _MOST_LINES:
                return f"no next row within {_MOST_LINES} lines"
        while not lines[end - 1].strip():
            end -= 1
        try:
            # All lines up to the next row, never fewer: the first ones may look like a row and be half of one.
            return self._make(read_structure("\n".join(lines[index:end]), self._table.columns)), end - index
        except ValueError as error:
            return str(error)

    def _unfinished(self, line: str) -> RequestRow:
        """The last row of a body without a final newline, if it cannot be a cut one."""
        try:
            row = self._make(self._cut(line))
        except ValueError:
            row = None
        if row is None or not self._ends_well(row, line) or (self._moved and not _agrees(row)):
            number = self._table.first + len(self._table.lines) - 1
            raise ParseError(f"dump_requests truncated at line {number}: {line[:120]!r}")
        return row

    def _ends_well(self, row: RequestRow, line: str) -> bool:
        last = self._table.columns[-1]
        if row.details is not None and last == "SubResource" and row.details.path:
            expected = path_parts(row.details.path).subresource
            return row.details.subresource == expected or not expected.startswith(row.details.subresource)
        return len(line) >= self._table.offsets[-1]


def _agrees(row: RequestRow) -> bool:
    return row.details is None or agrees(row.details, row.distinguisher)


def _row_maker(columns: tuple[str, ...]) -> _Make:
    """A function from the cells of a row to the row; it raises ValueError where a cell is not of its type."""
    missing = [column for column in _REQUIRED if column not in columns]
    if missing:
        raise ParseError(f"dump_requests has no column {', '.join(missing)}")
    names = list(columns)
    defaults: list[str] = []

    def place(*alternatives: str) -> int:
        for column in alternatives:
            if column in names:
                return names.index(column)
        names.append(alternatives[0])
        defaults.append(_DEFAULTS.get(alternatives[0], ""))
        return len(names) - 1

    level, schema, queue, index, arrive = map(place, _REQUIRED)
    distinguisher = place(*DISTINGUISHERS)
    initial, final, latency, start = map(place, _DEFAULTS)
    last = len(columns) - 1
    has_details = any(column in columns for column in DETAILS)
    user, verb, path, namespace, object_name, version, resource, subresource = map(place, DETAILS)
    extra = [(column, at) for at, column in enumerate(columns) if column not in _KNOWN]

    level_names, integers, durations = Remembered(name), Remembered(integer), Remembered(duration_ns)

    def make(cells: list[str]) -> RequestRow:
        if defaults:
            cells = cells + defaults
        if has_details:
            details = Details(
                cells[user],
                cells[verb],
                cells[path],
                cells[namespace],
                cells[object_name],
                cells[version],
                cells[resource],
                cells[subresource],
            )
            # A tab behind a comma makes one cell more, and the last column then holds two.
            doubtful = ", " in cells[last] or cells[last].endswith(",")
            if doubtful and not agrees(details, cells[distinguisher]):
                raise ValueError("more cells than columns")
        else:
            details = None
        started = cells[start]
        return RequestRow(
            level_names[cells[level]],
            level_names[cells[schema]],
            integers[cells[queue]],
            integers[cells[index]],
            cells[distinguisher],
            unix_ns(cells[arrive]),
            integers[cells[initial]],
            integers[cells[final]],
            durations[cells[latency]],
            cells[latency],
            None if started == ZERO_TIME else unix_ns(started),
            details,
            tuple((column, cells[at]) for column, at in extra) if extra else (),
        )

    return make
