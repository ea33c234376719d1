"""The window that laws are held over: end to end, since what is torn at a scrape does not add up over several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from apftop.apf.objects import EXEMPT, PriorityLevelConfiguration
from apftop.apf.release import holds
from apftop.apf.rounding import half_away
from apftop.check.instants import dump_s, metrics_s
from apftop.check.point import LevelPoint, Point, Track
from apftop.derive.deltas import subtract
from apftop.parse.vocabulary import vocabulary
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import Histogram, RequestRow
from apftop.rules import rules

ZERO_LIMIT_COUNTS_SINCE = (">=1.28",)


@dataclass(frozen=True, slots=True)
class Instant:
    """One level at one point. `dump_s` and `metrics_s` are when its rows and its metrics were read, by the server's
    clock (Unix seconds); `rows` are those of the dump of requests, this tool's own among them. None is unknown.
    """

    point: Point
    level: LevelPoint
    rows: tuple[RequestRow, ...] | None
    dump_s: float | None
    metrics_s: float | None

    @property
    def lag_s(self) -> float | None:
        """From the dump of requests to the metrics."""
        return None if self.dump_s is None or self.metrics_s is None else self.metrics_s - self.dump_s

    @property
    def waiting(self) -> tuple[RequestRow, ...] | None:
        return None if self.rows is None else tuple(row for row in self.rows if not row.executing)

    @property
    def executing(self) -> tuple[RequestRow, ...] | None:
        """None also where the dump lists waiting requests only (up to 1.27)."""
        if self.rows is None or not self.point.lists_executing:
            return None
        return tuple(row for row in self.rows if row.executing)

    @property
    def divisor(self) -> float | None:
        """What the time histograms of seats and of executing requests divide by, in seats.

        It is the current limit. Where that is 0, since 1.28, it is a tenth of the server's seats, at least 1.
        """
        limit, point = self.level.current, self.point
        if limit is None or limit > 0:
            return limit
        if point.release is None or not holds(point.release, ZERO_LIMIT_COUNTS_SINCE) or not point.server_concurrency:
            return None
        return max(1.0, float(half_away(point.server_concurrency / 10)))


@dataclass(frozen=True, slots=True)
class LevelWindow:
    """One level of one server over a window: its instants, oldest first, at least one.

    `seconds` is how long the window is, by the server's clock; 0 for one instant, which only laws about a moment can
    use.
    """

    name: str
    instants: tuple[Instant, ...]
    seconds: float

    @property
    def first(self) -> Instant:
        return self.instants[0]

    @property
    def last(self) -> Instant:
        return self.instants[-1]

    @property
    def ends(self) -> tuple[Instant, Instant]:
        return self.first, self.last

    @property
    def steps(self) -> Iterator[tuple[Instant, Instant]]:
        """From each instant to the next."""
        return pairwise(self.instants)

    @property
    def config(self) -> PriorityLevelConfiguration | None:
        """The level's object as last read."""
        return self.last.point.config(self.name)

    @property
    def same_config(self) -> bool:
        """Whether the level's object was known over all of the window, and its spec did not change."""
        specs = {_spec(one.point.config(self.name)) for one in self.instants}
        return len(specs) == 1 and None not in specs

    @property
    def exempt(self) -> bool:
        return self.config.exempt if self.config is not None else self.name == EXEMPT

    @property
    def queueless(self) -> bool:
        """Whether the level surely has no queues."""
        return self.exempt or (self.config is not None and self.config.queuing is None)

    @property
    def limits(self) -> tuple[float | None, ...]:
        """The current limit at each instant."""
        return tuple(one.level.current for one in self.instants)

    def count(self, measure: str) -> float:
        """The rise of a counter of `LevelPoint`."""
        return float(getattr(self.last.level, measure) - getattr(self.first.level, measure))

    def rise(self, measure: str) -> Histogram | None:
        """The rise of a histogram of `LevelPoint`; None where it is not exposed, or its buckets changed."""
        return rise(self.first, self.last, measure)

    def rejected(self) -> Mapping[str, float]:
        """The rise of each reason."""
        before, after = self.first.level.rejected, self.last.level.rejected
        return {reason: number - before.get(reason, 0.0) for reason, number in after.items()}

    @property
    def unserved(self) -> float:
        """Requests that left their queue unserved."""
        return unserved(self.first, self.last)

    @property
    def arrivals_per_s(self) -> float:
        """Requests that came to the level, a second."""
        queued = (self.last.level.waiting or 0.0) - (self.first.level.waiting or 0.0)
        return max(0.0, self.count("dispatched") + self.count("rejected_total") + queued) / self.seconds


def rise(before: Instant, after: Instant, measure: str) -> Histogram | None:
    """The rise of a histogram of `LevelPoint` from one instant to another; None where either is unknown."""
    later: Histogram | None = getattr(after.level, measure)
    earlier: Histogram | None = getattr(before.level, measure)
    if later is None or earlier is None:
        return None
    # A series that was not exposed yet has no buckets.
    return subtract(later, earlier if earlier.bounds or earlier.native_only else None)


def unserved(before: Instant, after: Instant) -> float:
    """How many left their queue unserved from one instant to another (`time-out`, and `cancelled` up to 1.28.4)."""
    first, last = before.level.rejected, after.level.rejected
    return sum(last.get(reason, 0.0) - first.get(reason, 0.0) for reason in vocabulary().reasons_in_wait.names)


def waited_ns(before: Instant, after: Instant) -> int | None:
    """For how long anything waited from one instant to another (1.26 to 1.37); None where that is unknown."""
    waiting = rise(before, after, "waiting_time")
    if waiting is None or waiting.bounds[:1] != (0.0,):
        return None
    return waiting.count - waiting.cumulative[0]


def parts(window: LevelWindow) -> tuple[LevelWindow, ...]:
    """The window without its last step, and without its first; none where it has one step only."""
    if len(window.instants) < 3:
        return ()
    shorter = window.instants[:-1], window.instants[1:]
    return tuple(LevelWindow(window.name, instants, _seconds(instants)) for instants in shorter)


def window(track: Track) -> tuple[Point, ...]:
    """The points of the latest window: from the newest point that is old enough, else from the oldest there is.

    Where answers are far apart it is longer, so that it has a few of them.
    """
    points = track.points
    if any(one.metrics.time is None for one in points):
        return points[-2:]
    return points[first_needed(points) :]


def first_needed(points: tuple[Point, ...]) -> int:
    """Where the latest window begins among points; one of unknown time is not old."""
    terms, end = rules().check, points[-1].metrics.time if points else None
    start = 0
    for number, one in enumerate(points[: max(0, len(points) - terms.least_answers + 1)]):
        if end is not None and one.metrics.time is not None and end - one.metrics.time >= terms.window_s:
            start = number
    return start


def level_window(name: str, points: tuple[Point, ...], born: Mapping[str, float]) -> LevelWindow | None:
    """A level over the points that have it, up to the last one; None where that has it not."""
    start = len(points)
    while start and name in points[start - 1].levels:
        start -= 1
    instants = tuple(instant(name, point, born) for point in points[start:])
    return LevelWindow(name, instants, _seconds(instants)) if instants else None


def instant(name: str, point: Point, born: Mapping[str, float]) -> Instant:
    """A level at a point that has it."""
    level = point.levels[name]
    metrics = None if point.clock_set else metrics_s(level, born.get(name))
    return Instant(point, level, point.rows(name), dump_s(point), metrics)


def _seconds(instants: tuple[Instant, ...]) -> float:
    """By the server's count of nanoseconds, else by the times of the answers."""
    first, last = instants[0], instants[-1]
    counted = rise(first, last, "waiting_time") or rise(first, last, "executing_time")
    if counted is not None and counted.count > 0:
        return counted.count / NANOSECONDS
    begun, ended = first.point.metrics.time, last.point.metrics.time
    return max(0.0, ended - begun) if begun is not None and ended is not None else 0.0


def _spec(config: PriorityLevelConfiguration | None) -> tuple[object, ...] | None:
    if config is None:
        return None
    return config.exempt, config.shares, config.lendable_percent, config.borrowing_limit_percent, config.queuing
