"""Batches of rows onto the disk, or one table to standard output."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Protocol

from apftop import __version__
from apftop.export.lines import csv_head, csv_lines, json_lines
from apftop.export.parquet import ParquetFile
from apftop.export.rows import Row
from apftop.export.tables import Table
from apftop.export.targets import new_file, new_folder, spool
from apftop.output import write

Batches = Iterable[tuple[Table, Sequence[Row]]]
SCHEMA = "apftop.export/1"
LINES = 1000


class RowFile(Protocol):
    """A file that takes rows."""

    def write(self, rows: Sequence[Row]) -> None:
        """Add rows."""

    def close(self) -> None:
        """End the file."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A format of lines: what is before the rows of a table, and the rows."""

    head: Callable[[Table], str]
    rows: Callable[[Table, Sequence[Row]], str]


FORMATS = {"csv": Lines(csv_head, csv_lines), "jsonl": Lines(lambda _: "", json_lines)}


class _LineFile:
    def __init__(self, path: Path, table: Table, form: Lines) -> None:
        self._table, self._form = table, form
        self._file = path.open("w", encoding="utf-8", errors="backslashreplace", newline="")
        self._file.write(form.head(table))

    def write(self, rows: Sequence[Row]) -> None:
        self._file.write(self._form.rows(self._table, rows))

    def close(self) -> None:
        self._file.close()


def _file(to: str, path: Path, table: Table) -> RowFile:
    return ParquetFile(path, table) if to == "parquet" else _LineFile(path, table, FORMATS[to])


def to_folder(batches: Batches, to: str, wanted: Sequence[Table], target: Path, *, force: bool) -> None:
    """Each table as a file in a folder. Raises Trouble where it cannot be written; then nothing of it stays."""
    with new_folder(target, force=force) as folder, ExitStack() as stack:
        files: dict[str, RowFile] = {}
        for table in wanted:
            files[table.name] = _file(to, folder / f"{table.name}.{to}", table)
            stack.callback(files[table.name].close)
        for table, rows in batches:
            files[table.name].write(rows)


def to_file(batches: Batches, to: str, table: Table, target: Path, *, force: bool) -> None:
    """One table as a file. Raises Trouble where it cannot be written; then nothing of it stays."""
    with new_file(target, force=force) as path, closing(_file(to, path, table)) as file:
        for _, rows in batches:
            file.write(rows)


def to_output(batches: Batches, to: str, table: Table) -> None:
    """One table to standard output, as it comes."""
    form = FORMATS[to]
    if head := form.head(table):
        write(head)
    for _, rows in batches:
        if lines := form.rows(table, rows):
            write(lines)


def to_json(batches: Batches, wanted: Sequence[Table], target: Path | None, *, force: bool) -> None:
    """All tables as one JSON object, `tables` by name; to standard output without a target."""
    with ExitStack() as stack:
        spools = {table.name: stack.enter_context(spool()) for table in wanted}
        for table, rows in batches:
            spools[table.name].write(json_lines(table, rows).encode("utf-8", "backslashreplace"))
        pieces = _json(spools)
        if target is None:
            for piece in pieces:
                write(piece)
            return
        with new_file(target, force=force) as path, path.open("w", encoding="utf-8", newline="") as file:
            for piece in pieces:
                file.write(piece + "\n")


def _json(spools: Mapping[str, IO[bytes]]) -> Iterator[str]:
    """The object in pieces, each a few lines."""
    yield f'{{"schema": {json.dumps(SCHEMA)}, "apftop": {json.dumps(__version__)}, "tables": {{'
    for number, (name, lines) in enumerate(spools.items()):
        lines.seek(0)
        before = f"{json.dumps(name)}: ["
        while some := list(islice(lines, LINES)):
            yield before + ",\n".join(line.decode().rstrip("\n") for line in some)
            before = ","
        end = "]" if number + 1 == len(spools) else "],"
        yield end if before == "," else before + end
    yield "}}"
