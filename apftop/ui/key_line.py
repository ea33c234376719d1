"""The line of keys at the bottom: which view this is, and what else can be done; a click on a key does it."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from rich.segment import Segment
from textual.binding import Binding
from textual.events import Click
from textual.strip import Strip
from textual.widget import Widget

from apftop.present import cells
from apftop.sheets.look import View
from apftop.ui.keys import KEYS, VIEWS, keys_of

# Of the keys that are no views these are told, as far as there is room.
_SHORT = ("help", "filter", "quit", "model", "freeze", "hold", "copy", "summary", "write")
_OTHERS = sorted((one for one in KEYS if one.id in _SHORT), key=lambda one: _SHORT.index(one.id or ""))
_OF_VIEW = {View.FINDINGS: "summary"}


class Part(NamedTuple):
    """One key with its name, and what it does."""

    key: str
    name: str
    action: str
    current: bool = False

    @property
    def width(self) -> int:
        return cells(self.key + self.name)


def parts(view: View, width: int) -> tuple[Part, ...]:
    """The keys that fit a width, views first; where that is narrow the names of other views go, the last one first.

    The key for help, and what only this view has, are told before the names of other views.
    """
    line = [_part(one, one.description, current=one.description == view.value) for one in VIEWS]
    others = sorted(_OTHERS, key=lambda one: one.id not in ("help", _OF_VIEW.get(view)))
    told = [_part(one, one.id or "") for one in others]
    wanted = sum(part.width for part in told[: 1 + (view in _OF_VIEW)])
    for at in reversed(range(len(line))):
        if sum(part.width for part in line) + wanted - 1 > width and not line[at].current:
            line[at] = line[at]._replace(name=" ")
    line += told
    taken = 0
    for at, part in enumerate(line):
        taken += part.width
        if taken - 1 > width:
            return tuple(line[:at])
    return tuple(line)


def _part(binding: Binding, name: str, *, current: bool = False) -> Part:
    return Part(keys_of(binding).split(" ")[0], f" {name} ", binding.action, current)


class KeyLine(Widget):
    """The keys of the whole screen in one line."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"keys--key", "keys--current"}

    def __init__(self, view: View, id: str | None = None) -> None:
        super().__init__(id=id)
        self._view = view

    def show(self, view: View) -> None:
        """Say that this view is the current one."""
        if view != self._view:
            self._view = view
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        key = self.get_component_rich_style("keys--key", partial=True)
        current = self.get_component_rich_style("keys--current", partial=True)
        segments = []
        for part in parts(self._view, width) if y == 0 else ():
            style = base + current if part.current else base
            segments += [Segment(part.key, style + key), Segment(part.name, style)]
        return Strip(segments).adjust_cell_length(width, base).simplify()

    async def on_click(self, event: Click) -> None:
        """Do what the key does that was clicked on."""
        end = 0
        for part in parts(self._view, self.size.width):
            end += part.width
            if event.x < end:
                await self.app.run_action(part.action)
                return
