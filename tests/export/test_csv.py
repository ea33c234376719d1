"""CSV: nothing in it is a formula, nothing breaks a line, numbers stay numbers, and pandas reads the right types."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.export.cells import MARK, cell
from apftop.export.lines import csv_head, csv_lines
from apftop.export.tables import chosen
from apftop.present import plain
from tests.export.exporting import BUNDLES, rows, run

(FLOWS,) = chosen(["flows"])
(LEVELS,) = chosen(["levels"])
EMPTY: dict[str, Any] = dict.fromkeys(column.name for column in FLOWS.columns)

FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1+1",
    '"=1+1"',
    "'=1",
    "＝1+1",
    "＋1",
    "－1",
    "＠SUM(A1)",
    "\u00a0=1",
    "-cmd|' /C calc'!A0",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_would_take_for_a_formula_is_text(text: str) -> None:
    found = cell(text)

    assert found.startswith((MARK, "\\x"))
    assert found.removeprefix(MARK) == plain(text)


@pytest.mark.parametrize("text", ["kube-system", "system:node:a=b", "a-1", "/livez", "1", "", "\\x0a", "NA", "#x"])
def test_other_text_is_as_it_was(text: str) -> None:
    assert cell(text) == text


@given(st.text())
def test_taking_one_mark_off_gives_back_the_text(text: str) -> None:
    found = cell(text)

    assert not re.match(r"""[\s"]*[=+\-@＝＋－＠]""", found)
    assert found.removeprefix(MARK) == plain(text)


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_each_row_is_one_line_whatever_the_names(names: list[str]) -> None:
    made = csv_head(FLOWS) + csv_lines(FLOWS, [{**EMPTY, "flow": name, "collides_with": names} for name in names])

    assert made.endswith("\n")
    assert len(made.splitlines()) == 1 + len(names)
    read = list(csv.DictReader(io.StringIO(made, newline="")))
    assert [row["flow"].removeprefix(MARK) for row in read] == [plain(name) for name in names]


def test_pandas_reads_types_and_unknowns(tmp_path: Any) -> None:
    path = tmp_path / "levels.csv"
    assert run(BUNDLES[1], "--to", "csv", "--table", "levels", "-o", path).exit_code == 0
    exact = rows("levels", BUNDLES[1])

    frame = pd.read_csv(
        path, parse_dates=["time"], keep_default_na=False, na_values=[""], dtype_backend="numpy_nullable"
    )

    assert list(frame.columns) == [column.name for column in LEVELS.columns]
    assert str(frame["time"].dtype).startswith("datetime64[") and str(frame["time"].dtype).endswith(", UTC]")
    assert str(frame["nominal_seats"].dtype) == "Int64"
    assert str(frame["dispatched_per_s"].dtype) == "Float64"
    for name in ("limit_delta_seats", "wait_p99_high_s", "dispatched_per_s", "level"):
        assert [None if pd.isna(one) else one for one in frame[name]] == [row[name] for row in exact]
    assert any(row["limit_delta_seats"] < 0 for row in exact if row["limit_delta_seats"] is not None)


def test_what_is_unknown_is_an_empty_cell() -> None:
    made = csv_lines(FLOWS, [{**EMPTY, "seats_in_use": 0}])

    assert made.replace(",", "") == "0\n"
