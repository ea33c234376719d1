"""A table of text cells with marks, for the screen and for plain text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import msgspec

Mark = Literal["", "bad", "warn", "good", "dim", "own"]
"""What a cell or row means besides its text. No mark is the only sign of anything: the text says it too."""

RowKey = tuple[str, ...]
"""Names a row for as long as it is about the same thing, whatever its place or values. Foreign text: never shown."""

Value = float | str | tuple[float, float] | None
"""What a cell is sorted and filtered by; a pair is an interval, None is unknown and comes last."""

Kind = Literal["text", "number", "seconds", "share", "trend"]
"""What a column holds: text lies left, all else right. A share is of one, and shown in percent."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its title, what it holds, and what its numbers mean.

    `width` is the least width in terminal cells, and `most` the greatest one of text that may be cut to fit; 0 means
    that the column is as wide as its cells need and never cut. Of text that is cut the beginning is left, or the end
    with `ends`, which is where users differ. As the screen narrows, columns of the highest `rank` go first; rank 0
    never does. `help` is its meaning with its unit, `source` where its numbers come from.
    """

    key: str
    title: str
    width: int
    help: str
    source: str
    kind: Kind = "number"
    most: int = 0
    rank: int = 0
    ends: bool = False

    @property
    def right(self) -> bool:
        """Whether its cells lie at the right edge."""
        return self.kind != "text"


class Cell(msgspec.Struct, frozen=True):
    """The text of one cell, safe for any terminal, its mark, and its value for sorting and filtering."""

    text: str
    value: Value = None
    mark: Mark = ""


class Row(msgspec.Struct, frozen=True):
    """One row: a cell for each column, and where `enter` leads from it (see `Look.drilled`).

    `subject` are the names of the `level` and of the `replica` that it is about, as far as it is about one: those whose
    checks `m` shows.
    """

    key: RowKey
    cells: tuple[Cell, ...]
    mark: Mark = ""
    about: Mapping[str, str] | None = None
    subject: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """One view: rows in order.

    `whole` is how many rows there are without the filter, `empty` why there are none. `facts` are about all that is
    looked at, `notes` say what of it is not known and why, one line each. `fault` is what is wrong with the filter,
    which then hides nothing. `sorted_by` is a column's key, or empty for the view's own order: trouble first.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    whole: int
    empty: str = ""
    facts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fault: str = ""
    sorted_by: str = ""
    descending: bool = False
