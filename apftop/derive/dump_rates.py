"""Counts of a level from two dumps of priority levels: they come more often than metrics, and may be all there is."""

from __future__ import annotations

from collections import Counter

from apftop.apf.objects import PriorityLevelConfiguration
from apftop.apf.release import holds
from apftop.derive.counts import take_out
from apftop.derive.evidence import Evidence
from apftop.parse.vocabulary import vocabulary
from apftop.records.frame import Recent
from apftop.records.measures import Counts, Window


def recent(evidence: Evidence, name: str, config: PriorityLevelConfiguration | None) -> Recent | None:
    """Dispatched and rejected between the two dumps; None up to 1.26, whose dump has no totals.

    Time-outs and cancellations have columns of their own (one of them unused since 1.28.5); the rest were refused on
    arrival, by a full queue or, on a level without queues, by its limit.
    """
    step = evidence.dump_step
    after = (evidence.rows or {}).get(name)
    before = step.before.get(name) if step else None
    if step is None or before is None or after is None or after.dispatched is None or after.rejected is None:
        return None
    timed_out, cancelled = _rise(before.timed_out, after.timed_out), _rise(before.cancelled, after.cancelled)
    refused = _rise(before.rejected, after.rejected) - timed_out - cancelled
    # A column of its own for time-outs moves up to 1.28.4 only: since then both kinds are in the other one.
    apart = vocabulary().corrections["cancelled-reason"].holds
    split = bool(after.timed_out) or (evidence.release is not None and holds(evidence.release, apart))
    rejected = {"time-out": timed_out, "cancelled": cancelled} if split else {"time-out": timed_out + cancelled}
    rejected[_arrival_reason(config)] = refused
    own = evidence.own.dumps
    take_out(rejected, sum((Counter(n) for (level, _), n in own.refused.items() if level == name), Counter()))
    served = sum(number for (level, _), number in own.served.items() if level == name)
    counts = Counts(
        dispatched=max(0.0, _rise(before.dispatched, after.dispatched) - served),
        rejected={reason: number for reason, number in rejected.items() if number > 0},
        no_accommodation=None,
        inqueue_change=None if None in (before.waiting, after.waiting) else _rise(before.waiting, after.waiting),
    )
    return Recent(Window(step.t1 - step.t0, "stamps", step.t0, step.t1), counts)


def _arrival_reason(config: PriorityLevelConfiguration | None) -> str:
    if config is None:
        return "on-arrival"
    return "concurrency-limit" if config.queuing is None else "queue-full"


def _rise(before: int | None, after: int | None) -> float:
    return float((after or 0) - (before or 0))
