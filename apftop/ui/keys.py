"""The keys of the whole screen, each with an id of its own; the help, the palette and the key line are made of them."""

from __future__ import annotations

from typing import Final

from textual.binding import Binding

from apftop.sheets.look import View

DIGITS: Final = dict(zip(View, "123456789", strict=True))
VIEWS: Final = tuple(
    Binding(DIGITS[view], f"view('{view.value}')", view.value, id=f"view.{view.value}") for view in View
)
KEYS: Final = (
    *VIEWS,
    Binding("tab", "scope(1)", "scope: each replica, all summed, one replica after another", id="scope.next"),
    Binding("shift+tab", "scope(-1)", "scope, backwards", id="scope.previous"),
    Binding("m", "checks", "the checks of the row's level, of all levels where it has none", id="model"),
    Binding("escape", "undo", "undo one thing: the filter, the way into a row", id="undo"),
    Binding("space,p", "freeze", "freeze the view, polling goes on; play the past on, or have it stand", id="freeze"),
    Binding("left_square_bracket", "step(-1)", "one look back in time", id="past.back"),
    Binding("right_square_bracket", "step(1)", "one look on", id="past.on"),
    Binding("left_curly_bracket", "minutes(-1)", "one minute back in time", id="past.minute_back"),
    Binding("right_curly_bracket", "minutes(1)", "one minute on", id="past.minute_on"),
    Binding("T", "go_to", "go to a time", id="past.go"),
    Binding("n", "mark(1)", "the next thing that happened, of what is recorded", id="past.next_mark"),
    Binding("N", "mark(-1)", "the one before", id="past.last_mark"),
    Binding("H", "history", "what a Prometheus has kept, where --prometheus names one", id="past.history"),
    Binding("L", "live", "back to now, or to the end of the tape", id="past.leave"),
    Binding("slash", "filter", "filter", id="filter"),
    Binding("less_than_sign,left", "sort(-1)", "sort by the column to the left", id="sort.left"),
    Binding("greater_than_sign,right", "sort(1)", "sort by the column to the right", id="sort.right"),
    Binding("r", "reverse", "reverse the order", id="sort.reverse"),
    Binding("o", "hold", "hold the order: values move, rows do not", id="hold"),
    Binding("t", "totals", "totals instead of rates, and back", id="totals"),
    Binding("i", "idle", "hide idle rows, and show them again", id="idle"),
    Binding("plus,equals_sign", "interval(1)", "poll less often; play the past faster", id="interval.longer"),
    Binding("minus", "interval(-1)", "poll more often; play the past slower", id="interval.shorter"),
    Binding("ctrl+r,f5", "wake", "poll now, also servers that are left alone", id="wake"),
    Binding("w", "write", "write what was just seen as a tape, for apftop replay", id="write"),
    Binding("b", "bundle", "write what is on the screen as a bundle, for apftop report", id="bundle"),
    Binding("y", "copy", "copy the row as text", id="copy"),
    Binding("Y", "summary", "copy a finding as five lines for a chat", id="summary"),
    Binding("colon,ctrl+p", "command_palette", "find an action by its name", id="palette"),
    Binding("question_mark,h,f1", "help", "help", id="help"),
    Binding("ctrl+z", "suspend_process", "suspend", id="suspend"),
    Binding("q", "leave(0)", "quit", id="quit"),
    Binding("ctrl+c", "leave(130)", "quit", priority=True, id="interrupt"),
)
_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "colon": ":",
    "escape": "esc",
}


def keys_of(binding: Binding) -> str:
    """The keys of a binding as they are written on them."""
    return " ".join(_NAMES.get(key, key) for key in binding.key.split(","))
