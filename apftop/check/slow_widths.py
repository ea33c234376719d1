"""Whether wide requests take longer than narrow ones: what no histogram tells, but two of them together do."""

from __future__ import annotations

from apftop.check.missing import Missing, needed
from apftop.check.over_time import by_current, ratios_s, undivided_s
from apftop.check.window import LevelWindow


def wide_are_slower(window: LevelWindow) -> float | None:
    """The mean width of the time that requests execute over the mean width of requests: 1 where widths tell nothing.

    Seats and executing requests are counted over time (1.26 to 1.37); lingering seats are among the former, so that
    short writes with many watchers look slow as well. None where one of these is not known, or nothing executed.
    """
    try:
        divisors, widths = by_current(window), needed(window.rise("widths"), "widths of requests")
        seats, requests = (
            undivided_s(ratios_s(window, measure, measure), (one.middle for one in divisors))
            for measure in ("seat_time", "executing_time")
        )
    except Missing:
        return None
    if requests <= 0 or seats <= 0 or not widths.count or widths.sum <= 0:
        return None
    return seats / requests / (widths.sum / widths.count)
