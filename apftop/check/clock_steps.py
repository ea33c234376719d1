"""Whether a server's clock was set: then rows of requests from before have times that cannot be told from others."""

from __future__ import annotations

from apftop.check.instants import age_s, ahead_s
from apftop.check.point import Point
from apftop.rules import rules

Range = tuple[float, float]


def was_set(before: Point, after: Point) -> bool:
    """Whether the server's clock was set between two points of one process, as far as can be told.

    Against this machine's clock it is ahead by another time than before; and by its counts of nanoseconds, which go on
    whatever the clock says, a level began at another moment (1.26 to 1.37). The first alone may be this machine's clock
    that was set, the second alone metrics that are old.
    """
    shared = before.levels.keys() & after.levels.keys()
    oldest = max(shared, key=lambda name: age_s(after.levels[name]) or 0.0, default=None)
    if oldest is None:
        return False
    ahead, begun = (ahead_s(before), ahead_s(after)), (_begun(before, oldest), _begun(after, oldest))
    return _apart(*ahead) and _apart(*begun)


def _apart(one: Range | None, other: Range | None) -> bool:
    """Whether two moments that lie in these ranges differ."""
    if one is None or other is None:
        return False
    return max(other[0] - one[1], one[0] - other[1]) > rules().check.clock.tolerance_s


def _begun(point: Point, level: str) -> Range | None:
    """Between which moments a level's series began, by the server's clock as it is (Unix seconds)."""
    ahead, age, metrics = ahead_s(point), age_s(point.levels[level]), point.metrics
    if ahead is None or age is None or metrics.sent is None or metrics.time is None or metrics.time <= metrics.sent:
        return None
    return ahead[0] + metrics.sent - age, ahead[1] + metrics.time - age
