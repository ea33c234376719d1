"""Columns in a given width."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from apftop.present import cells, cut, cut_front, plain
from apftop.sheets.fit import GAP, fit, lay, longest
from apftop.sheets.look import EACH, SUM, Sort, View
from apftop.sheets.sheet import Cell, Column, Row, Sheet
from tests.sheets.moments import BUNDLES, case, seen

NAME = Column("name", "NAME", 6, "h", "s", "text", most=20)
USER = Column("user", "USER", 6, "h", "s", "text", most=20, rank=1, ends=True)
WAITING = Column("waiting", "WAITING", 7, "h", "s")
TREND = Column("trend", "TREND", 5, "h", "s", "trend", most=30, rank=2)


def a_sheet(*rows: tuple[str, ...], columns: tuple[Column, ...] = (NAME, USER, WAITING, TREND)) -> Sheet:
    made = tuple(Row((row[0],), tuple(Cell(text) for text in row)) for row in rows)
    return Sheet("t", columns, made, len(made))


ROW = ("workload-low", "system:serviceaccount:x", "1234567890", "▁▂▃▄▅▆▇█ w")


@pytest.mark.parametrize("view", list(View))
@pytest.mark.parametrize("name", BUNDLES)
def test_every_view_fits_from_80_to_300_cells_and_cuts_no_number(name: str, view: View) -> None:
    for scope in (EACH, SUM):
        found = seen(case(name), view=view, scope=scope, sorts={view: Sort("waiting", True)})
        for width in range(80, 301, 5):
            fits = fit(found, width)
            assert sum(wide for _, wide in fits) + GAP * (len(fits) - 1) <= width
            for at, wide in fits:
                assert wide >= cells(found.columns[at].title) + (found.columns[at].key == found.sorted_by)
                if not found.columns[at].most:
                    assert all(cells(row.cells[at].text) <= wide for row in found.rows)


@pytest.mark.parametrize("view", list(View))
def test_a_wider_screen_never_shows_less(view: View) -> None:
    shown: set[int] = set()
    for width in range(40, 301):
        wider = {at for at, _ in fit(seen(case("C03"), view=view), width)}
        assert shown <= wider
        shown = wider


def test_columns_of_the_highest_rank_go_first_and_rank_0_never() -> None:
    sheet = a_sheet(ROW)

    shown = [[at for at, _ in fit(sheet, width)] for width in (80, 26, 20, 9)]

    assert shown == [[0, 1, 2, 3], [0, 1, 2], [0, 2], [0, 2]]


def test_a_few_cells_are_taken_from_text_before_a_column_goes() -> None:
    assert dict(fit(a_sheet(ROW), 30)) == {0: 6, 1: 6, 2: 10, 3: 5}
    assert dict(fit(a_sheet(ROW), 28)) == {0: 5, 1: 5, 2: 10, 3: 5}


def test_the_column_that_rows_are_sorted_by_stays() -> None:
    sorted_by_trend = replace(a_sheet(ROW), sorted_by="trend")

    assert [at for at, _ in fit(sorted_by_trend, 26)] == [0, 2, 3]


def test_room_that_a_column_needed_before_is_kept_for_it() -> None:
    long, short = a_sheet(("workload-low", "bob", "1" * 12, "")), a_sheet(("a", "bob", "1", ""))

    assert fit(short, 60, longest(long)) == fit(long, 60)


def test_room_that_is_left_goes_to_text_as_far_as_it_needs_it() -> None:
    assert fit(a_sheet(ROW), 60) == ((0, 12), (1, 20), (2, 10), (3, 12))


def test_a_number_that_grows_takes_its_room_from_text() -> None:
    short, long = a_sheet(("workload-low", "bob", "1", "")), a_sheet(("workload-low", "bob", "1" * 12, ""))

    assert (dict(fit(short, 28))[2], dict(fit(long, 28))[2]) == (7, 12)


def test_a_screen_too_narrow_for_the_least_makes_text_narrower() -> None:
    assert fit(a_sheet(ROW), 15) == ((0, 4), (2, 10))


def test_text_lies_left_numbers_right_and_both_are_as_wide_as_they_should() -> None:
    assert lay("abc", NAME, 6) == "abc   "
    assert lay("12", WAITING, 6) == "    12"
    assert lay("workload-low", NAME, 6) == "workl…"


def test_of_a_user_the_end_is_left_and_of_a_trend_the_latest() -> None:
    assert lay("system:serviceaccount:ns:me", USER, 6) == "…ns:me"
    assert lay("▁▂▃▄▅▆▇█ w", TREND, 6) == "▅▆▇█ w"


def test_wide_characters_take_two_cells() -> None:
    assert lay("日本語", NAME, 6) == "日本語"
    assert lay("日本語版", NAME, 6) == "日本… "
    assert lay("日本語版", USER, 6) == "…語版 "


def test_a_mark_stays_with_the_character_that_it_lies_on() -> None:
    assert cut("e\u0301e\u0301e\u0301", 2) == "e\u0301…"
    assert cut_front("xe\u0301e\u0301e\u0301", 3) == "…e\u0301e\u0301"
    assert cut_front("xxe\u0301", 1) == "…"


@given(st.text(), st.integers(0, 40))
def test_any_text_is_laid_in_exactly_its_width(text: str, width: int) -> None:
    for column in (NAME, USER, WAITING):
        assert cells(lay(plain(text), column, width)) == width


def test_widths_are_those_that_the_screen_reckons_with() -> None:
    # Symbols of divination grew in Unicode 16, which not every Python knows.
    # Beyond these planes nothing is assigned but tags and variation selectors.
    codes = (*range(0x20, 0x33480), *range(0xE0000, 0xE01F0))
    known = [chr(code) for code in codes if unicodedata.category(chr(code)) not in ("So", "No", "Cs")]
    differ = [one for one in known if plain(one) == one and cells(one) != cell_len(one)]

    assert differ == []
