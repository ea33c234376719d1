"""The time that seats were taken, counted in several ways."""

from __future__ import annotations

import math
from collections.abc import Sequence

from apftop.apf.allocation import EXEMPT_IN_LIMITS_SINCE, LIST_SEAT_CAP
from apftop.apf.release import holds
from apftop.check.ends import executing
from apftop.check.judge import judged, unknown, unless_blunt
from apftop.check.lingering import lingering_s
from apftop.check.missing import Missing, needed, summed
from apftop.check.over_time import Divisor, by_current, by_nominal, ratios_s, tears_s, undivided_s, unless_moved
from apftop.check.point import LevelPoint
from apftop.check.waiting import spent_waiting_s
from apftop.check.widths import widths
from apftop.check.window import LevelWindow
from apftop.records.checks import Check
from apftop.rules import rules

REQUESTS, SEATS = "request-seconds", "seat-seconds"
DEMAND_BY_CURRENT_SINCE = (">=1.28",)


def executing_time(window: LevelWindow) -> Check | None:
    """Time spent executing = rise of the sum of executions + rise of the ages of those that execute; request-seconds.

    The left is `priority_level_request_utilization{phase="executing"}` times the current limit of each step, between
    those at its ends where it moved; the right `request_execution_seconds` and the rows of `dump_requests` by the
    server's clock at the dump (1.28 to 1.37; before, it lists waiting requests only). Does not apply to the exempt
    level up to 1.27, which has no limit there.
    """
    law, terms = "executing-time", rules().check.seats
    if _no_limit(window):
        return None
    try:
        divisors, ratios = by_current(window), _executing(window)
        hanging = executing(window, terms.lag_s)
        counted_s = summed(window.rise("execution"), "the histogram of executions").sum + hanging.more_s
    except Missing as missing:
        return unknown(law, str(missing), seconds=window.seconds)
    low_s = undivided_s(ratios, (divisor.least for divisor in divisors))
    high_s = undivided_s(ratios, (divisor.most for divisor in divisors))
    more = (
        "requests tell of more time than was spent executing: executions of another server or time are mixed in, or "
        "the limit is larger than told"
    )
    fewer = (
        "requests tell of less time than was spent executing: the service is slower than counted, or the limit is "
        "smaller than told"
    )
    check = judged(
        law,
        counted_s,
        low_s,
        high_s,
        terms.share * high_s + hanging.error_s + terms.least_s,
        REQUESTS,
        seconds=window.seconds,
        reason=more if counted_s > high_s else fewer,
    )
    return unless_blunt(unless_moved(check, divisors))


def seat_time(window: LevelWindow) -> Check | None:
    """Time that seats were taken = time spent executing x width + what lingers; seat-seconds.

    The left is `priority_level_seat_utilization`, the right `priority_level_request_utilization{phase="executing"}`
    with the least and the most width that requests can have, alike where all are narrow, and with the most that can
    linger. Both are divided by the same limit, which may move (1.26 to 1.37). Does not apply to the exempt level up to
    1.27, which has no limit there.
    """
    law, terms = "seat-time", rules().check.seats
    if _no_limit(window):
        return None
    try:
        divisors = by_current(window)
        middles = [divisor.middle for divisor in divisors]
        executing_s, taken_s = undivided_s(_executing(window), middles), undivided_s(_seats(window), middles)
        wide = widths(window)
        lingers_s = lingering_s(window, wide, needed(window.rise("execution"), "the histogram of executions").count)
        torn_s = _seats_torn_s(window, divisors)
    except Missing as missing:
        return unknown(law, str(missing), seconds=window.seconds)
    # A request wider than the limit may be made narrower when it is dispatched.
    low_s = executing_s * min(wide.least, max(1.0, min(divisor.least for divisor in divisors)))
    high_s = None if lingers_s is None or math.isinf(wide.most) else executing_s * wide.most + lingers_s
    more = "more seats are taken than those of executing requests: some were not given back, or linger for longer"
    fewer = "fewer seats are taken than executing requests need: widths are not as counted"
    check = judged(
        law,
        taken_s,
        low_s,
        high_s,
        terms.seat_share * taken_s + torn_s + terms.seat_least_s,
        SEATS,
        seconds=window.seconds,
        reason=fewer if taken_s < low_s else more,
    )
    return unless_blunt(check)


def demand_time(window: LevelWindow) -> Check | None:
    """Demand = seats taken + seats waited for; seat-seconds.

    All are over time, and of one answer: `demand_seats`, `priority_level_seat_utilization`, and the time spent waiting
    with the least and the most width that requests can have. Demand is divided by the current limit, up to 1.27 by the
    nominal one (1.26 to 1.37). Does not apply to the exempt level up to 1.27, which has no limit there.
    """
    law, terms = "demand-time", rules().check.seats
    if _no_limit(window):
        return None
    try:
        release = needed(window.last.point.release, "the server's release: what demand is divided by")
        demand, seats = ratios_s(window, "demand_time", "the histogram of demand"), _seats(window)
        by_limit, current = holds(release, DEMAND_BY_CURRENT_SINCE), by_current(window)
        divisors = current if by_limit else by_nominal(window)
        waited_s = spent_waiting_s(window)
        wide = widths(window)
        most = [
            _ratio(_demanded(one.level, wide.most), one.divisor if by_limit else one.level.nominal)
            for one in window.instants
        ]
        torn_s = _seats_torn_s(window, current) + tears_s(window, "demand_time", divisors, most)
    except Missing as missing:
        return unknown(law, str(missing), seconds=window.seconds)
    demand_s = undivided_s(demand, (divisor.middle for divisor in divisors))
    taken_s = undivided_s(seats, (divisor.middle for divisor in current))
    # Where both have one divisor, what it may be matters only for their difference.
    blur = [abs(one - other) for one, other in zip(demand, seats, strict=True)] if by_limit else seats
    blur_s = undivided_s(blur, (divisor.half for divisor in current))
    if not by_limit:
        blur_s += undivided_s(demand, (divisor.half for divisor in divisors))
    low_s = taken_s + waited_s * wide.least
    high_s = None if math.isinf(wide.most) else taken_s + waited_s * wide.most
    more = (
        "demand that no request makes: requests wider than the limit leave some behind when they are dispatched, and "
        "the level's share stays too large until the server restarts"
    )
    fewer = "less demand than requests make: widths or queues are not as told, or the limit is not"
    check = judged(
        law,
        demand_s,
        low_s,
        high_s,
        terms.seat_share * demand_s + blur_s + torn_s + terms.seat_least_s,
        SEATS,
        seconds=window.seconds,
        reason=fewer if demand_s < low_s else more,
    )
    return unless_blunt(unless_moved(check, (*current, *divisors)))


def _no_limit(window: LevelWindow) -> bool:
    release = window.last.point.release
    return window.exempt and release is not None and not holds(release, EXEMPT_IN_LIMITS_SINCE)


def _seats_torn_s(window: LevelWindow, divisors: Sequence[Divisor]) -> float:
    return tears_s(window, "seat_time", divisors, [_ratio(one.level.seats, one.divisor) for one in window.instants])


def _ratio(seats: float | None, divisor: float | None) -> float:
    """The most that a ratio may be at a moment: all seats, or more where more were seen."""
    return max(1.0, (seats or 0.0) / divisor) if divisor else 1.0


def _demanded(level: LevelPoint, widest: float) -> float:
    """Seats taken and waited for: by the gauge (since 1.28.5), else as many as there may be."""
    waiting = level.waiting_seats
    if waiting is None:
        waiting = (level.waiting or 0.0) * min(widest, LIST_SEAT_CAP)
    return (level.seats or 0.0) + waiting


def _executing(window: LevelWindow) -> tuple[float, ...]:
    return ratios_s(window, "executing_time", "the histogram of executing requests")


def _seats(window: LevelWindow) -> tuple[float, ...]:
    return ratios_s(window, "seat_time", "the histogram of seats")
