"""A sheet as lines of plain text, for where there is no terminal."""

from __future__ import annotations

from textwrap import wrap

from apftop.present import cut
from apftop.sheets.fit import GAP, fit, lay
from apftop.sheets.sheet import Sheet


def lines(sheet: Sheet, width: int) -> list[str]:
    """The title, the columns that fit `width` cells under their own titles, facts, and what is not known."""
    fits = [(at, sheet.columns[at], wide) for at, wide in fit(sheet, width)]
    gap = " " * GAP
    head = gap.join(lay(_titled(sheet, at), column, wide) for at, column, wide in fits)
    rows = [gap.join(lay(row.cells[at].text, column, wide) for at, column, wide in fits) for row in sheet.rows]
    about = [*([f"filter: {sheet.fault}"] if sheet.fault else []), *sheet.notes]
    if sheet.empty and sheet.empty not in about:
        rows = [sheet.empty]
    folded = (part for line in about for part in wrap(f"! {line}", max(1, width), subsequent_indent="  "))
    return [cut(line, width).rstrip() for line in (sheet.title, head, *rows, *sheet.facts, *folded)]


def _titled(sheet: Sheet, at: int) -> str:
    column = sheet.columns[at]
    arrow = "▼" if sheet.descending else "▲"
    return column.title + arrow if column.key == sheet.sorted_by else column.title
