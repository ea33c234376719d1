"""Copying by way of the terminal (OSC 52), which also works over ssh and in tmux."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from apftop.sheets.sheet import Row, Sheet

MOST_BYTES = 74_994
"""So much base64 at most: terminals drop longer sequences."""


def copying(text: str, environment: Mapping[str, str]) -> str | None:
    """What to write to the terminal so that it copies a text; None if it is too long.

    Inside tmux both forms are needed: which of them passes depends on `allow-passthrough` and `set-clipboard`.
    """
    encoded = base64.b64encode(text.encode()).decode()
    if len(encoded) > MOST_BYTES:
        return None
    plainly = f"\x1b]52;c;{encoded}\a"
    if "TMUX" not in environment:
        return plainly
    doubled = plainly.replace("\x1b", "\x1b\x1b")
    return f"{plainly}\x1bPtmux;{doubled}\x1b\\"


def in_words(sheet: Sheet, row: Row) -> str:
    """A row as one line of text: what it is a row of, and each cell that says something after its column's title."""
    cells = zip(sheet.columns, row.cells, strict=True)
    told = (f"{column.title} {cell.text}" for column, cell in cells if cell.text)
    return f"{sheet.title}: {', '.join(told)}"
