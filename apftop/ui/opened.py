"""The page of a row, for as long as it is read: it follows what it is about."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from apftop.sheets.look import Look
from apftop.sheets.page import Page, Section
from apftop.sheets.sheet import RowKey
from apftop.ui.scrolled import Scrolled

GONE = Section("Gone since: this is what was last known", ())


class Opened(Scrolled):
    """A page of one row of a view, looked at as the reader did when they opened it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("Y", "app.summary", "copy a finding as five lines for a chat", id="page.summary"),
        Binding("y", "app.copy", "copy the commands of a finding, else the row", id="page.copy"),
    ]

    def __init__(self, page: Page, look: Look, key: RowKey) -> None:
        super().__init__(page)
        self.look, self.key = look, key
        self._known = page

    def renew(self, page: Page | None) -> None:
        """Show what is known now; None where what it was about is gone."""
        if page is not None:
            self._known = page
            self.show(page)
        else:
            self.show(Page((GONE, *self._known.sections)))
