"""The order of rows: by any column, and held while values move."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from apftop.sheets.sheet import Row, RowKey, Value

Sortable = tuple[int, tuple[float, float], str]


def ordered(rows: Sequence[Row], at: int, *, descending: bool) -> tuple[Row, ...]:
    """Rows by the values of the column in that place, equal ones by their keys; unknown ones last, both ways."""
    known = sorted((row for row in rows if row.cells[at].value is not None), key=_key)
    known.sort(key=lambda row: _sortable(row.cells[at].value), reverse=descending)
    unknown = sorted((row for row in rows if row.cells[at].value is None), key=_key)
    return (*known, *unknown)


def held(rows: Sequence[Row], keys: Iterable[RowKey]) -> tuple[Row, ...]:
    """Rows in a held order: what has vanished is left out, what is new comes after."""
    by_key = {row.key: row for row in rows}
    first = [by_key.pop(key) for key in keys if key in by_key]
    return (*first, *by_key.values())


def _key(row: Row) -> RowKey:
    return row.key


def _sortable(value: Value) -> Sortable:
    """Numbers before texts; an interval by its lower bound, then by its upper one."""
    if isinstance(value, tuple):
        return 0, value, ""
    if isinstance(value, str):
        return 1, (0.0, 0.0), value.casefold()
    return 0, (value or 0.0, value or 0.0), ""
