"""The way to checks and pages, and what a page does while time goes on below it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.records.checks import LevelChecks
from apftop.records.moment import Moment
from apftop.sheets.look import EACH, View
from apftop.ui.opened import Opened
from tests.sheets.checked import ARRIVALS, with_checks
from tests.ui.moments import a_moment, checked
from tests.ui.screen import shown


async def test_m_opens_the_checks_of_the_rows_level_and_escape_comes_back_to_the_row() -> None:
    async with shown(first=checked()) as screen:
        await screen.press("down", "m")
        assert screen.app.look.view is View.CHECKS
        assert (screen.app.look.scope, screen.app.look.within) == ("kas-2", {"level": "workload-low"})
        assert "mean wait 240ms" in screen.text
        await screen.press("m")
        await screen.press("escape")
        assert screen.view == "levels"
        assert screen.row == ("workload-low", "kas-2")


async def test_m_opens_them_from_every_view_whose_rows_are_about_a_level_and_else_all() -> None:
    async with shown(first=checked()) as screen:
        for key in "12348":
            await screen.press(key, *(["G"] if key == "8" else []), "m")
            assert screen.app.look.view is View.CHECKS
            assert screen.app.look.within == {"level": "workload-low"}
        await screen.press("6", "m")
        assert (screen.app.look.scope, screen.app.look.within) == ("kas-1", {})


async def test_m_opens_all_checks_where_the_row_is_about_no_level() -> None:
    async with shown(first=checked()) as screen:
        await screen.press("5", "m")
        assert screen.app.look.view is View.CHECKS
        assert (screen.app.look.scope, screen.app.look.within) == (EACH, {})
        await screen.press("escape")
        assert screen.view == "clients"


async def test_m_at_the_checks_of_a_level_changes_nothing() -> None:
    async with shown(first=checked()) as screen:
        await screen.press("m")
        before = screen.text
        await screen.press("m", "m")
        assert screen.text == before
        await screen.press("escape")
        assert screen.view == "levels"


async def test_enter_on_a_check_opens_its_page_and_escape_closes_it() -> None:
    async with shown(first=checked()) as screen:
        await screen.press("8", "enter")
        assert isinstance(screen.app.screen, Opened)
        assert "server kas-2" in screen.lines[0]
        assert "its clock is not the one that its dumps are read by" in screen.text
        await screen.press("escape")
        assert screen.view == "checks"
        assert not isinstance(screen.app.screen, Opened)


async def test_enter_on_a_request_opens_its_page() -> None:
    async with shown((100, 50), first=checked()) as screen:
        await screen.press("4", "enter")
        assert "64 runs of the model, each 10s long" in screen.text
        assert "shares queues with" in screen.text
        await screen.press("q")
        assert screen.app.is_running


async def test_a_page_follows_what_it_is_about_and_says_when_that_is_gone() -> None:
    def moment(number: int, *checks: float) -> Moment:
        level = LevelChecks(tuple(replace(ARRIVALS, observed=one) for one in checks))
        return with_checks(a_moment(number), {"workload-low": level})

    async with shown(first=moment(1, 5170.0)) as screen:
        await screen.press("8", "enter")
        assert "5170 requests" in screen.text
        await screen.send(moment(2, 5181.0))
        assert "5181 requests" in screen.text
        await screen.send(moment(3))
        assert "Gone since" in screen.lines[0]
        assert "5181 requests" in screen.text
        await screen.send(moment(4, 5190.0))
        assert "Gone since" not in screen.text


async def test_a_page_of_a_frozen_view_stands_still() -> None:
    async with shown(first=checked()) as screen:
        await screen.press("space", "8", "enter")
        before = screen.text
        await screen.send(a_moment(2))
        assert screen.text == before


async def test_a_page_scrolls_on_a_small_screen() -> None:
    async with shown((60, 10), first=checked()) as screen:
        await screen.press("m", "enter")
        assert "followed" not in screen.text
        await screen.press("G")
        await screen.pilot.pause(0.1)
        assert "followed" in screen.text
        await screen.pilot.resize_terminal(1, 1)
        await screen.pilot.resize_terminal(120, 40)
        assert "followed" in screen.text


async def test_what_is_not_known_keeps_a_line_beside_the_facts() -> None:
    moment = checked()
    silent = {name: replace(one, requests=None) for name, one in moment.frame.replicas.items()}
    moment = replace(moment, frame=replace(moment.frame, replicas=silent))
    async with shown((80, 12), first=moment) as screen:
        await screen.press("m")
        assert "mean wait 236ms" in screen.text
        assert "! dump_requests of kas-1:" in screen.text
        await screen.press("slash", *"x>1", "enter")
        assert "mean wait" not in screen.text
        assert "no column" in screen.text


async def test_a_page_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise KeyError("[/level]")

    async with shown(first=checked()) as screen:
        monkeypatch.setattr("apftop.ui.shown.page", failing)
        await screen.press("8", "enter")
        assert "this page cannot be shown: KeyError: '[/level]'" in screen.text
