"""How the reader looks at a moment: view, scope, filter, sort, hold and where they have drilled to. Frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from apftop.sheets.sheet import RowKey


class View(StrEnum):
    """The views, in the order of their number keys."""

    LEVELS = "levels"
    SCHEMAS = "schemas"
    QUEUES = "queues"
    REQUESTS = "requests"
    CLIENTS = "clients"
    REPLICAS = "replicas"


EACH = "each replica"
SUM = "all replicas"


@dataclass(frozen=True, slots=True)
class Sort:
    """The column that rows are sorted by."""

    column: str
    descending: bool


@dataclass(frozen=True, slots=True)
class Look:
    """One way of looking.

    `scope` is EACH (a row for each replica), SUM (one row over all), or the name of one replica. `sorts` are by view
    where the reader chose one. `held` are the keys of the rows in the order that is held, None where it is not.
    `within` narrows to what the reader drilled into: names by `level`, `schema`, `client`, `queue`. `totals` shows
    counts over the window instead of rates. `hide_idle` leaves out rows in which nothing happens.
    """

    view: View = View.LEVELS
    scope: str = EACH
    filter: str = ""
    sorts: Mapping[View, Sort] = field(default_factory=dict)
    held: tuple[RowKey, ...] | None = None
    within: Mapping[str, str] = field(default_factory=dict)
    totals: bool = False
    hide_idle: bool = False
