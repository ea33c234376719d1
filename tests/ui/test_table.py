"""The table alone: its cursor, what it paints anew, and that no text and no size breaks it."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.pilot import Pilot

from apftop.sheets.sheet import Cell, Column, Row, Sheet
from apftop.ui.table import Table

COLUMNS = (
    Column("name", "NAME", 6, "its name", "nowhere", kind="text", most=20),
    Column("size", "SIZE", 5, "its size", "nowhere"),
    Column("note", "NOTE", 8, "a note", "nowhere", kind="text", most=40, rank=1),
)


class Alone(App[None]):
    """A table and no more."""

    CSS_PATH = "../../apftop/ui/apftop.tcss"

    def __init__(self, first: Sheet | None = None) -> None:
        super().__init__(ansi_color=True)
        self.first = first
        self.heard: list[object] = []

    def compose(self) -> ComposeResult:
        self.table = Table()
        if self.first is not None:
            self.table.show(self.first)
        yield self.table

    def on_mount(self) -> None:
        self.theme = "ansi-dark"
        self.table.focus()

    def on_table_titled(self, message: Table.Titled) -> None:
        self.heard.append(message.column)

    def on_table_opened(self) -> None:
        self.heard.append(at(self.table))


def a_sheet(names: Iterable[str], sizes: dict[str, float] | None = None, sorted_by: str = "") -> Sheet:
    rows = [
        Row((name,), (Cell(name, name), Cell(f"{(sizes or {}).get(name, 0):.0f}"), Cell(f"about {name}")))
        for name in names
    ]
    return Sheet("things", COLUMNS, tuple(rows), len(rows), sorted_by=sorted_by, descending=True)


def names(count: int) -> list[str]:
    return [f"row{number}" for number in range(count)]


@asynccontextmanager
async def alone(size: tuple[int, int] = (60, 12)) -> AsyncIterator[tuple[Table, Pilot[None], Alone]]:
    app = Alone()
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        yield app.table, pilot, app


def lines_of(table: Table) -> list[str]:
    return [table.render_line(y).text.rstrip() for y in range(table.size.height)]


def at(table: Table) -> str:
    assert table.row is not None
    return table.row.key[0]


def is_on_screen(table: Table) -> bool:
    return any(line.startswith(at(table)) for line in lines_of(table)[1:])


async def test_the_cursor_stays_on_its_row_and_in_sight_over_many_reorders() -> None:
    order = names(100)
    chance = random.Random(7)
    async with alone() as (table, pilot, _):
        table.show(a_sheet(order))
        await pilot.press(*["down"] * 7)
        for _ in range(10):
            chance.shuffle(order)
            table.show(a_sheet(order))
            await pilot.pause()
            assert at(table) == "row7"
            assert is_on_screen(table)


async def test_the_cursor_stays_on_its_row_when_others_come_and_go() -> None:
    async with alone() as (table, pilot, _):
        table.show(a_sheet(names(10)))
        await pilot.press("down", "down")
        table.show(a_sheet(["new", *names(10)]))
        assert at(table) == "row2"
        table.show(a_sheet(names(10)[2:]))
        assert at(table) == "row2"
        table.show(a_sheet(names(10)))
        assert at(table) == "row2"


async def test_where_the_row_of_the_cursor_has_gone_the_cursor_stays_at_its_place() -> None:
    async with alone() as (table, pilot, _):
        table.show(a_sheet(names(10)))
        await pilot.press("down", "down")
        table.show(a_sheet([name for name in names(10) if name != "row2"]))
        assert at(table) == "row3"
        table.show(a_sheet(names(1)))
        assert at(table) == "row0"


async def test_at_the_very_top_the_cursor_stays_at_the_top_until_it_is_moved() -> None:
    async with alone() as (table, pilot, _):
        table.show(a_sheet(names(10)))
        table.show(a_sheet(reversed(names(10))))
        assert at(table) == "row9"
        await pilot.press("down")
        table.show(a_sheet(names(10)))
        assert at(table) == "row8"
        await pilot.press("g")
        table.show(a_sheet(reversed(names(10))))
        assert at(table) == "row9"


async def test_a_filter_that_leaves_nothing_does_not_lose_the_row() -> None:
    async with alone() as (table, pilot, _):
        table.show(a_sheet(names(10)))
        await pilot.press("down", "down")
        table.show(a_sheet([]))
        assert table.row is None
        await pilot.press("down", "enter")
        table.show(a_sheet(names(10)))
        assert at(table) == "row2"


@pytest.mark.parametrize(
    ("keys", "row"),
    [
        (["j", "j", "k"], "row1"),
        (["down", "down", "up"], "row1"),
        (["pagedown"], "row10"),
        (["pagedown", "pagedown", "pageup"], "row10"),
        (["G"], "row99"),
        (["end", "up"], "row98"),
        (["G", "g"], "row0"),
        (["end", "home"], "row0"),
        (["up"], "row0"),
        (["G", "down"], "row99"),
    ],
)
async def test_keys_move_the_cursor_and_keep_it_in_sight(keys: list[str], row: str) -> None:
    async with alone() as (table, pilot, _):
        table.show(a_sheet(names(100)))
        await pilot.pause()
        await pilot.press(*keys)
        assert at(table) == row
        assert is_on_screen(table)


async def test_only_lines_that_changed_are_painted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async with alone() as (table, pilot, _):
        table.show(a_sheet(names(100)))
        await pilot.pause()
        painted: list[Region] = []
        refresh = table.refresh

        def noted(*regions: Region, **options: bool) -> Table:
            painted.extend(regions or [table.size.region])
            return refresh(*regions, **options)

        monkeypatch.setattr(table, "refresh", noted)
        table.show(a_sheet(names(100)))
        assert painted == []
        table.show(a_sheet(names(100), {"row4": 7, "row99": 7}))
        assert [region.y for region in painted] == [5]
        painted.clear()
        await pilot.press("down")
        assert [region.y for region in painted] == [1, 2]


async def test_the_head_stays_while_rows_scroll() -> None:
    async with alone() as (table, pilot, _):
        table.show(a_sheet(names(100), sorted_by="size"))
        await pilot.press("G")
        assert lines_of(table)[0].split() == ["NAME", "SIZE▼", "NOTE"]
        assert lines_of(table)[-1].startswith("row99")


async def test_a_click_selects_a_second_one_opens_and_a_title_sorts() -> None:
    async with alone() as (table, pilot, app):
        table.show(a_sheet(names(100)))
        await pilot.press("G")
        await pilot.click(Table, offset=(2, 3))
        assert at(table) == lines_of(table)[3].split()[0]
        await pilot.click(Table, offset=(2, 5), times=2)
        await pilot.click(Table, offset=(14, 0))
        assert app.heard == [at(table), "size"]


async def test_the_wheel_leaves_the_cursor_where_it_is_and_new_rows_do_not_pull_the_view_back() -> None:
    async with alone() as (table, pilot, _):
        table.show(a_sheet(names(100)))
        await pilot.press("down")
        table.scroll_to(y=50, animate=False)
        table.show(a_sheet(names(100), {"row1": 3}))
        await pilot.pause()
        assert at(table) == "row1"
        assert lines_of(table)[1].startswith("row50")


async def test_columns_that_do_not_fit_go_and_come_back() -> None:
    async with alone() as (table, pilot, _):
        table.show(a_sheet(names(3)))
        assert "NOTE" in lines_of(table)[0]
        await pilot.resize_terminal(14, 12)
        await pilot.pause()
        assert lines_of(table)[0].split() == ["NAME", "SIZE"]
        await pilot.resize_terminal(60, 12)
        await pilot.pause()
        assert "NOTE" in lines_of(table)[0]


async def test_columns_do_not_come_and_go_with_their_numbers() -> None:
    async with alone((24, 12)) as (table, pilot, _):
        table.show(a_sheet(names(3)))
        await pilot.pause()
        small = lines_of(table)[0]
        table.show(a_sheet(names(3), {"row1": 1e12}))
        large = lines_of(table)[0]
        table.show(a_sheet(names(9)))
        assert "NOTE" in small
        assert "NOTE" not in large
        assert lines_of(table)[0] == large
        table.jump(None)
        table.show(a_sheet(names(3)))
        assert lines_of(table)[0] == small


async def test_no_size_breaks_it() -> None:
    async with alone() as (table, pilot, _):
        table.show(a_sheet(names(100)))
        await pilot.press("G")
        for size in ((1, 1), (300, 90), (1, 30), (30, 1), (2, 2), (60, 12)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            table.show(a_sheet(reversed(names(100))))
            await pilot.press("j", "k")
        assert at(table) == "row99"
        assert is_on_screen(table)


async def test_a_sheet_that_comes_before_the_screen_has_a_size_is_shown() -> None:
    app = Alone(a_sheet(names(3)))
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        assert [line.split()[0] for line in lines_of(app.table)[:4]] == ["NAME", *names(3)]


async def test_wide_characters_keep_columns_straight() -> None:
    async with alone() as (table, pilot, _):
        table.show(a_sheet(["名前名前名前", "plain", "e\u0301te\u0301"], {"名前名前名前": 5, "plain": 6}))
        await pilot.pause()
        wide, plain, combined = (table.render_line(y) for y in (1, 2, 3))
        assert wide.cell_length == plain.cell_length == combined.cell_length == 60
        assert wide.crop(0, 18).text.endswith("5")
        assert plain.crop(0, 18).text.endswith("6")


async def test_markup_and_escapes_are_text() -> None:
    hostile = ["[/foo]", "[bold red]x[/]", "[@click=quit]x[/]", "\\[x", ":warning:"]
    async with alone() as (table, pilot, _):
        table.show(a_sheet(hostile))
        await pilot.pause()
        assert [line.split("  ")[0] for line in lines_of(table)[1:6]] == hostile


async def test_a_long_reason_why_there_is_nothing_is_told_to_its_end() -> None:
    async with alone((30, 12)) as (table, pilot, _):
        table.show(Sheet("things", COLUMNS, (), 0, empty="a dump of queues is not there: connection refused: 10.0.0.1"))
        await pilot.pause()
        assert lines_of(table)[1:4] == ["a dump of queues is not", "there: connection refused:", "10.0.0.1"]


async def test_an_empty_sheet_says_why() -> None:
    async with alone() as (table, pilot, _):
        table.show(Sheet("things", COLUMNS, (), 0, empty="no [server] has answered yet"))
        await pilot.pause()
        assert lines_of(table)[1] == "no [server] has answered yet"
