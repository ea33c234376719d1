"""Freezing: the view stands still while moments arrive, and leaves where the newest is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.records.moment import Moment
from tests.ui.moments import a_moment
from tests.ui.screen import AGE_S, Shown, shown


def with_waiting(number: int, waiting: float) -> Moment:
    return a_moment(number, waiting={("kas-1", "workload-low"): waiting})


def below_the_mark(screen: Shown) -> list[str]:
    return screen.lines[1:]


@pytest.mark.parametrize("key", ["space", "p"])
async def test_a_frozen_view_stands_still_but_for_its_mark(key: str) -> None:
    async with shown(first=with_waiting(1, 111.0)) as screen:
        await screen.press(key)
        before = below_the_mark(screen)
        for number in range(2, 14):
            screen.clock.now += 1.0
            await screen.send(with_waiting(number, 1000.0 + number))
        assert below_the_mark(screen) == before
        assert "FROZEN 12 s, 12 new" in screen.lines[0]


async def test_unfreezing_jumps_to_the_newest() -> None:
    async with shown(first=with_waiting(1, 111.0)) as screen:
        await screen.press("space")
        await screen.send(with_waiting(2, 2222.0))
        await screen.send(with_waiting(3, 3333.0))
        await screen.press("space")
        assert "3333" in screen.text
        assert "FROZEN" not in screen.text


async def test_a_frozen_moment_can_be_looked_at_from_all_sides() -> None:
    async with shown(first=with_waiting(1, 111.0)) as screen:
        await screen.press("space", "2")
        assert "schemas, each replica" in screen.text
        await screen.send(with_waiting(2, 2222.0))
        await screen.press("1")
        assert " 111 " in screen.text
        assert "2222" not in screen.text


async def test_what_is_frozen_is_what_is_written() -> None:
    frozen, later = a_moment(1), replace(a_moment(2), samples=())
    async with shown(first=frozen) as screen:
        await screen.press("space")
        await screen.send(later)
        await screen.press("b")
        await screen.pilot.pause(0.3)
        assert [samples for samples, _ in screen.saves] == [frozen.samples]


async def test_ages_grow_without_a_new_moment_and_stand_while_frozen() -> None:
    async with shown() as screen:
        assert f"dumps {AGE_S:.0f}s" in screen.text
        screen.clock.now += 4
        await screen.pilot.pause(1.2)
        assert f"dumps {AGE_S + 4:.0f}s" in screen.text
        await screen.press("space")
        screen.clock.now += 100
        await screen.pilot.pause(1.2)
        assert f"dumps {AGE_S + 4:.0f}s" in screen.text
        assert "FROZEN 100 s" in screen.text
