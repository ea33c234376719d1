"""When things were true, by the server's own clock: an answer of metrics tells its moment by counts of nanoseconds."""

from __future__ import annotations

from collections.abc import Mapping

from apftop.check.point import Fetched, LevelPoint, Point
from apftop.records.measures import NANOSECONDS

EXACT = ("dump_time as noted with the dump", "the start of the dump's own request")


def dump_s(point: Point) -> float | None:
    """When the dump of requests was taken, where its rows can be held against that: not soon after a clock was set."""
    return None if point.clock_set else taken_s(point)


def taken_s(point: Point) -> float | None:
    """When the dump of requests was taken (Unix seconds of the server's clock), None where that is not known exactly.

    The dump holds the question for it: its own row tells the server's clock to about a millisecond.
    """
    if point.requests is None or point.clock.known_from not in EXACT:
        return None
    return point.clock.dump_time


def ahead_s(point: Point) -> tuple[float, float] | None:
    """By how much the server's clock is ahead of this machine's, at least and at most, in seconds.

    None without a dump of requests whose clock is known, and where that was not timed: where question and answer have
    one time, somebody noted it for the whole.
    """
    taken, dump = taken_s(point), point.requests_fetched
    if taken is None or dump is None or dump.sent is None or dump.time is None or dump.time <= dump.sent:
        return None
    return taken - dump.time, taken - dump.sent


def age_s(level: LevelPoint) -> float | None:
    """How long the level's series have lived when they were read, in seconds: they count nanoseconds (1.26 to 1.37).

    That of executing requests is there from the start; that of waiting ones is made a moment later.
    """
    histogram = level.executing_time or level.waiting_time
    return histogram.count / NANOSECONDS if histogram is not None and histogram.count else None


def births(before: Mapping[str, float], point: Point) -> dict[str, float]:
    """When each level's series began, by the server's clock, bettered by one more point of the same process.

    Metrics are read after the dump, so that dump minus age is too early by the time between: the latest is the best.
    A dump that was fetched after the metrics would make it too late, and tells nothing.
    """
    found = dict(before)
    taken = taken_s(point)
    if taken is None or _after(point.requests_fetched, point.metrics):
        return found
    for name, level in point.levels.items():
        age = age_s(level)
        if age is not None:
            found[name] = max(taken - age, found.get(name, taken - age))
    return found


def _after(dump: Fetched | None, metrics: Fetched) -> bool:
    if dump is None or dump.sent is None or metrics.received is None:
        return False
    return dump.sent >= metrics.received > (metrics.sent or 0.0)


def metrics_s(level: LevelPoint, born: float | None) -> float | None:
    """When the level's metrics were read (Unix seconds of the server's clock): too early by the smallest lag seen."""
    age = age_s(level)
    return None if born is None or age is None else born + age
