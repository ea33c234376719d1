"""Whether metrics and dumps are of one server and one time: by what both count, and by the age of the metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from apftop.apf.objects import MANDATORY
from apftop.check.in_force import unix_s
from apftop.check.instants import age_s, ahead_s, taken_s
from apftop.check.judge import judged, unknown
from apftop.check.point import Fetched, LevelPoint, Point, Track
from apftop.check.window import Instant, LevelWindow
from apftop.records.checks import Check
from apftop.records.measures import NANOSECONDS
from apftop.rules import rules

COUNTING_TIME = ("waiting_time", "executing_time", "seat_time", "demand_time")

OLDER = "the metrics count fewer than a dump from before them: they are old, of another server, or were reset"
NEWER = "the metrics count more than a dump from after them: the two are of different servers, or the dump is old"
FAR = "the metrics count far more than the dump just before them: the two are of different servers or times"


@dataclass(frozen=True, slots=True)
class Ahead:
    """How many dispatches the metrics are ahead of the dump next to them, and between what that must lie.

    The lower end is sure if the dump surely came first, the upper one if there is a dump from after the metrics: else
    it is a guess from the level's rate.
    """

    by: float
    low: float
    high: float
    sure: tuple[bool, bool]

    @property
    def beyond(self) -> float:
        return max(self.low - self.by, self.by - self.high)

    @property
    def surely_beyond(self) -> bool:
        return (self.sure[0] and self.by < self.low) or (self.sure[1] and self.by > self.high)


def same_server(window: LevelWindow) -> Check | None:
    """Requests dispatched by the metrics - those by the dump of priority levels: what was dispatched between the two.

    The server counts each dispatch in its metrics first and for its dumps next, so that metrics from after a dump never
    count less, nor metrics from before a dump more (1.27 to 1.37). Without such a later dump the most is guessed from
    the level's rate. A level that was deleted and made anew counts from 0 in dumps but goes on in metrics: not judged
    unless the two rise apart. Mandatory levels are never made anew. After a reset of the metrics, which takes the
    histograms over time away, metrics count less for good. Does not apply where dumps have no such count: up
    to 1.26, and of the exempt level up to 1.27.
    """
    law, seconds = "same-server", window.seconds or None
    if all(one.point.dumped is None for one in window.instants):
        return unknown(law, "a dump of priority levels next to the metrics", seconds=seconds)
    totals = [total for one in window.instants if (total := _total(one, window.name)) is not None]
    if not totals:
        return None
    if not any("dispatched" in one.point.measures for one in window.instants):
        return unknown(law, "the counter of dispatched requests", seconds=seconds)
    found = list(_ahead(window))
    if not found:
        return unknown(law, "when the dump of priority levels and the metrics were asked for", seconds=seconds)
    worst = max(found, key=lambda one: (one.surely_beyond, one.beyond))
    if worst.by < worst.low and any(_lacks_time(one.point) for one in window.instants):
        return unknown(
            law, "metrics from the server's start: these were reset, or lack what counts time", seconds=seconds
        )
    if worst.by > worst.high and window.name not in MANDATORY:
        fell = any(after < before for before, after in pairwise(totals))
        in_step = max(one.by - one.high for one in found) <= min(one.by - one.low for one in found)
        if fell or (in_step and _may_be_anew(window)):
            missing = "one life of the level: made anew, it counts from 0 in dumps, but its metrics go on"
            return unknown(law, missing, seconds=seconds)
    if worst.beyond > 0 and not worst.surely_beyond and worst.beyond <= rules().check.same.burst:
        return unknown(law, "a later dump: many came at once, or this is another server", seconds=seconds)
    reason = OLDER if worst.by < worst.low else NEWER if worst.sure[1] else FAR
    return judged(law, worst.by, worst.low, worst.high, 0.0, "requests", seconds=seconds, reason=reason)


def _lacks_time(point: Point) -> bool:
    """Whether a level that the server runs has no histograms over time.

    `DELETE /metrics` takes them away for good (1.26 to 1.37), but for levels that are touched later, such as mandatory
    ones, whose histograms begin anew.
    """
    told = {
        name for name, level in point.levels.items() if any(getattr(level, one) is not None for one in COUNTING_TIME)
    }
    return not point.live <= told


def _ahead(window: LevelWindow) -> Iterator[Ahead]:
    """At each instant whose dump counts and was timed."""
    terms = rules().check.same
    rate = terms.rate * max(terms.least_per_s, window.arrivals_per_s if window.seconds > 0 else 0.0)
    for number, one in enumerate(window.instants):
        total, lag = _total(one, window.name), _lag(one.point)
        if total is None or lag is None or "dispatched" not in one.point.measures:
            continue
        low, high = (rate * (max(0.0, s) + terms.lag_s) + terms.least for s in (-lag[0], lag[1]))
        later = (other for other in window.instants[number + 1 :] if _later(one.point, other.point))
        after = next((count for other in later if (count := _total(other, window.name)) is not None), None)
        dump_first = lag[0] >= 0 and lag[1] > 0
        yield Ahead(
            by=one.level.dispatched - total,
            low=0.0 if dump_first else -low,
            high=high if after is None else after - total,
            sure=(dump_first, after is not None),
        )


def _total(one: Instant, level: str) -> float | None:
    """What the dump has counted."""
    row = one.point.dumped.get(level) if one.point.dumped is not None else None
    return None if row is None or row.dispatched is None else float(row.dispatched)


def _lag(point: Point) -> tuple[float, float] | None:
    """The least and the most time from the dump to the metrics; None where one of the two was not timed."""
    dump, metrics = point.levels_fetched, point.metrics
    if dump is None or dump.sent is None or metrics.sent is None or dump.time is None or metrics.time is None:
        return None
    if _together(dump, metrics):
        return 0.0, metrics.time - metrics.sent
    return metrics.sent - dump.time, metrics.time - dump.sent


def _later(point: Point, other: Point) -> bool:
    """Whether the other's dump was asked for well after the point's metrics, so that it counts all that these do."""
    dump, metrics = other.levels_fetched, point.metrics
    if dump is None or dump.sent is None or metrics.time is None:
        return False
    return dump.sent - metrics.time >= rules().check.same.settled_s


def _may_be_anew(window: LevelWindow) -> bool:
    """Whether the level's object was made after the level's series began, as far as is known."""
    created = None if window.config is None else unix_s(window.config.meta.creation)
    age, now = age_s(window.last.level), window.last.metrics_s
    return created is None or age is None or now is None or created > now - age + rules().check.same.made_s


def _together(dump: Fetched, metrics: Fetched) -> bool:
    """Whether the stamps are those of all fetches together, of which metrics are the last."""
    return dump == metrics and dump.sent != dump.time


@dataclass(frozen=True, slots=True)
class Answer:
    """Metrics: between which moments they were made up, by the server's clock, and how old they were in seconds.

    `age` is less that of the last answer, and so negative for an earlier one.
    """

    first: float
    last: float
    age: float


def metrics_moment(track: Track) -> Check | None:
    """Each answer of metrics was made up after its question was sent and before its first byte came.

    Levels count nanoseconds, so that the answers of one process tell how long after each other they were made up (1.26
    to 1.37). The questions say between what that lies, and dumps of requests how far the server's clock is from this
    machine's. What is older than its question does not fit the others. Where all are late by the same time they do fit:
    only counts tell then (`same_server`).
    """
    law = "metrics-moment"
    looks = [look for point in track.points if (look := _look(point)) is not None]
    if len(looks) < 2:
        return unknown(law, track.broken or "two answers of metrics that were timed, with dumps of requests")
    ahead = max(look.ahead[0] for look in looks), min(look.ahead[1] for look in looks)
    terms = rules().check.same
    since, until = looks[0].asked, looks[-1].asked
    tolerance = terms.moment_s + terms.slewed * abs(until - since)
    if ahead[0] > ahead[1] + tolerance:
        return unknown(law, "a clock that was not set: this machine's and the server's moved against each other")
    # A clock that is being corrected is ahead by one time, and then by another.
    ahead = min(ahead), max(ahead)
    answers = [answer for look in looks if (answer := _answer(look, looks[-1], ahead)) is not None]
    late, early = max(answers, key=lambda one: one.first - one.age), min(answers, key=lambda one: one.last - one.age)
    least, most = late.first - late.age, early.last - early.age
    shown, at = (late, most) if least > most else (answers[-1], (least + most) / 2)
    return judged(
        law,
        at + shown.age - shown.first,
        0.0,
        shown.last - shown.first,
        tolerance,
        "s",
        seconds=-answers[0].age,
        about=f"{len(answers)} answers",
        reason=f"metrics are {least - most:.3g} s older than their question: stale, or of another server",
    )


@dataclass(frozen=True, slots=True)
class Look:
    """A dump of requests and the metrics next to it; Unix seconds.

    The dump was `taken` by the server's clock, which is `ahead` of this machine's by so much, at least and at most.
    Metrics were asked for and given (their first byte) by this machine's clock, after the dump or not.
    """

    taken: float
    ahead: tuple[float, float]
    asked: float
    given: float
    after: bool
    levels: Mapping[str, LevelPoint]


def _look(point: Point) -> Look | None:
    """None where one of the two was not timed."""
    taken, ahead, dump, metrics = taken_s(point), ahead_s(point), point.requests_fetched, point.metrics
    if taken is None or ahead is None or dump is None or dump.time is None:
        return None
    if metrics.sent is None or metrics.time is None or metrics.time <= metrics.sent:
        return None
    after = metrics.sent >= dump.time or _together(dump, metrics)
    return Look(taken, ahead, metrics.sent, metrics.time, after, point.levels)


def _answer(look: Look, last: Look, ahead: tuple[float, float]) -> Answer | None:
    """None where no series is in both answers."""
    ages = [
        (ours.count - theirs.count) / NANOSECONDS
        for name, level in look.levels.items()
        for measure in COUNTING_TIME
        if (ours := getattr(level, measure)) is not None
        and name in last.levels
        and (theirs := getattr(last.levels[name], measure)) is not None
    ]
    if not ages:
        return None
    first = look.asked + ahead[0]
    return Answer(max(first, look.taken) if look.after else first, look.given + ahead[1], median(ages))
