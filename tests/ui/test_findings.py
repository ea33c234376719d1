"""Findings on the screen: view 7, the page of one, and five lines for a chat."""

from __future__ import annotations

import base64
import re

import pytest

from apftop.ui.opened import Opened
from tests.sheets.found import FULL, with_findings
from tests.ui.moments import a_moment
from tests.ui.screen import Shown, shown
from tests.ui.test_sizes import compare

FOUND = with_findings(a_moment())


def copied(monkeypatch: pytest.MonkeyPatch, screen: Shown) -> list[str]:
    """What the terminal is told to copy from now on."""
    texts: list[str] = []
    driver = screen.app._driver
    assert driver is not None

    def write(data: str) -> None:
        if found := re.search("52;c;([^\a]*)\a", data):
            texts.append(base64.b64decode(found[1]).decode())

    monkeypatch.setattr(driver, "write", write)
    return texts


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_findings_look_like_this(size: tuple[int, int]) -> None:
    name = f"{size[0]}x{size[1]}"
    async with shown(size, first=FOUND) as screen:
        compare(f"found-levels-{name}", screen.lines)
        await screen.press("7")
        compare(f"findings-{name}", screen.lines)
        await screen.press("enter")
        compare(f"finding-page-{name}", screen.lines)


async def test_7_shows_them_and_enter_opens_the_page_of_one() -> None:
    async with shown(first=FOUND) as screen:
        await screen.press("7", "down", "enter")
        assert isinstance(screen.app.screen, Opened)
        assert screen.lines[0].strip() == "warning: clients of service-accounts try again at once"
        await screen.press("escape")
        assert screen.view == "findings"
        assert screen.row == ("retry-storm", "service-accounts")


async def test_a_command_is_on_the_page_to_its_last_letter() -> None:
    assert FULL.change is not None
    async with shown(first=FOUND) as screen:
        await screen.press("7", "enter")
        seen = "".join(line.strip() for line in screen.lines).replace(" ", "")
        assert FULL.change.command.replace(" ", "") in seen


@pytest.mark.parametrize("way", [["7"], ["7", "enter"]])
async def test_a_key_copies_five_lines(monkeypatch: pytest.MonkeyPatch, way: list[str]) -> None:
    async with shown(first=FOUND) as screen:
        await screen.press(*way)
        texts = copied(monkeypatch, screen)
        await screen.press("Y")

    assert len(texts) == 1
    assert len(texts[0].split("\n")) == 5
    assert texts[0].startswith(f"CRITICAL {FULL.title}")


async def test_on_its_page_the_change_is_copied_with_its_rollback(monkeypatch: pytest.MonkeyPatch) -> None:
    assert FULL.change is not None
    async with shown(first=FOUND) as screen:
        await screen.press("7", "enter")
        texts = copied(monkeypatch, screen)
        await screen.press("y")

    assert texts == [f"{FULL.change.command}\n# to roll back:\n#   {FULL.change.rollback}\n"]


async def test_where_there_is_no_finding_the_key_says_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    async with shown(first=FOUND) as screen:
        texts = copied(monkeypatch, screen)
        await screen.press("Y")
        assert "7 shows them" in screen.text
        assert not texts


async def test_a_page_of_what_is_found_no_more_says_so() -> None:
    async with shown(first=FOUND) as screen:
        await screen.press("7", "enter")
        await screen.send(a_moment(2))
        assert "Gone since" in screen.lines[0]
