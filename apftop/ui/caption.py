"""The lines of our own around the table: what is looked at and how, and what of it is not known."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from apftop.present import cells, cut, plain
from apftop.sheets.look import Look
from apftop.sheets.sheet import Cell, Sheet

MOST_NOTES = 3
"""So many lines below the table at most, unless the table leaves more of the screen empty."""

MORE = " … `apftop doctor` tells all"


def caption(sheet: Sheet, look: Look, interval_s: float | None, width: int) -> tuple[Cell, ...]:
    """One line: what the view is, and how it was made; what there is no room for is left out.

    `interval_s` is the pace of polling; None for what was.
    """
    parts = [Cell(sheet.title), *_filtered(sheet, look)]
    parts += [Cell(text) for text in _manner(sheet, look, interval_s) if text]
    return _fitting(parts, width)


def notes(sheet: Sheet, width: int, free: int = 0) -> tuple[tuple[Cell, ...], ...]:
    """What is wrong with the filter; else facts, and what of the view is not known, in as many lines as it takes.

    Where these are more than there is room for, facts have one line each, and what is not known has at least one. What
    stands in the place of rows is not said twice. `free` are the lines of the screen that have nothing else.
    """
    most = max(MOST_NOTES, free)
    if sheet.fault:
        return tuple(
            (Cell(line, mark="bad"),) for line in _shortened(_wrapped([f"! {sheet.fault}"], width), width, most)
        )
    wrong = _wrapped((f"! {note}" for note in sheet.notes if note != sheet.empty), width)
    facts = _wrapped(sheet.facts, width)
    if len(facts) + len(wrong) > most:
        facts = [cut(fact, width) for fact in sheet.facts[: most - bool(wrong)]]
    told = _shortened(wrong, width, most - len(facts))
    return (*((Cell(line),) for line in facts), *((Cell(line, mark="dim"),) for line in told))


def _wrapped(texts: Iterable[str], width: int) -> list[str]:
    return [line for text in texts for line in textwrap.wrap(text, max(10, width), subsequent_indent="  ")]


def _shortened(lines: list[str], width: int, most: int) -> list[str]:
    """The first of them, and where the rest is told."""
    return lines if len(lines) <= most else [*lines[: most - 1], cut(lines[most - 1], width - len(MORE)) + MORE]


def _filtered(sheet: Sheet, look: Look) -> Iterable[Cell]:
    if not look.filter:
        return ()
    count = "not understood" if sheet.fault else f"{len(sheet.rows)}/{sheet.whole}"
    return (Cell(f"filter {plain(look.filter, 40)}  {count}", mark="bad" if sheet.fault else "own"),)


def _manner(sheet: Sheet, look: Look, interval_s: float | None) -> Iterable[str]:
    if look.held is not None:
        yield "order held"
    elif sheet.sorted_by:
        title = next((column.title for column in sheet.columns if column.key == sheet.sorted_by), sheet.sorted_by)
        yield f"by {title}"
    yield "totals" if look.totals else ""
    yield "idle hidden" if look.hide_idle else ""
    rows = len(sheet.rows)
    yield "" if look.filter else "1 row" if rows == 1 else f"{rows} rows"
    yield "" if interval_s is None else f"every {interval_s:g} s"


def _fitting(parts: Iterable[Cell], width: int) -> tuple[Cell, ...]:
    line: list[Cell] = []
    taken = 0
    for part in parts:
        gap = "  " if line else ""
        taken += len(gap) + cells(part.text)
        if line and taken > width:
            break
        line.append(Cell(gap + part.text, mark=part.mark))
    return tuple(line)
