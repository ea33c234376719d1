"""Which tables there are and what their columns are, read from `tables.toml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from apftop.errors import Misuse

Type = Literal["time", "text", "int", "float", "bool", "json"]


class Column(msgspec.Struct, frozen=True, array_like=True):
    """One column; `path` is where its value lies in a row: keys and places in lists, between slashes."""

    name: str
    type: Type
    unit: str
    path: str
    about: str


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    about: str
    columns: tuple[Column, ...]


class Table(msgspec.Struct, frozen=True):
    """One table in long form: a row is one thing at one time."""

    name: str
    about: str
    columns: tuple[Column, ...]


OF_TAPES = ("marks", "pulses")
"""Tables that have rows of a tape only."""


@cache
def tables() -> Mapping[str, Table]:
    """All tables by name; their list ships with the package."""
    text = files("apftop.export").joinpath("tables.toml").read_bytes()
    found = msgspec.toml.decode(text, type=dict[str, _Table])
    return {name: Table(name, one.about, one.columns) for name, one in found.items()}


def chosen(names: Sequence[str]) -> tuple[Table, ...]:
    """The tables of these names, all of them for none. Raises Misuse for a name that no table has."""
    known = tables()
    for name in names:
        if name not in known:
            raise Misuse("there is no such table", name, f"there are {', '.join(known)}")
    return tuple(known[name] for name in dict.fromkeys(names)) or tuple(known.values())


def columns_text() -> str:
    """All tables with their columns, types, units and meanings, as text."""
    lines: list[str] = []
    for table in tables().values():
        lines += ["", f"{table.name}: {table.about}"]
        width = max(len(column.name) for column in table.columns)
        for column in table.columns:
            unit = f" [{column.unit}]" if column.unit else ""
            lines.append(f"  {column.name:<{width}}  {column.type:<5}  {column.about}{unit}")
    return "\n".join(lines[1:])
