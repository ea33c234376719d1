"""The time that requests have waited, counted in two ways: as it passed, and by each request when its wait ended."""

from __future__ import annotations

import math

from apftop.check.ends import waiting
from apftop.check.in_force import written_s
from apftop.check.judge import judged, unknown, unless_blunt
from apftop.check.missing import Missing, needed, summed
from apftop.check.window import LevelWindow
from apftop.records.checks import Check
from apftop.records.measures import NANOSECONDS
from apftop.rules import rules

LAW = "waiting-time"
UNIT = "request-seconds"


def waiting_time(window: LevelWindow) -> Check | None:
    """Time spent waiting = rise of the sum of waits + rise of the ages of those that wait; request-seconds.

    The left is `priority_level_request_utilization{phase="waiting"}` times queues x max(1, queueLengthLimit), the right
    `request_wait_duration_seconds{execute="true"}`, time-outs among them, and the rows of `dump_requests` by the
    server's clock at the dump (1.26 to 1.37). Does not apply to levels without queues.
    """
    if window.config is not None and window.config.queuing is None:
        return None
    terms = rules().check.waiting
    try:
        spent_s = spent_waiting_s(window)
        waits = summed(window.rise("waits"), "the histogram of waits")
        hanging = waiting(window, terms.lag_s)
    except Missing as missing:
        return unknown(LAW, str(missing), seconds=window.seconds)
    counted_s = waits.sum + hanging.more_s
    check = judged(
        LAW,
        counted_s,
        spent_s,
        spent_s,
        terms.share * spent_s + terms.wake_up_s * waits.count + hanging.error_s + terms.least_s,
        UNIT,
        seconds=window.seconds,
        reason=_reason(counted_s, spent_s, waits.count),
    )
    return unless_blunt(check)


def little_s(window: LevelWindow) -> float | None:
    """The mean wait that the time spent waiting makes necessary for the waits that ended in the window, in seconds.

    Little's law with both ends: (time spent waiting - rise of the ages of those that wait) / waits. None where one of
    these is unknown, or no wait ended.
    """
    waits = window.rise("waits")
    if waits is None or not waits.count:
        return None
    try:
        hanging = waiting(window, rules().check.waiting.lag_s)
        return max(0.0, spent_waiting_s(window) - hanging.more_s) / waits.count
    except Missing:
        return None


def spent_waiting_s(window: LevelWindow) -> float:
    """Time spent waiting over the window, in request-seconds; 0 for a level without queues. Raises Missing."""
    config = window.config
    if config is not None and config.queuing is None and window.same_config:
        return 0.0
    spent = summed(window.rise("waiting_time"), "the histogram of waiting requests")
    if spent.sum == 0:
        return 0.0
    config = needed(config, "the level's object: how many requests may wait")
    queuing = config.queuing
    if queuing is None or not window.same_config:
        raise Missing("one object of the level over all of the window")
    written, begun = written_s(config), window.first.metrics_s
    if written is not None and begun is not None and written + rules().check.objects.settled_s > begun:
        raise Missing("the level's object from some time before the window: it has just been written")
    return spent.sum / NANOSECONDS * queuing.queues * max(1, queuing.queue_length_limit)


def _reason(counted_s: float, spent_s: float, waits: int) -> str:
    if counted_s < spent_s:
        return (
            "requests tell of less time than was spent waiting: waits were lost, or the level has fewer or shorter "
            "queues than its object says"
        )
    terms = rules().check.waiting
    late_s = (counted_s - spent_s) / waits if waits else math.inf
    if late_s <= terms.late_s or counted_s - spent_s <= terms.late_share * counted_s:
        return (
            f"requests tell of {late_s * 1000:.0f} ms each beyond the time in their queue: the server is short of CPU "
            "(a wait is counted until the request runs, after its dispatch)"
        )
    return (
        "requests tell of more time than was spent waiting: waits of another server or time are mixed in, or the level "
        "has more or longer queues than its object says"
    )
