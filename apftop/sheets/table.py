"""One view before the reader's filter and order: its columns, and its rows with trouble first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from apftop.sheets.sheet import Cell, Column, Row, RowKey

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shown(Generic[T]):
    """A column and how its cells are made of what a row is about."""

    column: Column
    cell: Callable[[T], Cell]


@dataclass(frozen=True, slots=True)
class Table:
    """One view: `idle` are the rows in which nothing happens, `empty` says why there are none, `notes` what lacks.

    `facts` are about all that is looked at.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    idle: frozenset[RowKey]
    empty: str
    notes: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()


def cells_of(shown: Iterable[Shown[T]], line: T) -> tuple[Cell, ...]:
    """The cells of one row."""
    return tuple([one.cell(line) for one in shown])


def columns_of(shown: Iterable[Shown[T]], *, totals: bool) -> tuple[Column, ...]:
    """The columns; those of rates say that they hold counts where these are asked for."""
    return tuple(_counting(one.column) if totals else one.column for one in shown)


def _counting(column: Column) -> Column:
    if not column.title.endswith("/S"):
        return column
    help_text = column.help.replace("a second", "over the window")
    return replace(column, title=column.title.removesuffix("/S"), help=help_text)
