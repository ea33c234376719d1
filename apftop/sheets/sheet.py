"""A table of text cells with marks, for the screen and for plain text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Mark = Literal["", "bad", "warn", "good", "dim", "own"]
"""What a cell or row means besides its text. No mark is the only sign of anything: the text says it too."""

RowKey = tuple[str, ...]
"""Names a row for as long as it is about the same thing, whatever its place or values."""

Value = float | str | None
"""What a cell is sorted and filtered by; None is unknown and comes last."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its title, how it lies, and what its numbers mean.

    `width` is the least and `most` the greatest width in characters. As the screen narrows, columns of the highest
    `rank` go first; rank 0 never does. `help` is its meaning with its unit, `source` where its numbers come from.
    """

    key: str
    title: str
    width: int
    help: str
    source: str
    most: int = 0
    right: bool = True
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of one cell, safe for any terminal, its mark, and its value for sorting and filtering."""

    text: str
    value: Value = None
    mark: Mark = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a cell for each column, and where `enter` leads from it (see `Look.drilled`)."""

    key: RowKey
    cells: tuple[Cell, ...]
    mark: Mark = ""
    about: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """One view: rows in order. `whole` is how many rows there are without the filter, `empty` why there are none."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    whole: int
    empty: str = ""
