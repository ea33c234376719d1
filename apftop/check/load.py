"""The load of a level between two answers of metrics: who came, how wide, for how long they were served."""

from __future__ import annotations

import math
from collections.abc import Sequence

from apftop.apf.estimate import WorkEstimate
from apftop.apf.objects import Queuing
from apftop.apf.release import holds
from apftop.apf.service_times import ServiceTimes
from apftop.apf.traffic import Sample, Traffic
from apftop.check.missing import Missing, needed, summed
from apftop.check.point import Point
from apftop.check.window import Instant, rise, unserved
from apftop.derive.dealt import hash_of
from apftop.derive.waits import buckets, default_limit_s
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import Histogram, RequestRow
from apftop.rules import rules

LEAST_SERVED = 0.1
"""Of what was counted, where long executions ended in the interval."""


def traffic(before: Instant, after: Instant, seen: Sequence[RequestRow], *, own: bool = True) -> Traffic:
    """As many requests as came from one answer of metrics to the next, like those that were `seen`.

    With `own` it stands for these requests themselves, and not for others like them. Raises Missing.
    """
    if not seen:
        raise Missing("a request of the level in a dump: nobody knows what those that came are like")
    execution = summed(rise(before, after, "execution"), "what execution took")
    if not execution.count:
        raise Missing("a request that was served: nobody knows how long one takes")
    config = after.point.config(seen[0].level)
    queuing = config.queuing if config is not None else None
    return Traffic(
        count=arrivals(before, after),
        samples=[_sample(row, queuing) for row in seen],
        service=_service_times(execution, ages_s(after) - ages_s(before), own=own),
        batches=_batches(seen),
        wait_limit_ns=_wait_limit_ns(before, after),
        weights=_weights([row.width for row in seen], rise(before, after, "widths")),
        quiet_ns=_quiet_ns(before, after) if own else 0,
        known=[(row.arrive_ns, _sample(row, queuing)) for row in after.rows or ()] if own else (),
    )


def seen_requests(level: str, points: Sequence[Point]) -> list[RequestRow]:
    """The rows of a level in the dumps of some points, each request once, in order of arrival."""
    found = {
        (row.arrive_ns, row.schema, row.distinguisher, row.details.user if row.details else "", row.queue): row
        for point in points
        for row in point.rows(level) or ()
    }
    return sorted(found.values(), key=lambda row: row.arrive_ns)


def _sample(row: RequestRow, queuing: Queuing | None) -> Sample:
    return Sample(cost(row), needed(hash_of(row, queuing), "the hands of all flows: not all were kept"))


def cost(row: RequestRow) -> WorkEstimate:
    return WorkEstimate(row.initial_seats, row.final_seats, row.additional_latency_ns)


def arrivals(before: Instant, after: Instant) -> int:
    """How many came: each is counted with its width, or up to 1.27 is dispatched, rejected or waits.

    Raises Missing where neither tells.
    """
    widths = rise(before, after, "widths")
    if widths is not None:
        return widths.count
    what = "how many wait"
    waiting = needed(after.level.waiting, what) - needed(before.level.waiting, what)
    done = after.level.dispatched - before.level.dispatched + after.level.rejected_total - before.level.rejected_total
    return max(0, round(done + waiting))


def arrivals_before(instant: Instant, mean_service_ns: float) -> int:
    """How many came between the dump of requests and the metrics after it.

    They are what the gauges have more than the dump, and those in whose place others were served meanwhile.
    """
    level, lag_s = instant.level, instant.lag_s
    rows, executing = instant.rows, instant.executing
    if level.waiting is None or level.executing is None or lag_s is None or rows is None or executing is None:
        return 0
    served = len(executing) / mean_service_ns * NANOSECONDS * lag_s if mean_service_ns > 0 else 0.0
    return max(0, round(level.waiting + level.executing - len(rows) + served))


def ages_s(one: Instant) -> float:
    """For how long those that execute at the dump have executed, all together; 0 where that is unknown."""
    if one.dump_s is None:
        return 0.0
    starts = [row.start_ns for row in one.executing or () if row.start_ns is not None]
    return sum(max(0.0, one.dump_s - start / NANOSECONDS) for start in starts)


def _service_times(execution: Histogram, more_s: float, *, own: bool) -> ServiceTimes:
    """Service times of an interval.

    Their sum is that of the time served in it: what was counted of those that ended, whenever they began, and `more_s`,
    by which those that had not ended were longer in service at its end than at its begin.
    """
    parts = buckets(execution)
    bounds = [round(bound * NANOSECONDS) for bound in execution.bounds]
    mean = max(execution.sum + more_s, execution.sum * LEAST_SERVED) / execution.count
    return ServiceTimes(bounds, [part.count for part in parts], mean * NANOSECONDS, own=own)


def _batches(seen: Sequence[RequestRow]) -> tuple[int, ...]:
    """How many came at a time: those that follow each other closely are one batch."""
    sizes: list[int] = []
    last_ns = -math.inf
    for row in seen:
        if row.arrive_ns - last_ns < rules().check.band.batch_s * NANOSECONDS:
            sizes[-1] += 1
        else:
            sizes.append(1)
        last_ns = row.arrive_ns
    return tuple(sizes)


def _weights(own: Sequence[int], widths: Histogram | None) -> list[float] | None:
    """How often each of the widths must come for their mean to be that of all that came; None for all alike.

    Wide requests wait longer and are seen more often. The weights are exponential in the width. Raises Missing where
    those that came were wider or narrower than any that was seen.
    """
    if widths is None or not widths.count:
        return None
    least, most, mean = min(own), max(own), widths.sum / widths.count
    slack = rules().check.band.width_share * mean
    if not least - slack <= mean <= most + slack:
        raise Missing(f"dumps with requests as wide as those that came: {mean:.3g} seats on average")
    if least == most:
        return None
    low, high = -30.0, 30.0
    for _ in range(40):
        tilt = (low + high) / 2
        weights = [math.exp(tilt * (width - least) / (most - least)) for width in own]
        if sum(weight * width for weight, width in zip(weights, own, strict=True)) < mean * sum(weights):
            low = tilt
        else:
            high = tilt
    return weights


def _quiet_ns(before: Instant, after: Instant) -> int:
    """For how long nothing executed though there were seats for it: nothing came then."""
    executing = rise(before, after, "executing_time")
    if executing is None or executing.bounds[:1] != (0.0,) or not before.level.current or not after.level.current:
        return 0
    return executing.cumulative[0]


def _wait_limit_ns(before: Instant, after: Instant) -> int | None:
    """How long requests wait before they leave: by those that did, else the default.

    None up to 1.28.4, where nobody leaves by the clock.
    """
    release = after.point.release
    if release is not None and not holds(release, rules().wait.limit_cap_holds):
        return None
    limit = _limit_s(rise(before, after, "waits"), unserved(before, after))
    return round((default_limit_s() if limit is None else limit) * NANOSECONDS)


def _limit_s(waits: Histogram | None, left: float) -> float | None:
    """The wait limit that all of those have who left their queues unserved; None where there are none.

    They waited longest: it lies in the highest bucket that is filled, and where in it follows from the sum of waits.
    """
    if waits is None or left <= 0:
        return None
    parts = [part for part in buckets(waits) if part.count]
    if not parts or parts[-1].high is None:
        return None
    *others, top = parts
    low, high = top.low, parts[-1].high
    if low <= default_limit_s() <= high:
        return default_limit_s()
    if top.count < left:
        # The limit runs from the receipt of the request, its wait from a little later: they lie on both sides of it.
        return low
    rest = waits.sum - sum(part.count * (part.low + (part.high or part.low)) / 2 for part in others)
    served = top.count - left
    return min(max((rest - served * low / 2) / (left + served / 2), low), high)
