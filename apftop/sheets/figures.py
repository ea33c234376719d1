"""Cells out of numbers and foreign text: one way for all views."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache

from apftop import present
from apftop.records.measures import Quantile
from apftop.sheets.sheet import Cell, Mark

STALE = "~"
"""Follows a number from a sample that its endpoint has failed to renew, or from some of the replicas only."""

UNKNOWN = Cell(present.UNKNOWN, None, "dim")
BLANK = Cell("", None)
"""Where a column has nothing to say of a row: not the same as unknown."""


NAMES_KEPT = 4096
"""Names come again in each row and each moment: so many are not made safe anew."""


def count(value: float | None, *, stale: bool = False) -> Cell:
    """A count or a number of seats."""
    return number(value, present.whole, stale=stale)


def marked(value: float | None, text: Callable[[float], str], mark: Mark, *, stale: bool = False) -> Cell:
    """A number that has a mark unless it is 0."""
    return number(value, text, stale=stale, mark=mark if value else "")


def rate(value: float | None, *, counts: bool, stale: bool = False) -> Cell:
    """Something a second, or as a count over the window."""
    return number(value, present.whole if counts else present.rate, stale=stale)


def rejections(value: float | None, *, counts: bool, stale: bool = False) -> Cell:
    """The same of rejected requests."""
    return marked(value, present.whole if counts else present.rate, "bad", stale=stale)


def seconds(value: float | None, *, stale: bool = False) -> Cell:
    """A duration."""
    return number(value, present.seconds, stale=stale)


def number(value: float | None, text: Callable[[float], str], *, stale: bool = False, mark: Mark = "") -> Cell:
    """A number in a text of its own."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return Cell(text(value) + STALE if stale else text(value), float(value), mark or ("dim" if stale else ""))


def interval(value: Quantile | None, *, stale: bool = False) -> Cell:
    """A quantile by its bounds."""
    if value is None:
        return UNKNOWN
    bounds = (value.low, math.inf if value.high is None else value.high)
    text = present.interval(value)
    return Cell(text + STALE if stale else text, bounds, "dim" if stale else "")


@lru_cache(maxsize=NAMES_KEPT)
def words(text: str | None, mark: Mark = "") -> Cell:
    """Foreign text; None is unknown."""
    if text is None:
        return UNKNOWN
    return Cell(present.plain(text), text, mark)


def add(values: Iterable[float | None]) -> float | None:
    """The sum; None where a term is unknown or there is none."""
    terms = list(values)
    known = [term for term in terms if term is not None]
    return sum(known) if known and len(known) == len(terms) else None


def greatest(values: Iterable[float | None]) -> float | None:
    """The greatest of the known values, if there is one."""
    return max((value for value in values if value is not None), default=None)


def highest(values: Iterable[Quantile | None]) -> Quantile | None:
    """The quantile that lies highest among the known ones, by its upper bound."""
    return max((value for value in values if value is not None), key=_bounds, default=None)


def _bounds(value: Quantile) -> tuple[float, float]:
    return math.inf if value.high is None else value.high, value.low
