"""Rows as lines of CSV (RFC 4180, but a line ends in LF) and of JSON Lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from apftop.export.cells import cell
from apftop.export.rows import Row
from apftop.export.tables import Column, Table
from apftop.present import json_text


def csv_head(table: Table) -> str:
    """The line with the names of columns."""
    return ",".join(column.name for column in table.columns) + "\n"


def csv_lines(table: Table, rows: Sequence[Row]) -> str:
    """A line each; what is unknown is empty, and numbers stay numbers."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerows([_csv(column, row[column.name]) for column in table.columns] for row in rows)
    return lines.getvalue()


def _csv(column: Column, value: Any) -> Any:
    if value is None:
        return ""
    if column.type == "bool":
        return "true" if value else "false"
    if column.type == "json":
        return json_text(json.dumps(value, ensure_ascii=False))
    return cell(value) if column.type == "text" else value


def json_lines(table: Table, rows: Sequence[Row]) -> str:
    """A line each; names are exact, what is unknown is null."""
    return "".join(json_text(json.dumps(row, ensure_ascii=False, allow_nan=False)) + "\n" for row in rows)
