"""How the reader looks at a moment: view, scope, filter, sort, hold and where they have drilled to. Frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from apftop.sheets.sheet import RowKey


class View(StrEnum):
    """The views, in the order of their keys."""

    LEVELS = "levels"
    SCHEMAS = "schemas"
    QUEUES = "queues"
    REQUESTS = "requests"
    CLIENTS = "clients"
    REPLICAS = "replicas"
    FINDINGS = "findings"
    CHECKS = "checks"
    HISTORY = "history"


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

    Names are as the servers gave them: foreign text.
    """

    view: View = View.LEVELS
    scope: str = EACH
    filter: str = ""
    sorts: Mapping[View, Sort] = field(default_factory=dict)
    held: tuple[RowKey, ...] | None = None
    within: Mapping[str, str] = field(default_factory=dict)
    totals: bool = False
    hide_idle: bool = False

    def drilled(self, about: Mapping[str, str]) -> Look:
        """The look at what a row is about: the `view` that it names, on its `replica` if it names one, and no more.

        The filter and the held order were those of the other view.
        """
        within = {key: name for key, name in about.items() if key not in ("view", "replica")}
        return replace(
            self,
            view=View(about["view"]),
            scope=about.get("replica", self.scope),
            within=within,
            filter="",
            held=None,
        )
