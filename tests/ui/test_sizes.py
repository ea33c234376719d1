"""The screen as text at the sizes that terminals have, kept beside this file, and through every change of size."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.ui.moments import a_moment
from tests.ui.screen import shown

GOLDEN = Path(__file__).parent / "golden"
SIZES = ((80, 24), (120, 40), (200, 50), (30, 6))
# Set to write the screens anew instead of comparing with them.
WRITE = "APFTOP_WRITE_GOLDEN" in os.environ


def compare(name: str, lines: list[str]) -> None:
    path = GOLDEN / f"{name}.txt"
    text = "\n".join(lines).rstrip() + "\n"
    if WRITE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("size", SIZES)
async def test_levels_look_like_this(size: tuple[int, int]) -> None:
    async with shown(size) as screen:
        compare(f"levels-{size[0]}x{size[1]}", screen.lines)


@pytest.mark.parametrize("number", range(2, 7))
async def test_the_other_views_look_like_this(number: int) -> None:
    async with shown((120, 40)) as screen:
        await screen.press(str(number))
        compare(f"{screen.app.look.view.value}-120x40", screen.lines)


async def test_the_help_looks_like_this() -> None:
    async with shown() as screen:
        await screen.press("question_mark")
        compare("help-80x24", screen.lines)


async def test_before_the_first_moment_the_screen_says_what_it_waits_for() -> None:
    async with shown(first=None) as screen:
        compare("connecting-80x24", screen.lines)
        screen.clock.now += 5
        await screen.pilot.pause(1.2)
        assert "connecting to prod, 5 s" in screen.text
        await screen.press(*"123456", "tab", "o", "i", "t", "space", "enter", "escape", "y", "w", "r")
        await screen.press("greater_than_sign", "question_mark", "escape")
        assert "no server has answered yet" in screen.text
        await screen.send(a_moment())
        assert "3 of 3 replicas" in screen.text


async def test_no_change_of_size_breaks_the_screen() -> None:
    async with shown() as screen:
        before = screen.text
        for size in ((1, 1), (300, 90), (20, 5), (1, 40), (200, 1), (40, 10)):
            await screen.pilot.resize_terminal(*size)
            await screen.send(a_moment(2))
            await screen.press("j", "slash", "x", "escape", "question_mark", "escape")
        await screen.pilot.resize_terminal(80, 24)
        await screen.press("g")
        assert screen.text == before
