"""Which columns fit a width, how wide each is, and text in exactly so many cells."""

from __future__ import annotations

from apftop.present import cells, cut, cut_front
from apftop.sheets.sheet import Column, Sheet

GAP = 1
"""Cells between two columns."""

ARROW = 1
"""Cells after the title of the column that rows are sorted by."""

LEAST = 4
"""No text is made narrower than this, however narrow the screen."""

STEP = 4
"""Text columns grow by so much, so that they do not shift with each letter."""


def fit(sheet: Sheet, width: int) -> tuple[tuple[int, int], ...]:
    """The columns that fit, by their place in the sheet, with their widths in cells.

    Those of the highest rank go first, the last of equals; numbers are never cut. Room that is left goes to text, as
    far as it has need of it. If not even the columns of rank 0 fit, their text is made narrower.
    """
    widths = {at: _least(sheet, at) for at in range(len(sheet.columns))}
    while _taken(widths) > width and (last := _last_to_stay(sheet.columns, widths)) is not None:
        del widths[last]
    _narrow(sheet, widths, width)
    _widen(sheet, widths, width - _taken(widths))
    return tuple(sorted(widths.items()))


def lay(text: str, column: Column, width: int) -> str:
    """Text of a column in exactly so many cells; of a trend that is cut the end is left, which is the latest."""
    if column.kind == "trend":
        text = text[max(0, len(text) - width) :]
    else:
        text = cut_front(text, width) if column.ends else cut(text, width)
    room = " " * (width - cells(text))
    return room + text if column.right else text + room


def _least(sheet: Sheet, at: int) -> int:
    column = sheet.columns[at]
    title = cells(column.title) + (ARROW if column.key == sheet.sorted_by else 0)
    return max(column.width, title, 0 if column.most else _longest(sheet, at))


def _longest(sheet: Sheet, at: int) -> int:
    return max((cells(row.cells[at].text) for row in sheet.rows), default=0)


def _taken(widths: dict[int, int]) -> int:
    return sum(widths.values()) + GAP * (len(widths) - 1)


def _last_to_stay(columns: tuple[Column, ...], widths: dict[int, int]) -> int | None:
    """The column that goes next: None when all are of rank 0."""
    at = max(widths, key=lambda at: (columns[at].rank, at))
    return at if columns[at].rank else None


def _narrow(sheet: Sheet, widths: dict[int, int], width: int) -> None:
    """Take from the text, the widest first, what lacks."""
    texts = [at for at in widths if sheet.columns[at].most]
    for _ in range(_taken(widths) - width):
        at = max(texts, key=lambda at: widths[at], default=None)
        if at is None or widths[at] <= LEAST:
            return
        widths[at] -= 1


def _widen(sheet: Sheet, widths: dict[int, int], spare: int) -> None:
    """Share the room that is left among the text that has need of it, in steps, the narrowest first."""
    wanted = {at: min(sheet.columns[at].most, _rounded(_longest(sheet, at))) for at in widths if sheet.columns[at].most}
    wanted = {at: most for at, most in wanted.items() if most > widths[at]}
    while spare > 0 and wanted:
        at = min(wanted, key=lambda at: (sheet.columns[at].kind == "trend", widths[at]))
        step = min(STEP, spare, wanted[at] - widths[at])
        widths[at] += step
        spare -= step
        if widths[at] >= wanted[at]:
            del wanted[at]


def _rounded(length: int) -> int:
    return -(-length // STEP) * STEP
