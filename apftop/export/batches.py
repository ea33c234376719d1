"""Rows in batches: a tape of any length goes through a memory of one size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from apftop.export.rows import Row, rows_of, rows_of_notes
from apftop.export.shots import notes, shots
from apftop.export.source import Asked, Source
from apftop.export.tables import OF_TAPES, Table

ROWS = 5000
"""At most so many rows of a table are held."""


def batches(
    source: Source, asked: Asked, wanted: Sequence[Table], told: list[str]
) -> Iterator[tuple[Table, Sequence[Row]]]:
    """The rows of the wanted tables in order of time; each table comes at least once, be it without rows."""
    tables = {table.name: table for table in wanted}
    held: dict[str, list[Row]] = {name: [] for name in tables}
    for name, row in _rows(source, asked, tuple(wanted), told):
        held[name].append(row)
        if len(held[name]) >= ROWS:
            yield tables[name], held[name]
            held[name] = []
    for name, rows in held.items():
        yield tables[name], rows


def _rows(source: Source, asked: Asked, wanted: tuple[Table, ...], told: list[str]) -> Iterator[tuple[str, Row]]:
    yield from rows_of_notes(notes(source, asked), wanted)
    if any(table.name not in OF_TAPES for table in wanted):
        for shot in shots(source, asked, told):
            yield from rows_of(shot, wanted)
