"""The order of rows."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from apftop.sheets.look import Sort, View
from apftop.sheets.order import held, ordered
from apftop.sheets.sheet import Cell, Row, Value
from tests.sheets.moments import case, cell, seen


def rows(**values: Value) -> list[Row]:
    return [Row((name,), (Cell(str(value), value),)) for name, value in values.items()]


def names(found: tuple[Row, ...]) -> str:
    return "".join(row.key[0] for row in found)


def test_rows_go_by_value_both_ways() -> None:
    made = rows(a=2.0, b=10.0, c=1.0)

    assert names(ordered(made, 0, descending=False)) == "cab"
    assert names(ordered(made, 0, descending=True)) == "bac"


def test_unknown_is_last_both_ways() -> None:
    made = rows(b=None, c=1.0, a=None, d=2.0)

    assert names(ordered(made, 0, descending=False)) == "cdab"
    assert names(ordered(made, 0, descending=True)) == "dcab"


def test_equal_values_go_by_key_both_ways() -> None:
    made = rows(c=1.0, a=1.0, b=1.0)

    assert names(ordered(made, 0, descending=False)) == names(ordered(made, 0, descending=True)) == "abc"


def test_text_goes_without_case_and_an_interval_by_its_lower_bound() -> None:
    assert names(ordered(rows(a="b", b="A", c="C"), 0, descending=False)) == "bac"
    assert names(ordered(rows(a=(1.0, math.inf), b=(0.5, 2.0), c=(1.0, 2.0)), 0, descending=True)) == "acb"


@given(st.lists(st.none() | st.floats(allow_nan=False) | st.text() | st.tuples(st.floats(0, 9), st.floats(9, 99))))
def test_any_values_can_be_sorted_and_none_is_lost(values: list[Value]) -> None:
    made = [Row((str(at),), (Cell("", value),)) for at, value in enumerate(values)]

    assert sorted(row.key for row in ordered(made, 0, descending=True)) == sorted(row.key for row in made)


def test_a_held_order_stays_while_rows_come_and_go() -> None:
    made = rows(a=1.0, d=4.0, c=3.0, e=5.0)

    assert names(held(made, [("c",), ("b",), ("a",)])) == "cade"


def test_a_sheet_is_in_the_readers_order_and_says_so() -> None:
    found = seen(case("C03"), sorts={View.LEVELS: Sort("nominal", True), View.SCHEMAS: Sort("waiting", True)})

    nominal = [cell(found, "nominal", row).value for row in found.rows]
    assert nominal == sorted(nominal, reverse=True)  # type: ignore[type-var]
    assert (found.sorted_by, found.descending) == ("nominal", True)


def test_a_sort_by_a_column_that_is_not_there_leaves_the_views_own_order() -> None:
    found = seen(case("C23"), sorts={View.LEVELS: Sort("skew", True)})

    assert (cell(found, "state").text, found.sorted_by) == ("saturated", "")


def test_a_held_order_wins_over_the_sort() -> None:
    keys = tuple(row.key for row in reversed(seen(case("C03")).rows))

    assert tuple(row.key for row in seen(case("C03"), held=keys).rows) == keys
