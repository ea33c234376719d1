"""The screen as text at the sizes that terminals have, kept beside this file, and through every change of size."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from apftop.records.asking import Plan
from apftop.records.raw import Endpoint
from tests.ui.moments import a_moment, checked
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


@pytest.mark.parametrize("number", [2, 3, 4, 5, 6, 8])
async def test_the_other_views_look_like_this(number: int) -> None:
    async with shown((120, 40)) as screen:
        await screen.press(str(number))
        compare(f"{screen.app.look.view.value}-120x40", screen.lines)


@pytest.mark.parametrize("size", SIZES[::2])
async def test_checks_look_like_this(size: tuple[int, int]) -> None:
    name = f"{size[0]}x{size[1]}"
    async with shown(size, first=checked()) as screen:
        compare(f"checked-levels-{name}", screen.lines)
        await screen.press("m")
        compare(f"checked-level-{name}", screen.lines)
        await screen.press("enter")
        compare(f"check-page-{name}", screen.lines)
        await screen.press("escape", "escape", "8")
        compare(f"checked-all-{name}", screen.lines)
        await screen.press("4", "enter")
        compare(f"request-page-{name}", screen.lines)


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
        await screen.press(*"12345678m", "tab", "o", "i", "t", "space", "enter", "escape", "y", "w", "r")
        await screen.press("greater_than_sign", "question_mark", "escape")
        assert "no server has answered yet" in screen.text
        await screen.send(a_moment())
        assert "3 of 3 replicas" in screen.text


async def test_what_is_wrong_is_told_to_its_end_where_the_screen_has_room() -> None:
    moment, told = a_moment(), [f"problem {number} of this server" for number in range(12)]
    one = replace(next(iter(moment.frame.replicas.values())), problems=tuple(told))
    moment = replace(moment, frame=replace(moment.frame, replicas={one.name: one}))
    async with shown((80, 24), first=moment) as screen:
        await screen.press("6")
        assert all(f"! kas-1: {line}" in screen.lines for line in told)
        await screen.pilot.resize_terminal(80, 12)
        await screen.send(replace(moment, number=2))
        assert any(line.endswith("of this server … `apftop doctor` tells all") for line in screen.lines)


async def test_numbers_grow_old_though_no_server_says_anything() -> None:
    moment = a_moment()
    every_s = {Endpoint.METRICS: 5.0, Endpoint.LEVELS: 2.0}
    async with shown(first=replace(moment, plans=dict.fromkeys(moment.frame.replicas, Plan(every_s)))) as screen:
        assert "saturated~" not in screen.text
        screen.clock.now += 20
        await screen.pilot.pause(1.5)
        assert "saturated~" in screen.text
        assert "0 of 3 replicas  was saturated" in screen.text
        assert "! all 3 replicas: no answer for 23s" in screen.text
        await screen.press("space")
        screen.clock.now += 40
        await screen.pilot.pause(1.5)
        assert "no answer for 23s" in screen.text


@pytest.mark.parametrize("size", [(80, 24), (10, 3)])
async def test_the_palette_bears_its_keys_at_any_size(size: tuple[int, int]) -> None:
    async with shown(size) as screen:
        await screen.press("colon", "pagedown", "pageup", "ctrl+end", "down", "z", "z", "pagedown", "enter", "escape")
        assert screen.app.is_running


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
