"""The line in which a filter is typed."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label


class Prompt(Horizontal):
    """A filter as it is typed; `enter` keeps it, `escape` brings the former one back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", "back to the former filter", id="prompt.undo")
    ]

    class Typed(Message):
        """The filter as it stands, and whether its reader is done with it."""

        def __init__(self, text: str, *, done: bool) -> None:
            self.text, self.done = text, done
            super().__init__()

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._former = ""
        self.display = False

    def compose(self) -> ComposeResult:
        yield Label("/", markup=False)
        yield Input(compact=True, select_on_focus=False)

    def open(self, text: str) -> None:
        """Show a filter to be changed."""
        self._former = text
        field = self.query_one(Input)
        with field.prevent(Input.Changed):
            field.value = text
        self.display = True
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Typed(event.value, done=False))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._close(event.value)

    def action_give_up(self) -> None:
        self._close(self._former)

    def _close(self, text: str) -> None:
        self.display = False
        self.post_message(self.Typed(text, done=True))
