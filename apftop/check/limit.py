"""What the limit allows, and what it must not leave idle."""

from __future__ import annotations

from itertools import pairwise

from apftop.check.judge import judged, unknown
from apftop.check.missing import Missing, needed
from apftop.check.over_time import MAY_HAVE_MOVED, by_current, tear_s
from apftop.check.widths import widths
from apftop.check.window import LevelWindow
from apftop.records.checks import Check
from apftop.records.measures import NANOSECONDS
from apftop.rules import rules

UNIT = "s"
FULL = 0.99


def over_limit(window: LevelWindow) -> Check | None:
    """Time with more seats taken than the current limit = 0; seconds.

    By `priority_level_seat_utilization` above 1, or above 0 where a level with queues has no seats (1.26 to 1.37). A
    limit that falls, and a request wider than the limit, which runs alone, may lead above it. Does not apply to the
    exempt level, whose limit is not enforced.
    """
    law, terms = "over-limit", rules().check.limit
    if window.exempt:
        return None
    try:
        over_s = _above_s(window, "seat_time", _limit_ratio(window))
    except Missing as missing:
        return unknown(law, str(missing), seconds=window.seconds)
    check = judged(
        law,
        over_s,
        0.0,
        0.0,
        terms.over_share * window.seconds,
        UNIT,
        seconds=window.seconds,
        reason="more seats are taken than the limit has: it is not as told, or the server does not keep to it",
    )
    legal = _over_legally(window) if check.verdict == "off" else ""
    return unknown(law, legal, seconds=window.seconds) if legal else check


def work_conservation(window: LevelWindow) -> Check | None:
    """Time with requests waiting <= time with all seats taken; seconds.

    By `priority_level_request_utilization{phase="waiting"}` above 0 and `priority_level_seat_utilization` above 0.99
    (1.26 to 1.37). Without any seats, and behind a request that is too wide for those that are free, requests wait
    rightly. Does not apply to levels without queues.
    """
    law, terms = "work-conservation", rules().check.limit
    if window.queueless:
        return None
    try:
        if 0 in [needed(limit, "the current limit") for limit in window.limits]:
            raise Missing("seats: without any, requests wait rightly")
        waiting_s, full_s = _above_s(window, "waiting_time", 0.0), _above_s(window, "seat_time", FULL)
        tears_s = sum(tear_s(one, "seat_time") for one in window.ends)
    except Missing as missing:
        return unknown(law, str(missing), seconds=window.seconds)
    check = judged(
        law,
        waiting_s,
        None,
        full_s,
        terms.idle_s + tears_s,
        UNIT,
        seconds=window.seconds,
        reason="requests wait while seats are free: the server gives out fewer seats than it says",
    )
    legal = _idle_legally(window) if check.verdict == "off" else ""
    return unknown(law, legal, seconds=window.seconds) if legal else check


def _limit_ratio(window: LevelWindow) -> float:
    """The ratio of seats taken that the limit stands for. Raises Missing where there is none."""
    # Up to 1.27 a limit of 0 divides by 0, which counts as above all.
    by_current(window)
    if any(window.limits):
        return 1.0
    config = needed(window.config, "the level's object: whether it has queues")
    if not window.same_config:
        raise Missing("one object of the level over all of the window")
    if config.queuing is None:
        raise Missing("seats: without any, a level without queues still lets one request run")
    return 0.0


def _over_legally(window: LevelWindow) -> str:
    """Why more seats may be taken than the limit has, in words; empty where nothing allows it."""
    limits = [limit for limit in window.limits if limit is not None]
    if window.first.level.seats is None or window.first.level.seats > limits[0]:
        return "how many seats were taken before the limit fell"
    if any(after < before for before, after in pairwise(limits)):
        return "a constant limit: it fell, and seats that were taken stay so"
    if not all(divisor.sure for divisor in by_current(window)):
        return MAY_HAVE_MOVED
    try:
        wide = widths(window).most
    except Missing as missing:
        return str(missing)
    # Without seats no width is let out of a queue.
    return "requests narrower than the limit: a wider one runs alone" if any(limits) and wide > min(limits) else ""


def _idle_legally(window: LevelWindow) -> str:
    """Why requests may wait while seats are free, in words; empty where nothing allows it."""
    if window.count("no_accommodation"):
        return "room for the request whose turn it was: it is wider than the seats that are free"
    if not all(divisor.sure for divisor in by_current(window)):
        return MAY_HAVE_MOVED
    try:
        return (
            "requests of one seat: a wider one may wait for more seats than are free" if widths(window).most > 1 else ""
        )
    except Missing as missing:
        return str(missing)


def _above_s(window: LevelWindow, measure: str, bound: float) -> float:
    """For how long a ratio was above a bound, in seconds. Raises Missing without a bucket there."""
    what = "the histogram of waiting requests" if measure == "waiting_time" else "the histogram of seats"
    found = needed(window.rise(measure), what)
    if bound not in found.bounds:
        raise Missing(f"{what}: a bucket at {bound:g}")
    return (found.count - found.cumulative[found.bounds.index(bound)]) / NANOSECONDS
