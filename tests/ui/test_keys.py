"""Each key of the screen, on a real situation of three replicas."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.binding import Binding

from apftop.errors import Trouble
from apftop.records.raw import Endpoint
from apftop.sheets.filter import parse
from apftop.sheets.look import Look, View
from apftop.sheets.views import sheet
from apftop.ui.help import Help, filter_help
from apftop.ui.keys import KEYS, keys_of
from apftop.ui.new_name import new_name
from apftop.ui.table import Table
from tests.ui.moments import REPLICAS, a_moment
from tests.ui.screen import FIRST, Shown, shown

CAPTION = 2


def bindings() -> list[Binding]:
    return [*(one for one in Table.BINDINGS if isinstance(one, Binding)), *KEYS]


def test_each_key_has_an_id_of_its_own_and_does_one_thing() -> None:
    ids = [one.id for one in bindings()]
    keys = [key for one in bindings() for key in one.key.split(",")]

    assert None not in ids
    assert len(set(ids)) == len(ids)
    assert len(set(keys)) == len(keys)


def test_no_key_is_one_that_terminals_and_multiplexers_keep() -> None:
    keys = {key for one in bindings() for key in one.key.split(",")}

    assert not keys & {"ctrl+a", "ctrl+b", "ctrl+s", "ctrl+q", "ctrl+j"}


@pytest.mark.parametrize(("key", "view"), list(zip("123456789", View, strict=True)))
async def test_a_digit_shows_its_view(key: str, view: View) -> None:
    async with shown() as screen:
        await screen.press("2" if key == "1" else "1", key)
        assert screen.app.look.view is view
        assert screen.lines[CAPTION].startswith(view.value)


async def test_views_say_which_dumps_they_need() -> None:
    async with shown() as screen:
        assert screen.source.started
        assert screen.source.wanted[-1].needs == frozenset()
        for key, needs in (("3", {Endpoint.QUEUES, Endpoint.REQUESTS}), ("4", {Endpoint.REQUESTS})):
            await screen.press(key)
            assert screen.source.wanted[-1].needs == needs
        await screen.press("5")
        assert screen.source.wanted[-1].needs == {Endpoint.REQUESTS}
        await screen.press("6")
        assert screen.source.wanted[-1].needs == frozenset()


async def test_tab_goes_through_the_scopes_and_shift_tab_goes_back() -> None:
    async with shown() as screen:
        scopes = []
        for _ in range(5):
            await screen.press("tab")
            scopes.append(screen.app.look.scope)
        assert scopes == ["all replicas", *REPLICAS, "each replica"]
        await screen.press("shift+tab")
        assert screen.app.look.scope == REPLICAS[-1]
        assert f"on {REPLICAS[-1]}" in screen.lines[CAPTION]


async def test_enter_goes_into_the_row_and_escape_comes_back_to_it() -> None:
    async with shown() as screen:
        await screen.press("down", "enter")
        assert screen.view == "schemas"
        assert screen.app.look.scope == "kas-2"
        assert "workload-low" in screen.lines[CAPTION]
        await screen.press("enter", "enter")
        assert screen.view == "requests"
        await screen.press("escape", "escape", "escape")
        assert screen.view == "levels"
        assert screen.row is not None
        assert "kas-2" in screen.row
        await screen.press("escape")
        assert screen.view == "levels"


async def test_what_was_set_inside_a_row_stays_set_outside() -> None:
    async with shown() as screen:
        await screen.press("enter", "t", "escape")
        assert screen.view == "levels"
        assert screen.app.look.totals


async def test_escape_undoes_one_thing_at_a_time() -> None:
    async with shown() as screen:
        await screen.press("enter", "slash", *"service", "enter", "slash", *"xyz", "escape")
        assert screen.app.look.filter == "service"
        await screen.press("escape")
        assert screen.app.look.filter == ""
        assert screen.view == "schemas"
        await screen.press("escape")
        assert screen.view == "levels"


async def test_the_sort_moves_by_column_turns_and_ends_in_the_views_own_order() -> None:
    async with shown() as screen:
        titles = screen.lines[CAPTION + 1].split()
        await screen.press("greater_than_sign")
        assert screen.lines[CAPTION + 1].split()[0] == f"{titles[0]}▲"
        await screen.press("r")
        assert screen.lines[CAPTION + 1].split()[0] == f"{titles[0]}▼"
        await screen.press("less_than_sign")
        assert "▼" not in screen.lines[CAPTION + 1]
        await screen.press("r")
        assert "▼" not in screen.lines[CAPTION + 1]
        await screen.press("left")
        assert "▼" in screen.lines[CAPTION + 1] or "▲" in screen.lines[CAPTION + 1]


async def test_numbers_are_sorted_with_the_largest_first() -> None:
    async with shown(first=a_moment(waiting={("kas-2", "catch-all"): 900.0})) as screen:
        column = screen.lines[CAPTION + 1].index("WAITING")
        await screen.pilot.click(Table, offset=(column + 1, 0))
        assert "WAITING▼" in screen.lines[CAPTION + 1]
        assert screen.lines[CAPTION + 2].split()[:2] == ["catch-all", "kas-2"]
        await screen.pilot.click(Table, offset=(column + 1, 0))
        assert "WAITING▲" in screen.lines[CAPTION + 1]


async def test_held_rows_stay_while_their_values_move() -> None:
    async with shown() as screen:
        await screen.press("o")
        before = [line.split()[:2] for line in screen.lines[CAPTION + 2 : CAPTION + 10]]
        await screen.send(a_moment(2, waiting={("kas-3", "system"): 5000.0, ("kas-1", "workload-low"): 1.0}))
        assert [line.split()[:2] for line in screen.lines[CAPTION + 2 : CAPTION + 10]] == before
        assert "order held" in screen.text
        await screen.press("o")
        assert "order held" not in screen.text


@pytest.mark.parametrize(("key", "words"), [("t", "totals"), ("i", "idle hidden")])
async def test_a_switch_is_told_in_the_caption_and_turned_back_by_its_key(key: str, words: str) -> None:
    async with shown((120, 40)) as screen:
        before = screen.text
        await screen.press(key)
        assert words in screen.lines[CAPTION]
        await screen.press(key)
        assert screen.text == before


async def test_the_interval_goes_up_and_down_in_steps() -> None:
    async with shown() as screen:
        for key, interval in (("+", 5), ("=", 10), ("+", 30), ("+", 30), ("-", 10), *(("-", x) for x in (5, 2, 1, 1))):
            await screen.press({"+": "plus", "=": "equals_sign", "-": "minus"}[key])
            assert screen.source.wanted[-1].interval_s == interval
            assert f"every {interval} s" in screen.lines[CAPTION]


@pytest.mark.parametrize("key", ["ctrl+r", "f5"])
async def test_polling_now_is_a_larger_wake(key: str) -> None:
    async with shown() as screen:
        before = screen.source.wanted[-1].wake
        await screen.press(key)
        assert screen.source.wanted[-1].wake == before + 1


async def test_what_is_on_the_screen_is_written_and_its_path_told() -> None:
    async with shown((120, 40)) as screen:
        await screen.press("b")
        await screen.pilot.pause(0.3)
        ((samples, folder),) = screen.saves
        assert samples == FIRST.samples
        assert folder.name.startswith("apftop-2026")
        assert "written:" in screen.text


async def test_a_bundle_that_cannot_be_written_is_told() -> None:
    async with shown((120, 40)) as screen:

        def failing(samples: object, folder: object) -> None:
            raise OSError(28, "No space left on [device]")

        screen.app._save = failing  # type: ignore[assignment]
        await screen.press("b")
        await screen.pilot.pause(0.3)
        assert "cannot write a bundle" in screen.text
        assert "[device]" in " ".join(screen.text.split())


def test_a_bundle_has_a_name_that_nothing_has_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = new_name(0.0)
    first.mkdir()

    assert first == tmp_path / "apftop-19700101T000000Z"
    assert new_name(0.0) == tmp_path / "apftop-19700101T000000Z-2"


def test_a_folder_that_is_gone_is_told_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    with pytest.raises(Trouble, match="was started in is gone"):
        new_name(0.0)


async def test_a_row_is_copied_as_text_with_its_time_and_place(monkeypatch: pytest.MonkeyPatch) -> None:
    async with shown() as screen:
        copied = written_to(screen, monkeypatch)
        await screen.press("y")
        text = base64.b64decode(copied[-1].split(";")[2].split("\a")[0]).decode()
        assert text.startswith("2026-")
        assert " prod levels, each replica: LEVEL workload-low, REPLICA kas-1, STATE saturated" in text
        assert "clipboard" in screen.text


def written_to(screen: Shown, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is written to the terminal as it is."""
    written: list[str] = []
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setattr(screen.app._driver, "write", written.append)
    return written


@pytest.mark.parametrize("view", list(View))
def test_each_view_understands_the_filters_that_its_help_gives(view: View) -> None:
    found = sheet(a_moment(), Look(view=view))
    examples = [example for example, _ in filter_help(found)]

    assert len(examples) == 6
    assert all(parse(example, found.columns) for example in examples)


@pytest.mark.parametrize("key", ["question_mark", "h", "f1"])
async def test_help_tells_every_key_and_every_column_and_closes(key: str) -> None:
    async with shown((120, 130)) as screen:
        await screen.press(key)
        text = screen.text
        assert isinstance(screen.app.screen, Help)
        assert all(f"{keys_of(one)} " in text for one in bindings())
        assert all(f" {column.title} " in text for column in screen.app.table.sheet.columns)
        assert "!word" in text
        await screen.press("escape")
        assert not isinstance(screen.app.screen, Help)


async def test_help_scrolls_to_its_end_on_a_small_screen() -> None:
    async with shown() as screen:
        await screen.press("question_mark")
        assert "two words" not in screen.text
        await screen.press("j", "G")
        await screen.pilot.pause(0.1)
        assert "two words" in screen.text
        await screen.press("g", "q")
        assert not isinstance(screen.app.screen, Help)
        assert screen.app.is_running


async def test_moments_go_on_below_the_help() -> None:
    async with shown() as screen:
        await screen.press("question_mark")
        await screen.send(a_moment(2, waiting={("kas-1", "workload-low"): 12345.0}))
        await screen.press("escape")
        assert "12345" in screen.text


@pytest.mark.parametrize("key", ["colon", "ctrl+p"])
async def test_the_palette_finds_actions_by_their_names_and_offers_no_themes(key: str) -> None:
    async with shown() as screen:
        await screen.press(key)
        await screen.press(*"idle rows")
        await screen.pilot.pause(0.3)
        assert "hide idle rows" in screen.text
        await screen.press("enter")
        await screen.pilot.pause(0.3)
        assert screen.app.look.hide_idle
        names = [one.title.lower() for one in screen.app.get_system_commands(screen.app.screen)]
        assert not [name for name in names if "theme" in name]


@pytest.mark.parametrize(("key", "code"), [("q", 0), ("ctrl+c", 130)])
async def test_keys_that_quit_do_so_at_once(key: str, code: int) -> None:
    async with shown() as screen:
        await screen.press(key)
        assert screen.app.return_code == code


@pytest.mark.parametrize("prepare", [["question_mark"], ["slash", "x"], ["colon"]])
async def test_ctrl_c_quits_wherever_the_reader_is(prepare: list[str]) -> None:
    async with shown() as screen:
        await screen.press(*prepare)
        await screen.press("ctrl+c")
        assert screen.app.return_code == 130


async def test_a_click_on_the_line_of_keys_does_what_the_key_does() -> None:
    async with shown() as screen:
        await screen.pilot.click("KeyLine", offset=(screen.lines[23].index("clients"), 0))
        await screen.pilot.pause()
        assert screen.app.look.view is View.CLIENTS


async def test_a_view_that_fails_says_so_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async with shown() as screen:

        def failing(*_: object) -> None:
            raise KeyError("[/level]")

        broken: Callable[..., None] = failing
        monkeypatch.setattr("apftop.ui.shown.sheet", broken)
        await screen.press("2")
        assert "this view cannot be shown: KeyError: '[/level]'" in screen.text
        monkeypatch.undo()
        await screen.press("1")
        assert "workload-low" in screen.text
