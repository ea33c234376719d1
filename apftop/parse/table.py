"""The layout of the debug dumps: a header line, then rows whose cells start at the rune offsets of their headers.

It is not CSV: nothing is quoted, and cells may hold commas, blanks, even tabs and newlines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from apftop.other_body import UTF8_BOM, UTF16
from apftop.records.parsed import ParseError

_HEADER = re.compile(r"\w+(?:,[ \t]+\w+)+")
_BOMS = ((UTF8_BOM, "utf-8"), (UTF16[0], "utf-16-le"), (UTF16[1], "utf-16-be"))


@dataclass(frozen=True, slots=True)
class Table:
    """A dump cut into lines.

    `offsets` count runes, as the server does; `lines` are those after the header, the first of them being line
    `first` of the body. `unfinished` says that the last line of the body lacks its newline.
    """

    columns: tuple[str, ...]
    offsets: tuple[int, ...]
    lines: tuple[str, ...]
    first: int
    unfinished: bool


class Misaligned(ValueError):
    """A row whose cells do not start where the header says."""


def decode(body: bytes) -> str:
    """The text of a body, one character a rune; a byte that is not UTF-8 counts as one and can be encoded back."""
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, errors="surrogateescape" if encoding == "utf-8" else "replace")
    return body.decode("utf-8", errors="surrogateescape")


def read_table(body: bytes) -> Table:
    """Cut a body into header and lines; raises ParseError where the first line is not a header."""
    # Only "\n" ends a line: splitlines would also cut at form feeds and other marks inside a cell.
    lines = decode(body).split("\n")
    unfinished = lines[-1] != ""
    if not unfinished:
        lines.pop()
    top = next((number for number, line in enumerate(lines) if line.strip()), None)
    if top is None:
        raise ParseError("the body is empty")
    header = lines[top].rstrip()
    if not _HEADER.fullmatch(header):
        raise ParseError(f"line {top + 1} is not the header of a table: {header[:120]!r}")
    if lines[top].endswith("\r"):
        lines = [line.removesuffix("\r") for line in lines]
    starts = [match.span() for match in re.finditer(r"\w+", header)]
    return Table(
        columns=tuple(header[start:end] for start, end in starts),
        offsets=tuple(start for start, _ in starts),
        lines=tuple(lines[top + 1 :]),
        first=top + 2,
        unfinished=unfinished,
    )


class Cutter:
    """Cuts rows at the offsets of one table; equal cells of one table share one string."""

    def __init__(self, offsets: tuple[int, ...]) -> None:
        self._spans = tuple(slice(start, end) for start, end in pairwise(offsets))
        self._last = offsets[-1]
        self._known = _Cells()

    def cut(self, line: str) -> list[str]:
        """The cells of an aligned row without their padding; a row may have lost blanks at its end.

        Raises Misaligned where a column is not preceded by a comma and blanks.
        """
        if len(line) < self._last:
            line = line.ljust(self._last)
        known = self._known
        cells = [known[line[span]] for span in self._spans]
        cells.append(line[self._last :].rstrip(" "))
        return cells


class _Cells(dict[str, str]):
    """Cells by what the line holds between two offsets: the cell, a comma, one or more blanks."""

    def __missing__(self, raw: str) -> str:
        cell = raw.rstrip(" ")
        if not cell.endswith(",") or len(cell) == len(raw):
            raise Misaligned(f"no comma and blank before a column: {raw!r}")
        self[raw] = value = cell[:-1]
        return value


def split_plain(line: str, columns: int) -> list[str]:
    """The cells of a row that holds no comma but those between cells, whatever its padding.

    Raises Misaligned unless there are as many cells as columns.
    """
    cells = [cell.strip(" \t") for cell in line.split(",")]
    if len(cells) != columns:
        raise Misaligned(f"{len(cells)} cells under {columns} columns")
    return cells
