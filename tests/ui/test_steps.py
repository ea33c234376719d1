"""What the keys do to the look, without a screen."""

from __future__ import annotations

from apftop.sheets.look import EACH, Look, Sort, View
from apftop.sheets.sheet import Cell, Column, Row, Sheet
from apftop.ui import steps

NAME = Column("name", "NAME", 4, "its name", "nowhere", kind="text")
SIZE = Column("size", "SIZE", 4, "its size", "nowhere")
ROWS = tuple(Row((name,), (Cell(name), Cell("1"))) for name in ("a", "b"))


def sheet(sorted_by: str = "", *, descending: bool = False) -> Sheet:
    return Sheet("things", (NAME, SIZE), ROWS, 2, sorted_by=sorted_by, descending=descending)


def sort_of(look: Look) -> Sort | None:
    return look.sorts.get(look.view)


def test_names_are_sorted_from_a_and_numbers_from_the_largest() -> None:
    assert sort_of(steps.sorted_by(Look(), sheet(), NAME)) == Sort("name", descending=False)
    assert sort_of(steps.sorted_by(Look(), sheet(), SIZE)) == Sort("size", descending=True)


def test_the_same_column_once_more_is_sorted_the_other_way_round() -> None:
    assert sort_of(steps.sorted_by(Look(), sheet("size", descending=True), SIZE)) == Sort("size", descending=False)


def test_the_sort_goes_round_the_columns_and_the_views_own_order() -> None:
    columns = (NAME, SIZE)

    assert sort_of(steps.sort_moved(Look(), sheet(), columns, 1)) == Sort("name", descending=False)
    assert sort_of(steps.sort_moved(Look(), sheet(), columns, -1)) == Sort("size", descending=True)
    assert sort_of(steps.sort_moved(Look(), sheet("size"), columns, 1)) is None
    assert sort_of(steps.sort_moved(Look(), sheet("gone"), columns, 1)) == Sort("name", descending=False)


def test_the_sorts_of_other_views_stay() -> None:
    look = Look(view=View.QUEUES, sorts={View.LEVELS: Sort("x", descending=True)})

    assert steps.sorted_by(look, sheet(), SIZE).sorts[View.LEVELS] == Sort("x", descending=True)


def test_a_new_sort_lets_a_held_order_go() -> None:
    held = steps.hold(Look(), sheet())

    assert held.held == (("a",), ("b",))
    assert steps.sorted_by(held, sheet(), SIZE).held is None
    assert steps.hold(held, sheet()).held is None


def test_a_replica_that_is_gone_leads_back_to_the_scopes_that_are_there() -> None:
    assert steps.scoped(Look(scope="gone"), ("a", "b"), 1).scope != "gone"
    assert steps.scoped(Look(scope=EACH), (), -1).scope != EACH


def test_another_view_is_whole() -> None:
    look = Look(filter="x", within={"level": "y"}, held=(("a",),), scope="kas", totals=True, hide_idle=True)
    other = steps.at_view(look, View.CLIENTS)

    assert (other.filter, other.within, other.held) == ("", {}, None)
    assert (other.scope, other.totals, other.hide_idle) == ("kas", True, True)


def test_an_interval_that_is_no_step_goes_to_the_next_one() -> None:
    assert steps.slower(3.0) == 5.0
    assert steps.faster(3.0) == 2.0
    assert steps.slower(60.0) == 60.0
    assert steps.faster(0.5) == 0.5
