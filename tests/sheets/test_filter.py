"""The filter language."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.sheets.filter import FilterError, matching, parse
from apftop.sheets.look import View
from apftop.sheets.sheet import Cell, Column, Row
from tests.sheets.moments import case, cell, seen

COLUMNS = (
    Column("level", "LEVEL", 8, "h", "s", "text", most=20),
    Column("waiting", "WAITING", 8, "h", "s"),
    Column("dispatched", "DISP/S", 8, "h", "s"),
    Column("wait_p95", "WAIT p95", 8, "h", "s", "seconds"),
    Column("full", "FULL", 8, "h", "s", "share"),
)


def a_row(name: str, waiting: float | None, wait: tuple[float, float] | float | None, full: float | None) -> Row:
    return Row(
        (name,),
        (
            Cell(name, name),
            Cell("-" if waiting is None else f"{waiting:g}", waiting),
            Cell("1.50", 1.5),
            Cell("-" if wait is None else str(wait), wait),
            Cell("-" if full is None else f"{full:.0%}", full),
        ),
    )


ROWS = (
    a_row("workload-low", 12, (0.5, 1.0), 0.6),
    a_row("Workload-High", 0, (0.0, 0.005), 0.0),
    a_row("catch-all", None, None, None),
    a_row("my level", 3, (30.0, math.inf), 1.0),
)


def found(text: str) -> list[str]:
    return [row.key[0] for row in matching(ROWS, parse(text, COLUMNS))]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ["workload-low", "Workload-High", "catch-all", "my level"]),
        ("WORK", ["workload-low", "Workload-High"]),
        ("!work", ["catch-all", "my level"]),
        ("work low", ["workload-low"]),
        ("work !low", ["Workload-High"]),
        ('"my level"', ["my level"]),
        ('level="my level"', ["my level"]),
        ("waiting>3", ["workload-low"]),
        ("waiting>=3", ["workload-low", "my level"]),
        ("waiting<3", ["Workload-High"]),
        ("waiting<=3", ["Workload-High", "my level"]),
        ("waiting=3", ["my level"]),
        ("waiting!=3", ["workload-low", "Workload-High"]),
        ("!waiting>3", ["Workload-High", "my level"]),
        ("level=WORKLOAD-LOW", ["workload-low"]),
        ("level!=workload-low", ["Workload-High", "catch-all", "my level"]),
        ("level~load", ["workload-low", "Workload-High"]),
        ("!level~load", ["catch-all", "my level"]),
        ("full>50%", ["workload-low", "my level"]),
        ("full>50", ["workload-low", "my level"]),
        ("full=60%", ["workload-low"]),
        ("wait_p95>=500ms", ["workload-low", "my level"]),
        ("wait_p95>500ms", ["workload-low", "my level"]),
        ("wait_p95>0.6s", ["my level"]),
        ("wait_p95>0", ["workload-low", "my level"]),
        ("wait_p95<=5ms", ["Workload-High"]),
        ("wait_p95<2", ["workload-low", "Workload-High"]),
        ("wait_p95=700ms", ["workload-low"]),
        ("wait_p95=0", ["Workload-High"]),
        ("wait_p95>1m", []),
        ("wait_p95=1m", ["my level"]),
    ],
)
def test_terms(text: str, names: list[str]) -> None:
    assert found(text) == names


def test_columns_go_by_key_or_title_in_any_case() -> None:
    assert found("disp/s>1") == found("DISPATCHED>1") == found("dispatched=1.5") != []
    assert found("waitp95>1s") == ["my level"]


def test_the_beginning_of_one_columns_name_is_enough() -> None:
    assert found("disp>1") == found("dispatched>1")
    assert found("wait_p>1s") == ["my level"]


def test_what_is_unknown_fulfils_no_comparison_and_not_its_opposite_either() -> None:
    for operator in (">", ">=", "<", "<=", "=", "!="):
        for text in (f"waiting{operator}1", f"!waiting{operator}1"):
            assert "catch-all" not in found(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("wating>3", "no column `wating` here, but level, waiting, dispatched, wait_p95, full"),
        ("a=b", "put text with signs in double quotes"),
        ("wait>3", "which column is `wait`: waiting, wait_p95?"),
        ("->3", "no column `-` here"),
        ("waiting>", "`waiting>`: what to compare with is missing"),
        ("waiting>many", "waiting holds numbers, and `many` is none"),
        ("waiting>5s", "waiting: `s` is not its unit; it takes a number without a unit"),
        ("wait_p95>5%", "wait_p95: `%` is not its unit; its units are us, µs, ms, s, m, h, d"),
        ("level>workload", "level holds text: compare it by =, != or ~"),
        ("!", "`!`: a word is missing"),
        ("full>\x1b[31m", "`\\x1b[31m` is none"),
    ],
)
def test_what_is_not_understood_is_explained(text: str, why: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse(text, COLUMNS)

    assert why in str(caught.value)


@given(st.text() | st.text(alphabet='!<>=~"\\ .%5sm-waitinglevel'))
def test_no_filter_crashes_and_none_is_complained_about_in_text_that_a_terminal_acts_on(text: str) -> None:
    complaint = ""
    try:
        terms = parse(text, COLUMNS)
    except FilterError as error:
        complaint, terms = str(error), ()

    assert complaint.isprintable()
    assert set(matching(ROWS, terms)) <= set(ROWS)


def test_a_filter_that_is_not_understood_hides_nothing_and_is_explained() -> None:
    found = seen(case("C03"), filter="wating>3")

    assert found.fault.startswith("no column `wating` here")
    assert len(found.rows) == found.whole == 8


def test_a_filter_is_told_by_the_rows_that_are_left() -> None:
    found = seen(case("C03"), filter="waiting>0")

    assert (len(found.rows), found.whole, found.fault) == (1, 8, "")


def test_a_filter_that_nothing_matches_says_so() -> None:
    assert seen(case("C03"), filter="waiting>1000").empty == "none of 8 rows matches the filter"


def test_columns_that_do_not_fit_the_screen_are_filtered_too() -> None:
    found = seen(case("C03"), view=View.REQUESTS, filter="object~pvc-00001")

    assert [cell(found, "object", row).text for row in found.rows] == ["spark-1/pvc-00001"]
