"""The filter: as it is typed, kept, given up, wrong."""

from __future__ import annotations

from apftop.sheets.look import View
from tests.ui.screen import shown

CAPTION = 2


async def test_rows_are_filtered_as_the_filter_is_typed_and_counted() -> None:
    async with shown() as screen:
        await screen.press("slash", *"workload")
        assert "6/24" in screen.lines[CAPTION]
        await screen.press(*"-low")
        assert "filter workload-low  3/24" in screen.lines[CAPTION]
        assert screen.lines[22] == "/workload-low"


async def test_enter_keeps_the_filter_and_keys_are_keys_again() -> None:
    async with shown() as screen:
        await screen.press("slash", *"low", "enter", "down", "2")
        assert screen.app.look.view is View.SCHEMAS
        await screen.press("1", "slash", *"q123", "enter")
        assert screen.app.look.filter == "q123"
        assert "none of 24 rows matches the filter" in screen.text


async def test_escape_brings_the_former_filter_back() -> None:
    async with shown() as screen:
        await screen.press("slash", *"low", "enter", "slash", *"er", "escape")
        assert screen.app.look.filter == "low"
        assert "3/24" in screen.lines[CAPTION]


async def test_a_filter_that_is_not_understood_hides_nothing_and_is_explained() -> None:
    async with shown() as screen:
        await screen.press("slash", *"nothing", "greater_than_sign", "5")
        assert "not understood" in screen.lines[CAPTION]
        assert "no column `nothing` here" in screen.text
        assert "workload-low" in screen.text
        await screen.press("escape")
        assert "not understood" not in screen.text


async def test_numbers_are_compared() -> None:
    async with shown() as screen:
        await screen.press("slash", *"waiting", "greater_than_sign", *"5", "enter")
        assert "3/24" in screen.lines[CAPTION]


async def test_markup_in_a_filter_is_text() -> None:
    async with shown() as screen:
        await screen.press("slash", "left_square_bracket", "slash", "x", "right_square_bracket", "enter")
        assert "filter [/x]  0/24" in screen.lines[CAPTION]
        await screen.press("question_mark", "escape", "y")
        assert screen.app.is_running


async def test_the_row_of_the_cursor_is_kept_while_a_filter_hides_others() -> None:
    async with shown() as screen:
        await screen.press("down", "slash", *"kas-2", "enter")
        assert screen.row is not None
        assert {"workload-low", "kas-2"} <= set(screen.row)
        await screen.press("escape")
        assert {"workload-low", "kas-2"} <= set(screen.row)
