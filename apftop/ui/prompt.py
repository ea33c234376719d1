"""The line in which a filter or a time is typed."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label

Of = Literal["filter", "time"]
LABELS: dict[Of, str] = {"filter": "/", "time": "go to (UTC) "}


class Prompt(Horizontal):
    """A filter as it is typed, or a time; `enter` keeps it, `escape` brings the former one back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", "back to the former filter", id="prompt.undo")
    ]

    class Typed(Message):
        """What is typed as it stands, what of, and whether its reader is done with it."""

        def __init__(self, text: str, of: Of, *, done: bool) -> None:
            self.text, self.of, self.done = text, of, done
            super().__init__()

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._former = ""
        self._of: Of = "filter"
        self.display = False

    def compose(self) -> ComposeResult:
        yield Label(LABELS["filter"], markup=False)
        yield Input(compact=True, select_on_focus=False)

    def open(self, text: str, of: Of = "filter") -> None:
        """Show a filter to be changed, or have a time typed."""
        self._former, self._of = text, of
        self.query_one(Label).update(LABELS[of])
        field = self.query_one(Input)
        with field.prevent(Input.Changed):
            field.value = text
        self.display = True
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._of == "filter":
            self.post_message(self.Typed(event.value, self._of, done=False))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._close(event.value)

    def action_give_up(self) -> None:
        self._close(self._former)

    def _close(self, text: str) -> None:
        self.display = False
        self.post_message(self.Typed(text, self._of, done=True))
