"""The help of one view: keys and signs, what its columns mean and where they come from, and how to filter."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from apftop.sheets.sheet import Sheet
from apftop.ui.keys import KEYS, keys_of
from apftop.ui.table import Table

FILTER = (
    ("word", "rows in any cell of which the word is"),
    ("!word", "rows in none of which it is"),
    ("{numbers}", "rows of which all of this holds; columns go by their titles, or by how these begin"),
    ("{name}=this {name}!=that", "the whole text of a cell, without case"),
    ("{name}~part !{name}~part", "part of the text of a cell"),
    ('"two words"', "text with spaces or signs"),
)
SIGNS = (
    ("-", "unknown, which is never 0"),
    ("~", "old: not renewed when it should have been; of a sum or a worst one: not known of all replicas"),
    ("1s-2s, <=5ms, >60s", "the bounds between which a wait lies; > is beyond the last one"),
    ("dumps 1s, over 2s", "the oldest of the newest answers, and what time rates are of; stale: asked again in vain"),
    ("! …", "what is wrong, and what to do; all of it in view 6, and by `apftop doctor`"),
    ("click", "on a row, a title or a key; twice on a row to go into it"),
)
EXAMPLES = (("number", ">5"), ("seconds", ">=200ms"), ("share", "<50%"))
_INDENT = 22
Entries = Iterable[tuple[str, str]]


def help_text(sheet: Sheet, width: int) -> Content:
    """All of the help, as wide as that."""
    table_keys = [one for one in Table.BINDINGS if isinstance(one, Binding)]
    keys = [(keys_of(one), one.description) for one in (*table_keys, *KEYS)]
    columns = [(one.title, f"{one.help} (from {one.source})" if one.source else one.help) for one in sheet.columns]
    parts: list[str | Content | tuple[str, str]] = []
    about = (("Keys", keys), ("Signs", SIGNS), (f"Columns of {sheet.title}", columns), ("Filter", filter_help(sheet)))
    for title, entries in about:
        parts += [(f"{title}\n", "bold underline"), "\n".join(_lines(entries, width)), "\n\n"]
    return Content.assemble(*parts)


def filter_help(sheet: Sheet) -> Entries:
    """How to filter, by examples that this view understands."""
    first = {column.kind: column.key for column in reversed(sheet.columns)}
    numbers = " ".join(f"{first[kind]}{condition}" for kind, condition in EXAMPLES if kind in first)
    given = {"numbers": numbers, "name": first.get("text", "level")}
    return [(example.format_map(given), meaning) for example, meaning in FILTER if example.format_map(given)]


def _lines(entries: Entries, width: int) -> Iterable[str]:
    for name, meaning in entries:
        lines = textwrap.wrap(meaning, max(20, width - _INDENT)) or [""]
        if len(name) < _INDENT:
            yield f"{name:<{_INDENT}}{lines[0]}"
        else:
            yield name
            lines.insert(0, "")
        yield from (" " * _INDENT + line for line in lines[1:])


class Help(ModalScreen[None]):
    """The help over the whole screen; it scrolls, and what it hides goes on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,h,f1,enter", "dismiss", "back", id="help.close"),
        Binding("down,j", "scroll(1)", "down", id="help.down"),
        Binding("up,k", "scroll(-1)", "up", id="help.up"),
        Binding("g", "top", "top", id="help.top"),
        Binding("G", "bottom", "bottom", id="help.bottom"),
    ]

    def __init__(self, sheet: Sheet) -> None:
        super().__init__()
        self._sheet = sheet

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(markup=False)

    def on_resize(self) -> None:
        self.query_one(Static).update(help_text(self._sheet, self.size.width - 3))

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_top(self) -> None:
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def action_bottom(self) -> None:
        self.query_one(VerticalScroll).scroll_end(animate=False)
