"""Rows as pandas DataFrames with the right types; and a whole tape or bundle as such, for notebooks."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apftop.export.batches import batches
from apftop.export.rows import Row
from apftop.export.source import Asked, opened
from apftop.export.tables import Table, Type, chosen

if TYPE_CHECKING:
    import pandas as pd

DTYPES: Mapping[Type, str] = {
    "time": "datetime64[ms, UTC]",
    "text": "string",
    "int": "Int64",
    "float": "float64",
    "bool": "boolean",
    "json": "string",
}
"""Integers and truth values stay so beside unknown ones; a list or an object is its JSON text."""


def data_frame(table: Table, rows: Sequence[Row], text: Callable[[str], str] | None = None) -> pd.DataFrame:
    """Rows of a table as a DataFrame of DTYPES; `text` is what is made of each text."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for column in table.columns:
        values = [row[column.name] for row in rows]
        if column.type == "json":
            values = [None if one is None else json.dumps(one, ensure_ascii=False) for one in values]
        if text is not None and column.type in ("text", "json"):
            values = [None if one is None else text(one) for one in values]
        if column.type == "time":
            times = pd.to_datetime(pd.Series(values, dtype="string"), utc=True, format="ISO8601")
            columns[column.name] = times.astype("datetime64[ms, UTC]")
        else:
            columns[column.name] = pd.Series(values, dtype=DTYPES[column.type])
    return pd.DataFrame(columns)


def data_frames(
    path: Path | str,
    *,
    tables: Sequence[str] = (),
    at: str | None = None,
    between: tuple[str, str] | None = None,
    every_s: float | None = None,
) -> Mapping[str, pd.DataFrame]:
    """The tables of a tape or a bundle by name, all of them for none named, each whole in memory.

    `at` and `between` are times of a tape as `apftop export` takes them; its moments are `every_s` seconds apart (5).
    Raises Trouble for what cannot be read, and names of tables that there are not.
    """
    wanted = chosen(tables)
    rows: dict[str, list[Row]] = {table.name: [] for table in wanted}
    with opened(Path(path)) as source:
        for table, some in batches(source, Asked(at, between, every_s), wanted, []):
            rows[table.name] += some
    return {table.name: data_frame(table, rows[table.name]) for table in wanted}
