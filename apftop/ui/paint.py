"""Cells to styled lines. Texts are drawn as they are: no markup is ever read in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from apftop.sheets.sheet import Cell, Mark

MARKS: tuple[Mark, ...] = ("bad", "warn", "good", "dim", "own")
MARK_CLASSES = {f"mark--{mark}" for mark in MARKS}
Painted = tuple[tuple[str, Mark], ...]
"""The texts of a line with their marks: all that a line shows, so that equal ones need no new paint."""


def mark_styles(widget: Widget) -> Mapping[Mark, Style]:
    """The style of each mark as the stylesheet has it for a widget, to be laid over the style below."""
    styles: dict[Mark, Style] = {"": Style.null()}
    return styles | {mark: widget.get_component_rich_style(f"mark--{mark}", partial=True) for mark in MARKS}


class Lines(Widget):
    """Lines of cells one after another, as wide as their texts; only lines that have changed are painted anew."""

    COMPONENT_CLASSES = MARK_CLASSES

    def __init__(self, lines: Sequence[Sequence[Cell]] = (), id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines = _painted(lines)

    @property
    def count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def show(self, lines: Sequence[Sequence[Cell]]) -> None:
        """Show these lines instead of the former ones."""
        old, self._lines = self._lines, _painted(lines)
        if len(old) != len(self._lines):
            self.refresh(layout=True)
            return
        changed = [y for y, (one, other) in enumerate(zip(old, self._lines, strict=True)) if one != other]
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self._lines)

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        if y >= len(self._lines):
            return Strip.blank(width, base)
        marks = mark_styles(self)
        line = Strip([Segment(text, base + marks[mark]) for text, mark in self._lines[y]])
        return line.adjust_cell_length(width, base).simplify()


def _painted(lines: Sequence[Sequence[Cell]]) -> tuple[Painted, ...]:
    return tuple(tuple((cell.text, cell.mark) for cell in line) for line in lines)
