"""Current limits: seats shared out anew by the demands that the server tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from apftop.apf.allocation import EXEMPT_IN_LIMITS_SINCE
from apftop.apf.borrowing import Adjustment, Borrower, adjust
from apftop.apf.objects import EXEMPT
from apftop.apf.release import Release, holds
from apftop.check.judge import judged, unknown
from apftop.check.point import LevelPoint, Point
from apftop.records.checks import Check
from apftop.rules import rules

LAW = "current-limit"
FAIR = "fair-fraction"
FROZEN_IN = (">=1.26 <1.26.13", ">=1.27 <1.27.10", ">=1.28 <1.28.6")
"""Where a demand that is no number makes all adjustments fail until the server restarts."""

WHICH_RUN = "a dump of priority levels: which of them the server runs"
TORN = "the same in two answers: an adjustment may have come between its gauges"


@dataclass(frozen=True, slots=True)
class Seats:
    """What one answer tells of a level and its last adjustment."""

    nominal: float | None
    lower: float | None
    upper: float | None
    current: float | None
    demand_high: float | None
    demand_smoothed: float | None


Reading = Mapping[str, Seats]
"""By level."""


def current_limits(points: tuple[Point, ...]) -> dict[str, tuple[Check, ...]]:
    """Current limit of each level = what the server's rule makes of the demands in the same answer, to one seat.

    All limits are adjusted each 10 s and after each new configuration (1.26 to 1.37). The gauges of an answer are read
    one after the other, so that an adjustment in between tears it. What does not hold is off where two answers tell it
    alike, and it held no better in the adjustment before, or stood for longer than one. Up to 1.27 the exempt level
    takes no part.
    """
    last = points[-1]
    reading, due = _reading(last), _due(last)
    if isinstance(due, str):
        return {name: (unknown(LAW, due),) for name in reading}
    sure = _sure(points)
    found: dict[str, tuple[Check, ...]] = {}
    for name, seats in due.current.items():
        told = reading[name].current
        if told is None:
            continue
        right = abs(told - seats) <= rules().check.current.tolerance_seats
        if right or (sure and last.dumped is not None):
            found[name] = (_judged(told, seats),)
        elif last.dumped is None:
            found[name] = (unknown(LAW, WHICH_RUN),)
        else:
            found[name] = (unknown(LAW, TORN),)
    return found


def fair_fraction(points: tuple[Point, ...]) -> Check | None:
    """`seat_fair_frac` = the proportion of demands at which the seats of all levels come out; it tells the same.

    None where the server does not tell it, or did not find one: it is 0 where seats were short (since 1.31).
    """
    last = points[-1]
    due = _due(last)
    if last.fair is None:
        return None
    if isinstance(due, str):
        return unknown(FAIR, due)
    terms = rules().check.current
    tolerance = max(terms.fair_share * due.fair, terms.fair_least)
    reason = "not what the demands give: demands or levels of different servers or times, or adjustments that fail"
    check = judged(FAIR, last.fair, due.fair, due.fair, tolerance, "", reason=reason)
    if check.verdict == "off" and (last.dumped is None or not _sure(points)):
        return unknown(FAIR, WHICH_RUN if last.dumped is None else TORN)
    return check


def _sure(points: tuple[Point, ...]) -> bool:
    """Whether what does not hold in the last answer is no adjustment that came between its gauges."""
    runs = [list(run) for _, run in groupby(points, _reading)]
    return len(runs[-1]) > 1 and (_lasted(runs[-1]) or (len(runs) > 1 and not _holds(runs[-2][-1])))


def _judged(told: float, due: float) -> Check:
    return judged(
        LAW,
        told,
        due,
        due,
        rules().check.current.tolerance_seats,
        "seats",
        reason="not what the demands give: gauges of different servers or times, or adjustments that fail",
    )


def _holds(point: Point) -> bool:
    """Whether all limits of an answer are as they should be; True where that cannot be told."""
    due = _due(point)
    slack = rules().check.current.tolerance_seats
    return isinstance(due, str) or all(
        abs(told - due.current[name]) <= slack
        for name, seats in _reading(point).items()
        if (told := seats.current) is not None
    )


def _lasted(run: Sequence[Point]) -> bool:
    """Whether these answers, which tell the same, are so far apart that an adjustment lies between them."""
    first, last = run[0].metrics.time, run[-1].metrics.time
    return first is not None and last is not None and last - first > rules().check.current.period_s


def _reading(point: Point) -> Reading:
    """Of all levels that take part in adjustments."""
    return {name: _seats(point.levels[name]) for name in sorted(_taking_part(point) & point.levels.keys())}


def _taking_part(point: Point) -> frozenset[str]:
    if point.release is not None and not holds(point.release, EXEMPT_IN_LIMITS_SINCE):
        return point.live - {EXEMPT}
    return point.live


def _seats(level: LevelPoint) -> Seats:
    return Seats(level.nominal, level.lower, level.upper, level.current, level.demand_high, level.demand_smoothed)


def _due(point: Point) -> Adjustment | str:
    """The limits by the server's rule, else what is missing."""
    if point.release is None:
        return "the server's release"
    borrowers = {}
    for name, seats in _reading(point).items():
        borrower = _borrower(name, seats)
        if borrower is None:
            return _missing(name, seats, point.release)
        borrowers[name] = borrower
    if lost := sorted(_taking_part(point) - point.levels.keys()):
        return f"the gauges of all levels: {lost[0]} has none"
    found = adjust(borrowers, point.release)
    if found.failure is not None:
        return f"an adjustment that succeeds: {found.failure}"
    return found


def _borrower(name: str, seats: Seats) -> Borrower | None:
    if seats.nominal is None or seats.lower is None or seats.upper is None or seats.current is None:
        return None
    if seats.demand_high is None or seats.demand_smoothed is None:
        return None
    return Borrower(
        exempt=name == EXEMPT,
        nominal=round(seats.nominal),
        lower=round(seats.lower),
        upper=round(seats.upper),
        current=round(seats.current),
        high_watermark=seats.demand_high,
        smoothed=seats.demand_smoothed,
    )


def _missing(name: str, seats: Seats, release: Release) -> str:
    if seats.demand_high is not None and seats.demand_smoothed is None and holds(release, FROZEN_IN):
        return f"a demand of {name} that is a number: by a fault of this release all limits are frozen"
    return f"the limits and demands of all levels: some of {name} are not told"
