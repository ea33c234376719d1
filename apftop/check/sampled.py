"""Exact waits of the requests that dumps have shown, and what became of those that waited."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from statistics import fmean

from apftop.check.window import Instant, LevelWindow
from apftop.derive.flows import tells_no_flows_apart
from apftop.derive.own import is_own
from apftop.records.checks import FlowWaits, Followed, RequestKey
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import RequestRow

Flow = tuple[str, str]
"""Schema, and distinguisher or user."""


def flow_waits(window: LevelWindow) -> tuple[FlowWaits, ...]:
    """Exact waits by flow, those with most waiting requests first, then most seen executing.

    A flow is a schema and distinguisher, or user where the level has no more than one queue and computes none. Each
    request counts once, this tool's own do not. Up to 1.27 dumps tell of waiting requests only.
    """
    dumps = [one for one in window.instants if one.rows is not None]
    if not dumps:
        return ()
    by_user = tells_no_flows_apart(chain.from_iterable(one.rows or () for one in window.instants), window.config)
    waits: dict[Flow, dict[RequestKey, float]] = defaultdict(dict)
    for one in dumps:
        for row in _others(one):
            if row.executing and row.start_ns is not None:
                wait_s = (row.start_ns - row.arrive_ns) / NANOSECONDS
                waits[_flow(row, by_user=by_user)][row.key] = wait_s
    last, waiting = dumps[-1], defaultdict[Flow, list[RequestRow]](list)
    for row in _others(last):
        if not row.executing:
            waiting[_flow(row, by_user=by_user)].append(row)
    found = [_waits(flow, waits[flow], waiting[flow], last.dump_s) for flow in {*waits, *waiting}]
    return tuple(sorted(found, key=lambda one: (-one.waiting, -one.count, one.schema, one.flow)))


def following(window: LevelWindow) -> Followed | None:
    """What became of the requests that waited in the dump before the last, by the last one.

    None without two dumps, and up to 1.27, where dumps do not list executing requests.
    """
    dumps = [one for one in window.instants if one.rows is not None]
    if len(dumps) < 2 or not dumps[-1].point.lists_executing:
        return None
    waited = {row.key for row in _others(dumps[-2]) if not row.executing}
    now = {row.key: row.executing for row in dumps[-1].rows or ()}
    executing = sum(now.get(key) is True for key in waited)
    still = sum(now.get(key) is False for key in waited)
    return Followed(len(waited), executing, still, len(waited) - executing - still)


def _waits(flow: Flow, waits: dict[RequestKey, float], waiting: list[RequestRow], dump_s: float | None) -> FlowWaits:
    ages = [] if dump_s is None else [dump_s - row.arrive_ns / NANOSECONDS for row in waiting]
    return FlowWaits(
        schema=flow[0],
        flow=flow[1],
        count=len(waits),
        mean_s=fmean(waits.values()) if waits else None,
        max_s=max(waits.values(), default=None),
        waiting=len(waiting),
        mean_age_s=fmean(ages) if ages else None,
    )


def _flow(row: RequestRow, *, by_user: bool) -> Flow:
    return row.schema, (row.details.user if row.details else "") if by_user else row.distinguisher


def _others(one: Instant) -> list[RequestRow]:
    """The level's rows without this tool's own."""
    return [row for row in one.rows or () if not is_own(row, one.point.own_users)]
