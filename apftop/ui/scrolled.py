"""Text over the whole screen, which scrolls: what it hides goes on."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from apftop.sheets.page import Entry, Page

_INDENT = 22
# Names have hyphens: they stay in one piece where that is possible.
_folded = partial(wrap, break_on_hyphens=False)
BULLET = "-"
"""An entry of this name is one of a list, and takes the whole width."""


def text_of(page: Page, width: int) -> Content:
    """All of a page, as wide as that."""
    parts: list[str | Content | tuple[str, str]] = []
    for section in page.sections:
        titles = _folded(section.title, max(20, width)) or [""]
        lines = (*_lines(section.entries, width), *section.lines)
        parts += [("\n".join(titles) + "\n", "bold underline"), "\n".join(lines), "\n\n"]
    return Content.assemble(*parts)


def _lines(entries: Iterable[Entry], width: int) -> Iterable[str]:
    for name, meaning in entries:
        if name == BULLET:
            yield from _folded(f"{BULLET} {meaning}", max(20, width), subsequent_indent="  ")
            continue
        lines = [line for part in meaning.split("\n\n") for line in _folded(part, max(20, width - _INDENT))] or [""]
        if len(name) < _INDENT:
            yield f"{name:<{_INDENT}}{lines[0]}"
        else:
            yield name
            lines.insert(0, "")
        yield from (" " * _INDENT + line for line in lines[1:])


class Scrolled(ModalScreen[None]):
    """A page, which may change while it is read."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,h,f1,enter", "dismiss", "back", id="page.close"),
        Binding("down,j", "scroll(1)", "down", id="page.down"),
        Binding("up,k", "scroll(-1)", "up", id="page.up"),
        Binding("g", "top", "top", id="page.top"),
        Binding("G", "bottom", "bottom", id="page.bottom"),
    ]

    def __init__(self, page: Page) -> None:
        super().__init__()
        self._page = page

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(markup=False)

    def show(self, page: Page) -> None:
        """Show a page instead of the former one, at the same place."""
        if page != self._page:
            self._page = page
            self._update()

    def on_resize(self) -> None:
        self._update()

    def _update(self) -> None:
        self.query_one(Static).update(text_of(self._page, self.size.width - 3))

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_top(self) -> None:
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def action_bottom(self) -> None:
        self.query_one(VerticalScroll).scroll_end(animate=False)
