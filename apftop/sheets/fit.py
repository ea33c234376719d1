"""Which columns fit a width, how wide each is, and text in exactly so many cells."""

from __future__ import annotations

from collections.abc import Mapping

from apftop.present import cells, cut, cut_front
from apftop.sheets.sheet import Column, Sheet

GAP = 1
"""Cells between two columns."""

ARROW = 1
"""Cells after the title of the column that rows are sorted by."""

LEAST = 4
"""No text is made narrower than this, however narrow the screen."""

SQUEEZED, SQUEEZED_FOR = 3, 4
"""So many cells are rather taken from text than that a column goes that is of this rank or a lower one."""

STEP = 4
"""Text columns grow by so much, so that they do not shift with each letter."""


def longest(sheet: Sheet) -> dict[str, int]:
    """How many cells the longest text of each column takes, by its key."""
    return {
        column.key: max((cells(row.cells[at].text) for row in sheet.rows), default=0)
        for at, column in enumerate(sheet.columns)
    }


def fit(sheet: Sheet, width: int, needs: Mapping[str, int] | None = None) -> tuple[tuple[int, int], ...]:
    """The columns that fit, by their place in the sheet, with their widths in cells.

    Those of the highest rank go first, the last of equals, but never the one that rows are sorted by; numbers are never
    cut. Room that is left goes to text, as far as it has need of it. If not even the columns of rank 0 fit, their text
    is made narrower. `needs` are the cells that columns are to have room for; by default those of their longest text.
    """
    needs = longest(sheet) if needs is None else needs
    widths = {at: _least(sheet, at, needs) for at in range(len(sheet.columns))}
    while (last := _last_to_stay(sheet, widths)) is not None:
        if _taken(widths) <= width + _to_squeeze(sheet, widths, last):
            break
        del widths[last]
    _narrow(sheet, widths, width)
    _widen(sheet, widths, width - _taken(widths), needs)
    return tuple(sorted(widths.items()))


def lay(text: str, column: Column, width: int) -> str:
    """Text of a column in exactly so many cells; of a trend that is cut the end is left, which is the latest."""
    if column.kind == "trend":
        text = text[max(0, len(text) - width) :]
    else:
        text = cut_front(text, width) if column.ends else cut(text, width)
    room = " " * (width - cells(text))
    return room + text if column.right else text + room


def _least(sheet: Sheet, at: int, needs: Mapping[str, int]) -> int:
    column = sheet.columns[at]
    title = cells(column.title) + (ARROW if column.key == sheet.sorted_by else 0)
    return max(column.width, title, 0 if column.most else needs.get(column.key, 0))


def _taken(widths: dict[int, int]) -> int:
    return sum(widths.values()) + GAP * (len(widths) - 1)


def _to_squeeze(sheet: Sheet, widths: dict[int, int], last: int) -> int:
    """How many cells text can be narrower by, without its title being cut, to save the column that goes next."""
    if sheet.columns[last].rank > SQUEEZED_FOR:
        return 0
    return min(SQUEEZED, sum(widths[at] - cells(sheet.columns[at].title) for at in widths if sheet.columns[at].most))


def _last_to_stay(sheet: Sheet, widths: dict[int, int]) -> int | None:
    """The column that goes next: None when all others are of rank 0."""
    ranks = {at: column.rank for at in widths if (column := sheet.columns[at]).key != sheet.sorted_by and column.rank}
    return max(ranks, key=lambda at: (ranks[at], at), default=None)


def _narrow(sheet: Sheet, widths: dict[int, int], width: int) -> None:
    """Take from the text what lacks, the most from what is widest beside its title."""
    texts = [at for at in widths if sheet.columns[at].most and widths[at] > LEAST]
    for _ in range(_taken(widths) - width):
        at = max(texts, key=lambda at: widths[at] - cells(sheet.columns[at].title), default=None)
        if at is None:
            return
        widths[at] -= 1
        if widths[at] <= LEAST:
            texts.remove(at)


def _widen(sheet: Sheet, widths: dict[int, int], spare: int, needs: Mapping[str, int]) -> None:
    """Share the room that is left among the text that has need of it, in steps, the narrowest first."""
    texts = [(at, sheet.columns[at]) for at in widths if sheet.columns[at].most]
    wanted = {at: min(column.most, _rounded(needs.get(column.key, 0))) for at, column in texts}
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
