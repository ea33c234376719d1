"""Rows of dump_requests with ages, exact waits, and which of them are this tool's own."""

from __future__ import annotations

from dataclasses import replace

from apftop.apf.release import Release, holds
from apftop.derive.own import is_own, own_users
from apftop.records.frame import Clock, Request
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import Dump, RequestRow
from apftop.rules import rules


def requests(dump: Dump[RequestRow], clock: Clock, release: Release | None) -> tuple[tuple[Request, ...], Clock, str]:
    """The requests, the clock as far as their ages bear it out, and a problem in words if they do not.

    A waiting request older than the wait limit's hard cap (since 1.28.5), or one that arrived after the dump, shows
    that the clock is wrong: then all ages are unknown. Exact waits need no clock.
    """
    doubt = _doubt(dump, clock, release)
    if doubt:
        clock = replace(clock, dump_time=None, known_from="unreliable: " + doubt)
    users = own_users(dump.rows)
    now_ns = None if clock.dump_time is None else round(clock.dump_time * NANOSECONDS)
    return tuple(_request(row, now_ns, users) for row in dump.rows), clock, doubt


def _request(row: RequestRow, now_ns: int | None, users: frozenset[str]) -> Request:
    details = row.details
    return Request(
        level=row.level,
        schema=row.schema,
        queue=row.queue,
        index=row.index,
        distinguisher=row.distinguisher,
        user=details.user if details else None,
        verb=details.verb if details else None,
        path=details.path if details else None,
        namespace=details.namespace if details else None,
        name=details.name if details else None,
        api_version=details.api_version if details else None,
        resource=details.resource if details else None,
        subresource=details.subresource if details else None,
        initial_seats=row.initial_seats,
        final_seats=row.final_seats,
        additional_latency=row.additional_latency,
        executing=row.executing,
        arrive_ns=row.arrive_ns,
        age_s=_seconds(row.arrive_ns, now_ns),
        wait_s=_seconds(row.arrive_ns, row.start_ns) if row.executing else None,
        executing_s=_seconds(row.start_ns, now_ns) if row.executing else None,
        own=is_own(row, users),
        kept=row.kept,
    )


def _seconds(since_ns: int | None, until_ns: int | None) -> float | None:
    if since_ns is None or until_ns is None:
        return None
    return (until_ns - since_ns) / NANOSECONDS


def _doubt(dump: Dump[RequestRow], clock: Clock, release: Release | None) -> str:
    if clock.dump_time is None:
        return ""
    limits = rules().clock
    slack = (clock.tolerance_s or 0.0) + limits.age_slack_s
    capped = release is not None and holds(release, rules().wait.limit_cap_holds)
    ages = [clock.dump_time - row.arrive_ns / NANOSECONDS for row in dump.rows if not row.executing]
    newest = min((clock.dump_time - row.arrive_ns / NANOSECONDS for row in dump.rows), default=0.0)
    if newest < -slack:
        return f"a request arrived {-newest:.1f} s after the time taken for the dump ({clock.known_from})"
    if capped and ages and max(ages) > limits.age_cap_s + slack:
        return f"a waiting request looks {max(ages):.1f} s old, over the {limits.age_cap_s:g} s that APF allows"
    return ""
