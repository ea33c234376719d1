"""What is shown of a moment, also where there is none yet, or where one view fails."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from dataclasses import replace

from apftop.errors import Trouble, one_line
from apftop.present import plain
from apftop.records.moment import Moment
from apftop.sheets.header import header
from apftop.sheets.look import Look
from apftop.sheets.page import Page, Section
from apftop.sheets.sheet import Cell, RowKey, Sheet
from apftop.sheets.timeline import timeline
from apftop.sheets.views import page, sheet

NOTHING_YET = "no server has answered yet"
_LOG = logging.getLogger("apftop")


def sheet_of(moment: Moment | None, look: Look, now: float) -> Sheet:
    """The sheet as of now (Unix seconds); a view that fails says so in its place, and the others go on."""
    if moment is None:
        return _empty(look, NOTHING_YET)
    try:
        return sheet(replace(moment, now=max(moment.now, now)), look)
    except Exception as error:  # noqa: BLE001  whatever it is, it is shown and logged
        return _empty(look, f"this view cannot be shown: {told(error)}")


def page_of(moment: Moment, look: Look, key: RowKey, now: float) -> Page | None:
    """The page of a row as of now; None where there is none; one that fails says so."""
    try:
        return page(replace(moment, now=max(moment.now, now)), look, key)
    except Exception as error:  # noqa: BLE001  as above
        return Page((Section(f"this page cannot be shown: {told(error)}", ()),))


def header_of(moment: Moment, look: Look, now: float, width: int, marks: Sequence[Cell]) -> Sequence[Sequence[Cell]]:
    """The lines above the view; where they fail they say so."""
    try:
        return header(moment, look, now, width, marks)
    except Exception as error:  # noqa: BLE001  as above
        return ((*marks, Cell(f" the header cannot be shown: {told(error)}", mark="bad")),)


def timeline_of(moment: Moment, width: int) -> Sequence[Sequence[Cell]]:
    """The time line of what was; where it fails it says so."""
    if moment.replayed is None:
        return ()
    try:
        return timeline(moment.notes, moment.replayed.first, moment.replayed.last, moment.replayed.at, width)
    except Exception as error:  # noqa: BLE001  as above
        return ((Cell(f"the time line cannot be shown: {told(error)}", mark="bad"),),)


def told(error: BaseException) -> str:
    """An error in one line that any terminal can show; its traceback goes to the log."""
    _LOG.debug("%s", "".join(traceback.format_exception(error)))
    return plain(one_line(str(error) if isinstance(error, Trouble) else f"{type(error).__name__}: {error}"))


def _empty(look: Look, why: str) -> Sheet:
    return Sheet(look.view.value, (), (), 0, empty=why)
