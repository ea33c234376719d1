"""The one entry for the screen and for plain text: a moment, as the reader looks at it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from apftop.records.moment import Moment
from apftop.records.raw import Endpoint
from apftop.sheets import (
    check_page,
    checks,
    clients,
    finding_page,
    findings,
    levels,
    past,
    queues,
    replicas,
    request_page,
    requests,
    schemas,
)
from apftop.sheets.filter import FilterError, matching, parse
from apftop.sheets.look import Look, View
from apftop.sheets.order import held, ordered
from apftop.sheets.page import Page
from apftop.sheets.sheet import Row, RowKey, Sheet
from apftop.sheets.table import Table


@dataclass(frozen=True, slots=True)
class Viewed:
    """How a view is made, the dumps that it reads besides that of priority levels, and the pages of its rows."""

    table: Callable[[Moment, Look], Table]
    needs: frozenset[Endpoint] = frozenset()
    page: Callable[[Moment, Look, RowKey], Page | None] | None = None


VIEWS: Mapping[View, Viewed] = {
    View.LEVELS: Viewed(levels.table),
    View.SCHEMAS: Viewed(schemas.table),
    View.QUEUES: Viewed(queues.table, frozenset({Endpoint.QUEUES, Endpoint.REQUESTS})),
    View.REQUESTS: Viewed(requests.table, frozenset({Endpoint.REQUESTS}), request_page.page),
    View.CLIENTS: Viewed(clients.table, frozenset({Endpoint.REQUESTS})),
    View.REPLICAS: Viewed(replicas.table),
    View.FINDINGS: Viewed(findings.table, frozenset({Endpoint.REQUESTS}), finding_page.page),
    View.CHECKS: Viewed(checks.table, frozenset({Endpoint.QUEUES, Endpoint.REQUESTS}), check_page.page),
    View.HISTORY: Viewed(past.table),
}


def needs(view: View) -> frozenset[Endpoint]:
    """The dumps that a view cannot do without: what a Demand asks for while the reader looks at it."""
    return VIEWS[view].needs


def page(moment: Moment, look: Look, key: RowKey) -> Page | None:
    """The page of a row; None where the view has none, or what the row was about is gone."""
    make = VIEWS[look.view].page
    return make(moment, look, key) if make is not None else None


def sheet(moment: Moment, look: Look) -> Sheet:
    """What the reader sees: filtered, in order. A filter that is not understood hides nothing and is explained."""
    made = VIEWS[look.view].table(moment, look)
    whole = tuple(row for row in made.rows if row.key not in made.idle) if look.hide_idle else made.rows
    rows, fault = whole, ""
    try:
        rows = matching(whole, parse(look.filter, made.columns))
    except FilterError as error:
        fault = str(error)
    sort = look.sorts.get(look.view)
    at = next((at for at, column in enumerate(made.columns) if sort and column.key == sort.column), None)
    if sort is not None and at is not None:
        rows = ordered(rows, at, descending=sort.descending)
    if look.held is not None:
        rows = held(rows, look.held)
    return Sheet(
        title=made.title,
        columns=made.columns,
        rows=rows,
        whole=len(whole),
        empty=_empty(made, whole, rows),
        facts=made.facts,
        notes=made.notes,
        fault=fault,
        sorted_by=sort.column if sort is not None and at is not None else "",
        descending=sort is not None and at is not None and sort.descending,
    )


def _empty(made: Table, whole: tuple[Row, ...], rows: tuple[Row, ...]) -> str:
    if rows:
        return ""
    if whole:
        return f"none of {len(whole)} rows matches the filter"
    return f"nothing happens in any of {len(made.rows)} rows: idle ones are hidden" if made.rows else made.empty
