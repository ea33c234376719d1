"""What apftop makes of what servers said, as series: the numbers of tables whose rows are of one thing at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from apftop.errors import Misuse
from apftop.export.openmetrics_text import head, labels_text, number_text, time_text
from apftop.export.rows import Row
from apftop.export.series import Point
from apftop.export.tables import Column, Table
from apftop.records.parsed import INSTANCE

PREFIXES = {
    "levels": "apftop_level",
    "schemas": "apftop_schema",
    "replicas": "apftop_replica",
    "totals": "apftop_cluster_level",
}
LABELS = {"replica": INSTANCE, "level": "priority_level", "schema": "flow_schema"}
"""The columns that say what a row is of, under the names that API servers give them."""

KEYS = {
    "levels": ("replica", "level"),
    "schemas": ("replica", "schema"),
    "replicas": ("replica",),
    "totals": ("level",),
}
_NUMBERS = ("int", "float", "bool")


def check_series(wanted: Sequence[Table]) -> None:
    """Raise Misuse for a table that is not a series for each thing."""
    for table in wanted:
        if table.name not in PREFIXES:
            raise Misuse("this table is no series", table.name, f"--to openmetrics takes {', '.join(PREFIXES)}")


def heads(wanted: Sequence[Table]) -> dict[str, str]:
    """The heads of all families of these tables, by their name."""
    columns = ((table, column) for table in wanted for column in table.columns if column.type in _NUMBERS)
    return {name: head(name, "gauge", column.about) for table, column in columns if (name := _name(table, column))}


def points(table: Table, rows: Sequence[Row], at_ms: Sequence[int], job: str) -> Iterator[Point]:
    """The points of rows at their times; what is unknown is none."""
    for row, at in zip(rows, at_ms, strict=True):
        about = {LABELS[key]: str(row[key]) for key in KEYS[table.name] if row[key] is not None}
        group, end = labels_text({**about, "job": job}), f" {time_text(at)}\n"
        for column in table.columns:
            if column.type in _NUMBERS and row[column.name] is not None:
                name = _name(table, column)
                yield Point(name, group, at, f"{name}{{{group}}} {number_text(float(row[column.name]))}{end}")


def _name(table: Table, column: Column) -> str:
    name = column.name
    if name.endswith("_per_s"):
        name = name.removesuffix("_s") + "_second"
    elif name.endswith("_s"):
        name = name.removesuffix("_s") + "_seconds"
    return f"{PREFIXES[table.name]}_{name}"
