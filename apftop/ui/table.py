"""The table of one sheet, drawn line by line; its cursor is on a row, wherever that row goes."""

from __future__ import annotations

from textwrap import wrap
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from apftop.present import cut
from apftop.sheets.fit import GAP, fit, lay, longest
from apftop.sheets.sheet import Column, Mark, Row, RowKey, Sheet
from apftop.ui.paint import MARK_CLASSES, Painted, mark_styles

HEAD = 1
ASCENDING, DESCENDING = "▲", "▼"
NOTHING = Sheet("", (), (), 0)


class Line(NamedTuple):
    """All that one line shows: equal lines need no new paint."""

    style: str
    texts: Painted
    mark: Mark = ""


class Table(ScrollView, can_focus=True, inherit_bindings=False):
    """A sheet under a head that stays, with a cursor that follows its row's key.

    At the very top the cursor stays at the top, until it is moved. Where its row has gone, it stays at the same place.
    """

    COMPONENT_CLASSES = MARK_CLASSES | {"table--head", "table--cursor", "table--empty"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "row up", id="row.up"),
        Binding("down,j", "move(1)", "row down", id="row.down"),
        Binding("pageup", "page(-1)", "page up", id="page.up"),
        Binding("pagedown", "page(1)", "page down", id="page.down"),
        Binding("g,home", "top", "first row", id="row.first"),
        Binding("G,end", "bottom", "last row", id="row.last"),
        Binding(
            "enter",
            "open",
            "go into the row: schemas, queues, requests; the page of a request, a finding or a check",
            id="open",
        ),
    ]

    class Opened(Message):
        """The reader wants to go into the row that the cursor is on."""

    class Titled(Message):
        """The reader has clicked on the title of a column."""

        def __init__(self, column: str) -> None:
            self.column = column
            super().__init__()

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.sheet = NOTHING
        self._fits: tuple[tuple[int, int], ...] = ()
        self._needs: dict[str, int] = {}
        self._follows: RowKey | None = None
        self._index = 0
        self._strips: LRUCache[Line, Strip] = LRUCache(1000)
        self._styles: dict[tuple[str, tuple[Mark, ...]], Style] = {}

    @property
    def row(self) -> Row | None:
        """The row that the cursor is on."""
        return self.sheet.rows[self._index] if self.sheet.rows else None

    @property
    def follows(self) -> RowKey | None:
        """The key that the cursor is on; None where it stays at the top."""
        return self._follows

    @property
    def fitting(self) -> tuple[str, ...]:
        """The keys of the columns that there is room for."""
        return tuple(self.sheet.columns[at].key for at, _ in self._fits)

    def show(self, sheet: Sheet) -> None:
        """Show a sheet in place of the former one; the cursor keeps to its row."""
        old, seen, columns = self._visible(), self._in_sight(), self.sheet.columns
        self.sheet = sheet
        if sheet.rows:
            self._settle()
        self._refit(columns)
        if seen:
            self._scroll_into_view()
        self._repaint(old)

    def jump(self, key: RowKey | None) -> None:
        """Put the cursor on the row of a key with the next sheet, or at the top."""
        self._follows, self._index, self._needs = key, 0, {}
        self.scroll_to(y=0, animate=False, force=True)

    def _settle(self) -> None:
        rows, key = self.sheet.rows, self._follows
        at = 0 if key is None else next((at for at, row in enumerate(rows) if row.key == key), -1)
        if at < 0:
            at = min(self._index, len(rows) - 1)
            self._follows = rows[at].key if at else None
        self._index = at

    def _refit(self, columns: tuple[Column, ...]) -> None:
        """Lay the columns out anew; all is drawn anew if they are others than the former ones, or lie elsewhere.

        A column keeps the room that it has needed since the reader came here, so that none comes and goes with values.
        """
        former = self._needs if [one.key for one in columns] == [one.key for one in self.sheet.columns] else {}
        self._needs = {key: max(cells, former.get(key, 0)) for key, cells in longest(self.sheet).items()}
        fits = fit(self.sheet, self._width, self._needs)
        if fits != self._fits or columns != self.sheet.columns:
            self._fits = fits
            self._strips.clear()
            self.refresh()
        rows = max(len(self._reason), len(self.sheet.rows))
        self.virtual_size = Size(self._width, HEAD + rows)
        if self.scroll_offset.y > (most := max(0, rows - self._room)):
            self.scroll_to(y=most, animate=False, force=True)

    def _move_to(self, index: int) -> None:
        rows = self.sheet.rows
        if not rows:
            return
        old = self._visible()
        self._index = max(0, min(index, len(rows) - 1))
        self._follows = rows[self._index].key if self._index else None
        self._scroll_into_view()
        self._repaint(old)

    @property
    def _room(self) -> int:
        """How many rows can be seen at once."""
        return max(1, self.size.height - HEAD)

    @property
    def _width(self) -> int:
        """The width beside the scroll bar, which has its place also where all rows can be seen."""
        return max(0, self.size.width - self.styles.scrollbar_size_vertical)

    @property
    def _reason(self) -> list[str]:
        """The lines that say why there are no rows, where there are none."""
        return [] if self.sheet.rows else wrap(self.sheet.empty, max(1, self._width)) or [""]

    def _in_sight(self) -> bool:
        return 0 <= self._index - self.scroll_offset.y < self._room

    def _scroll_into_view(self) -> None:
        top = self.scroll_offset.y
        nearest = min(max(top, self._index - self._room + 1), self._index)
        if nearest != top:
            self.scroll_to(y=nearest, animate=False, force=True)

    def _visible(self) -> list[Line]:
        return [self._line(y) for y in range(self.size.height)]

    def _repaint(self, old: list[Line]) -> None:
        changed = [y for y, (one, other) in enumerate(zip(old, self._visible(), strict=True)) if one != other]
        if changed:
            self.refresh(*(Region(0, y, self.size.width, 1) for y in changed))

    def _line(self, y: int) -> Line:
        sheet = self.sheet
        if y < HEAD:
            return Line("head", tuple((self._title(sheet.columns[at]), "") for at, _ in self._fits))
        at = y - HEAD + self.scroll_offset.y
        if at < len(sheet.rows):
            row = sheet.rows[at]
            cells = tuple((row.cells[one].text, row.cells[one].mark) for one, _ in self._fits)
            return Line("cursor" if at == self._index else "row", cells, row.mark)
        reason = self._reason
        return Line("empty", ((reason[at], "dim"),) if at < len(reason) else ())

    def _title(self, column: Column) -> str:
        if column.key != self.sheet.sorted_by:
            return column.title
        return column.title + (DESCENDING if self.sheet.descending else ASCENDING)

    def render_line(self, y: int) -> Strip:
        line = self._line(y)
        strip = self._strips.get(line)
        if strip is None:
            strip = self._strips[line] = self._draw(line)
        return strip

    def _draw(self, line: Line) -> Strip:
        style, segments = self._style, []
        row = style(line.style, line.mark)
        if line.style == "empty":
            segments = [Segment(cut(text, self._width), row) for text, _ in line.texts]
        else:
            for (at, width), (text, mark) in zip(self._fits, line.texts, strict=True):
                segments.append(Segment(lay(text, self.sheet.columns[at], width), style(line.style, line.mark, mark)))
                segments.append(Segment(" " * GAP, row))
        return Strip(segments).adjust_cell_length(self.size.width, row).simplify()

    def _style(self, line: str, *marks: Mark) -> Style:
        """The style of text in a line: its marks over the table's own style, and the kind of the line over all."""
        found = self._styles.get((line, marks))
        if found is None:
            known = mark_styles(self)
            over = Style.null() if line == "row" else self.get_component_rich_style(f"table--{line}", partial=True)
            found = self._styles[line, marks] = Style.combine([self.rich_style, *(known[one] for one in marks), over])
        return found

    def notify_style_update(self) -> None:
        self._strips.clear()
        self._styles.clear()
        super().notify_style_update()

    def on_resize(self) -> None:
        seen = self._in_sight()
        self._strips.clear()
        self._refit(self.sheet.columns)
        if seen:
            self._scroll_into_view()

    def on_click(self, event: events.Click) -> None:
        """Select the row that was clicked on, go into it at a double click, or sort by the title."""
        if event.y < HEAD:
            if (column := self._column_at(event.x)) is not None:
                self.post_message(self.Titled(column))
            return
        at = event.y - HEAD + self.scroll_offset.y
        if at < len(self.sheet.rows):
            self._move_to(at)
            if event.chain > 1:
                self.post_message(self.Opened())

    def _column_at(self, x: int) -> str | None:
        end = 0
        for at, width in self._fits:
            end += width + GAP
            if x < end:
                return self.sheet.columns[at].key
        return None

    def action_move(self, rows: int) -> None:
        self._move_to(self._index + rows)

    def action_page(self, pages: int) -> None:
        self._move_to(self._index + pages * max(1, self._room - 1))

    def action_top(self) -> None:
        self._move_to(0)

    def action_bottom(self) -> None:
        self._move_to(len(self.sheet.rows) - 1)

    def action_open(self) -> None:
        if self.row is not None:
            self.post_message(self.Opened())
