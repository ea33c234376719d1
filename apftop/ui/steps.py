"""How the reader's keys change the look: each step is a function from a look to the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from apftop.records.asking import Demand
from apftop.sheets.look import EACH, SUM, Look, Sort, View
from apftop.sheets.sheet import Column, Sheet
from apftop.sheets.views import needs

INTERVALS_S = (1.0, 2.0, 5.0, 10.0, 30.0)


def demand(look: Look, interval_s: float, wake: int) -> Demand:
    """What a look needs of the polling."""
    return Demand(interval_s, needs(look.view), wake)


def slower(interval_s: float) -> float:
    """The next longer interval, if there is one."""
    return min((one for one in INTERVALS_S if one > interval_s), default=interval_s)


def faster(interval_s: float) -> float:
    """The next shorter interval, if there is one."""
    return max((one for one in INTERVALS_S if one < interval_s), default=interval_s)


def at_view(look: Look, view: View) -> Look:
    """The whole of another view: what narrowed the former one was its own."""
    return replace(look, view=view, filter="", held=None, within={})


def back(look: Look, former: Look) -> Look:
    """The look from which the reader went into a row; how rows are shown stays as they have set it since."""
    return replace(former, totals=look.totals, hide_idle=look.hide_idle, sorts=look.sorts)


def scoped(look: Look, replicas: Sequence[str], step: int) -> Look:
    """The next scope: each replica, all summed, then one after another."""
    scopes = (EACH, SUM, *replicas)
    at = scopes.index(look.scope) if look.scope in scopes else 0
    return replace(look, scope=scopes[(at + step) % len(scopes)], held=None)


def sorted_by(look: Look, sheet: Sheet, column: Column) -> Look:
    """Sorted by a column, what is large first and names from A; the other way round if it was sorted by it already."""
    descending = not sheet.descending if sheet.sorted_by == column.key else column.right
    return _sorted(look, Sort(column.key, descending))


def sort_moved(look: Look, sheet: Sheet, columns: Sequence[Column], step: int) -> Look:
    """Sorted by the next of these columns, or by the view's own order beyond the first and the last of them."""
    keys = ["", *(column.key for column in columns)]
    at = keys.index(sheet.sorted_by) if sheet.sorted_by in keys else 0
    to = (at + step) % len(keys)
    return _sorted(look, Sort(keys[to], columns[to - 1].right) if to else None)


def reversed_sort(look: Look, sheet: Sheet) -> Look:
    """The same order the other way round; the view's own order has no other way."""
    return _sorted(look, Sort(sheet.sorted_by, not sheet.descending)) if sheet.sorted_by else look


def hold(look: Look, sheet: Sheet) -> Look:
    """Rows stay where they are while their values move, or no longer do."""
    return replace(look, held=tuple(row.key for row in sheet.rows) if look.held is None else None)


def _sorted(look: Look, sort: Sort | None) -> Look:
    others = {view: one for view, one in look.sorts.items() if view != look.view}
    return replace(look, sorts=others if sort is None else others | {look.view: sort}, held=None)
