"""What is to be simulated: levels where requests waited, from a dump of them to the metrics after the next one."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

from apftop.apf.forecast import RUNS, Band, Trial
from apftop.apf.starts import RUNS as START_RUNS
from apftop.apf.starts import Onward
from apftop.check.limit_move import limit_move
from apftop.check.load import arrivals_before, seen_requests, traffic
from apftop.check.missing import Missing, needed
from apftop.check.point import Track
from apftop.check.seen_level import configured, seen_level, waiting_in_order
from apftop.check.window import Instant, instant, rise, waited_ns
from apftop.records.checks import RequestKey, Span, Start
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import RequestRow
from apftop.rules import rules
from apftop.trials import Answer, Task

Kind = Literal["waits", "starts"]
"""The waits of the last interval; or from the last dump on, when those that wait there start."""

Key = tuple[str, Kind, int]
"""Level, kind, and the number of the point at which the interval ends, or whose dump it is."""


@dataclass(frozen=True, slots=True)
class Job:
    """Runs of one level of one replica.

    `at` is when the last answer that it stands on came (Unix seconds of this machine). `waiting` are the requests whose
    starts are asked for, in the order of the task's.
    """

    replica: str
    level: str
    kind: Kind
    number: int
    at: float
    task: Task
    waiting: tuple[RequestKey, ...] = ()

    @property
    def key(self) -> Key:
        return self.level, self.kind, self.number


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a job: of each run the sum of waits in seconds and their number, or when each request starts."""

    replica: str
    level: str
    kind: Kind
    number: int
    waits: tuple[tuple[float, int], ...] = ()
    starts: Mapping[RequestKey, Start] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        return self.level, self.kind, self.number


@dataclass(frozen=True, slots=True)
class Step:
    """A level from one answer of metrics to the next, with its requests that dumps have shown so far."""

    level: str
    before: Instant
    after: Instant
    seen: Sequence[RequestRow]

    @property
    def seconds(self) -> float:
        """From the one to the other by the server's count of nanoseconds; 0 where that is unknown."""
        begun, ended = self.before.metrics_s, self.after.metrics_s
        return 0.0 if begun is None or ended is None else max(0.0, ended - begun)

    @property
    def waited(self) -> bool:
        """Whether something waited for long enough for waits to tell something."""
        return (waited_ns(self.before, self.after) or 0) > rules().check.band.waited_s * NANOSECONDS


def jobs(replica: str, track: Track, known: Container[Key] = ()) -> list[Job]:
    """What can be simulated of a replica now and is not `known`, for each level in which something waited.

    That is the interval that has just ended, and what becomes of those that wait in the last dump.
    """
    if len(track.points) < 2:
        return []
    first, last = track.points[-2:]
    at = last.metrics.received or last.metrics.time or 0.0
    found: list[Job] = []
    for name in sorted(first.levels.keys() & last.levels.keys() & last.live):
        before, after = (instant(name, point, track.born) for point in (first, last))
        step = Step(name, before, after, seen_requests(name, track.points))
        if not step.waited:
            continue
        with suppress(Missing):
            if (name, "waits", last.number) not in known:
                found.append(Job(replica, name, "waits", last.number, at, interval(step, replica)))
        with suppress(Missing):
            if after.waiting and (name, "starts", last.number) not in known:
                keys = tuple(row.key for row in waiting_in_order(after))
                found.append(Job(replica, name, "starts", last.number, at, onward(step, replica), keys))
    return found


def interval(step: Step, replica: str = "") -> Trial:
    """The level from the dump at the first metrics to the second metrics, with just as many requests as came.

    Raises Missing where something is not known that it takes.
    """
    before, after = step.before, step.after
    seen = seen_level(step.level, before)
    if configured(step.level, after) != seen.queuing:
        raise Missing("a level whose object has not changed")
    begun, ended = (needed(one.metrics_s, "the server's clock at the metrics") for one in (before, after))
    start = max(begun, seen.at_ns / NANOSECONDS)
    if ended - start < (1 - rules().check.band.late_share) * (ended - begun) or ended <= start:
        raise Missing("a dump of requests next to the metrics, and not long after them")
    load = traffic(before, after, step.seen, own=True)
    load = replace(load, count=round(load.count * (ended - start) / (ended - begun)))
    early = arrivals_before(before, load.service.mean_ns)
    return Trial(
        seen=seen,
        traffic=load,
        counted_from_ns=round(start * NANOSECONDS),
        until_ns=round(ended * NANOSECONDS),
        seed=f"{replica}/{step.level}/{seen.at_ns}",
        runs=_runs(RUNS, len(seen.requests) + early + load.count),
        before=early,
        move=limit_move(before, after, round(start * NANOSECONDS), round(ended * NANOSECONDS)),
        waiting_ns=waited_ns(before, after),
        answered=min(load.count, _answered(before, after)),
    )


def _answered(before: Instant, after: Instant) -> int:
    """How many arrivals may have come each as another request was done; 0 where clients do not seem to wait for that.

    They do where the dumps at both ends show about as many requests, some of them waiting: so many are under way.
    """
    execution = rise(before, after, "execution")
    if not before.waiting or not after.waiting or before.rows is None or after.rows is None or execution is None:
        return 0
    least, most = sorted((len(before.rows), len(after.rows)))
    alike = most - least <= max(1.0, rules().check.band.alike_share * most)
    return execution.count if alike else 0


def onward(step: Step, replica: str = "") -> Onward:
    """The level from the dump at the second metrics on, with as many requests a second as came before it.

    Raises Missing where something is not known that it takes.
    """
    seen = seen_level(step.level, step.after)
    if not step.seconds:
        raise Missing("the server's clock at the metrics")
    load = traffic(step.before, step.after, step.seen, own=False)
    longest_ns = round(rules().check.band.onward_s * NANOSECONDS)
    within_ns = min(longest_ns, load.wait_limit_ns or longest_ns)
    share = within_ns / NANOSECONDS / step.seconds
    return Onward(
        seen=seen,
        traffic=load,
        every_ns=round(step.seconds * NANOSECONDS),
        until_ns=seen.at_ns + within_ns,
        seed=f"{replica}/{step.level}/{seen.at_ns}/onward",
        runs=_runs(START_RUNS, len(seen.requests) + round(load.count * max(1.0, share))),
        drift=rules().check.band.drift,
    )


def result(job: Job, answer: Answer) -> Result:
    """What came of a job, by what came of its task."""
    found = Result(job.replica, job.level, job.kind, job.number)
    if isinstance(job.task, Onward):
        by_s = (job.task.until_ns - job.task.seen.at_ns) / NANOSECONDS
        starts = zip(job.waiting, answer.starts, strict=True)
        return replace(found, starts={key: Start(_span(band), by_s, job.task.runs) for key, band in starts})
    return replace(found, waits=tuple((waited_ns / NANOSECONDS, number) for waited_ns, number in answer.waits))


def _runs(most: int, requests: int) -> int:
    """How many runs there is time for, of so many requests each. Raises Missing where it is for too few."""
    terms = rules().check.band
    affordable = terms.most_requests // max(1, requests)
    if affordable < terms.least_runs:
        raise Missing(f"time for {terms.least_runs} runs: of {requests} requests each they take too long")
    return min(most, affordable)


def _span(band: Band | None) -> Span | None:
    if band is None:
        return None
    return Span(band.low / NANOSECONDS, band.middle / NANOSECONDS, band.high / NANOSECONDS)
