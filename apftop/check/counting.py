"""Counters of one server against each other: what came, what was served, what was refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import wraps

from apftop.apf.release import Release, holds
from apftop.check.judge import judged, unknown, unless_blunt
from apftop.check.over_time import step_s
from apftop.check.window import Instant, LevelWindow, parts
from apftop.records.checks import Check
from apftop.records.measures import NANOSECONDS
from apftop.rules import rules

Law = Callable[[LevelWindow], Check | None]

EXEMPT_COUNTED_SINCE = (">=1.28",)
UNIT = "requests"
TORN = "the same over each part of the window: many requests may have come while one answer was made up"
FOREIGN = "counters of another server or another time are mixed in"
MORE = f"{FOREIGN}, or others were lost"
FEWER = f"some were lost, or {FOREIGN}"


def lasting(law: Law) -> Law:
    """The law, but unknown where it is off by one end of the window alone.

    Any number of requests may come at once while an answer is made up, and be in one of its families and not in
    another. That is over with the next answer, while counters that are lost or foreign stay so.
    """

    @wraps(law)
    def held(window: LevelWindow) -> Check | None:
        check = law(window)
        if check is None or check.verdict != "off":
            return check
        shorter = [law(part) for part in parts(window)]
        if all(one is not None and one.verdict == "off" for one in shorter):
            return check
        return unknown(check.law, TORN, seconds=check.seconds)

    return held


@lasting
def arrivals(window: LevelWindow) -> Check | None:
    """Requests that came (their widths are counted, also of refused ones) = dispatched + rejected + change of waiting.

    1.26 to 1.37. Does not apply to the exempt level up to 1.27, whose requests are not estimated.
    """
    law = "arrivals"
    if window.exempt:
        release = window.last.point.release
        if release is None:
            return unknown(law, "the server's release: up to 1.27 exempt requests are not estimated")
        if not _exempt_counted(release):
            return None
    widths, queued = window.rise("widths"), _change(window, "waiting")
    if widths is None or queued is None:
        return unknown(law, "the histogram of widths" if widths is None else "how many wait", seconds=window.seconds)
    accounted = window.count("dispatched") + sum(window.rejected().values()) + queued
    return _judged(
        law,
        window,
        widths.count,
        accounted,
        more=f"more came than were dispatched, rejected or queued: {MORE}",
        fewer=f"fewer came than were dispatched, rejected or queued: {FEWER}",
    )


@lasting
def served_waits(window: LevelWindow) -> Check | None:
    """Waits with execute="true" = dispatched + rejected out of a queue (`time-out`, `cancelled` up to 1.28.4).

    1.26 to 1.37. A request whose wait ended in the instant of its dispatch is in the waits alone, so that a small
    excess stays. Does not apply to the exempt level, which measures no waits.
    """
    law = "served-waits"
    if window.exempt:
        return None
    waits = window.rise("waits")
    if waits is None:
        return unknown(law, "the histogram of waits", seconds=window.seconds)
    return _judged(
        law,
        window,
        waits.count,
        window.count("dispatched") + window.unserved,
        more=f"more waits than requests dispatched or timed out: {MORE}; few may have lost a race with their dispatch",
        fewer=f"fewer waits than requests dispatched or timed out: {FEWER}",
    )


@lasting
def refusals(window: LevelWindow) -> Check | None:
    """Waits with execute="false" = rejected on arrival (`queue-full`, `concurrency-limit`).

    1.26 to 1.37. Does not apply to the exempt level, which refuses nobody.
    """
    if window.exempt:
        return None
    law = "refusals"
    if any("wait" not in one.point.measures for one in window.ends):
        return unknown(law, "the histogram of waits", seconds=window.seconds)
    refused = window.count("rejected_total") - window.unserved
    terms = rules().check.counting
    check = judged(
        law,
        window.count("refused_waits"),
        refused,
        refused,
        max(terms.refusals, terms.tear_s * refused / window.seconds),
        UNIT,
        seconds=window.seconds,
        reason=f"waits of refused requests and refusals differ: {MORE}",
    )
    return unless_blunt(_if_rejected_told(check, window))


@lasting
def enqueued(window: LevelWindow) -> Check | None:
    """Requests put in a queue = waits with execute="true" + change of waiting: each leaves its queue once.

    1.26 to 1.37. Does not apply to levels without queues.
    """
    law = "enqueued"
    config = window.config
    if config is None:
        return unknown(law, "the level's object: whether it has queues", seconds=window.seconds)
    if config.queuing is None:
        return None
    if not window.same_config:
        return unknown(law, "the level's object over all of the window", seconds=window.seconds)
    waits, put, queued = window.rise("waits"), _change(window, "enqueued"), _change(window, "waiting")
    if waits is None or put is None or queued is None:
        missing = "how many wait" if queued is None else "the histograms of waits and of queue lengths"
        return unknown(law, missing, seconds=window.seconds)
    return _judged(
        law,
        window,
        put,
        waits.count + queued,
        more=f"more were put in queues than left them or wait: {MORE}",
        fewer=f"fewer were put in queues than left them or wait: {FEWER}",
    )


@lasting
def executed(window: LevelWindow) -> Check | None:
    """Executions that ended = dispatched - change of executing.

    1.26 to 1.37; of the exempt level since 1.28, which has no gauge of executing requests before.
    """
    law = "executed"
    if window.exempt and (release := window.last.point.release) is not None and not _exempt_counted(release):
        return unknown(law, "how many exempt requests execute: not told up to 1.27", seconds=window.seconds)
    ended, executing = window.rise("execution"), _change(window, "executing")
    if ended is None or executing is None:
        missing = "the histogram of executions" if ended is None else "how many execute"
        return unknown(law, missing, seconds=window.seconds)
    return _judged(
        law,
        window,
        ended.count,
        window.count("dispatched") - executing,
        more=f"more executions ended than were dispatched: {MORE}",
        fewer=f"fewer executions ended than were dispatched: {FEWER}",
    )


def _judged(law: str, window: LevelWindow, observed: float, expected: float, *, more: str, fewer: str) -> Check:
    terms = rules().check.counting
    torn = terms.tear_s * _fastest_per_s(window)
    check = judged(
        law,
        observed,
        expected,
        expected,
        max(terms.tear_requests, torn + terms.tear_deviations * math.sqrt(torn)),
        UNIT,
        seconds=window.seconds,
        reason=more if observed > expected else fewer,
    )
    return unless_blunt(_if_rejected_told(check, window))


def _if_rejected_told(check: Check, window: LevelWindow) -> Check:
    """The check, but unknown where it is off and somebody has cut the counter of rejections out.

    A server has no such series before the first of them, but then nobody has waited to be refused.
    """
    cut = any("rejected" not in one.point.measures and one.level.refused_waits for one in window.ends)
    if check.verdict == "off" and cut:
        return unknown(check.law, "the counter of rejected requests", seconds=check.seconds)
    return check


def _fastest_per_s(window: LevelWindow) -> float:
    """Requests that came a second, over the window or at one of its ends: what is torn is torn there."""
    rates = [window.arrivals_per_s, *(_just_come(one) / rules().check.counting.tear_s for one in window.ends)]
    for before, after in (window.instants[:2], window.instants[-2:]):
        seconds = step_s(before, after)
        if seconds:
            rates.append(replace(window, instants=(before, after), seconds=seconds).arrivals_per_s)
    return max(rates)


def _just_come(one: Instant) -> int:
    """How many rows came within a tear before the dump."""
    if one.rows is None or one.dump_s is None:
        return 0
    since_ns = (one.dump_s - rules().check.counting.tear_s) * NANOSECONDS
    return sum(row.arrive_ns > since_ns for row in one.rows)


def _change(window: LevelWindow, gauge: str) -> float | None:
    before, after = getattr(window.first.level, gauge), getattr(window.last.level, gauge)
    return None if before is None or after is None else float(after - before)


def _exempt_counted(release: Release) -> bool:
    return holds(release, EXEMPT_COUNTED_SINCE)
