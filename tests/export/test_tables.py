"""The list of tables and columns is complete, says its units, and is shown as it is."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from apftop.export.batches import batches
from apftop.export.source import Asked, opened
from apftop.export.tables import OF_TAPES, chosen, tables
from tests.export.exporting import BUNDLES, run, tape

ENDINGS = {
    "seats": "_seats|seats_in_use|seats_idle",
    "requests": "_requests",
    "requests per second": "_per_s",
    "seconds": "_s",
    "seat-seconds": "_seat_s",
    "ratio": "_ratio",
    "share of time": "_ratio",
    "bytes": "_bytes",
    "flows": "flows|flows_waiting",
    "queues": "queues|active_queues",
    "API servers": "replicas",
}


def test_columns_have_names_of_their_own_that_end_in_their_unit() -> None:
    for table in tables().values():
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(names)
        assert names[0] == "time"
        for column in table.columns:
            assert column.about, f"{table.name}.{column.name}"
            if column.unit and column.unit != "see unit":
                assert re.search(f"({ENDINGS[column.unit]})$", column.name), f"{table.name}.{column.name}"
            assert column.type in ("int", "float") or not column.unit


def test_each_column_is_filled_by_some_real_source(tmp_path: Path) -> None:
    filled: defaultdict[str, set[str]] = defaultdict(set)
    for path in (*BUNDLES, tape(tmp_path)):
        with opened(path) as source:
            for table, rows in batches(source, Asked(every_s=60.0), chosen(()), []):
                for row in rows:
                    filled[table.name] |= {name for name, value in row.items() if value is not None}

    lacking = {
        (table.name, column.name)
        for table in tables().values()
        if table.name not in OF_TAPES
        for column in table.columns
        if column.name not in filled[table.name]
    }
    assert lacking == set()


def test_all_columns_are_told() -> None:
    told = run("--columns").stdout

    for table in tables().values():
        assert f"\n{table.name}: {table.about}" in f"\n{told}"
        for column in table.columns:
            assert re.search(rf"^  {column.name} +{column.type} +{re.escape(column.about)}", told, re.MULTILINE)


@pytest.mark.parametrize("name", ["level", "levels ", ""])
def test_a_table_that_there_is_not_is_answered_with_those_that_there_are(name: str) -> None:
    result = run(BUNDLES[0], "--to", "csv", "--table", name)

    assert "there is no such table" in str(result.exception)
    assert all(table in str(result.exception) for table in tables())
