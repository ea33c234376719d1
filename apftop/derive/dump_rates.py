"""Counts of a level from two dumps of priority levels: for servers whose /metrics cannot be read."""

from __future__ import annotations

from apftop.apf.objects import PriorityLevelConfiguration
from apftop.apf.release import holds
from apftop.derive.evidence import DumpStep, Evidence
from apftop.parse.vocabulary import vocabulary
from apftop.records.measures import Counts, Window


def window_of_dumps(step: DumpStep) -> Window:
    """The window between the two dumps, by the taker's clock."""
    return Window(step.t1 - step.t0, "stamps", step.t0, step.t1)


def counts_from_dumps(evidence: Evidence, name: str, config: PriorityLevelConfiguration | None) -> Counts | None:
    """Dispatched and rejected between the two dumps; None up to 1.26, whose dump has no totals.

    Time-outs and cancellations have columns of their own (one of them unused since 1.28.5); the rest were refused on
    arrival, by a full queue or, on a level without queues, by its limit.
    """
    step = evidence.dump_step
    after = (evidence.rows or {}).get(name)
    before = step.before.get(name) if step else None
    if before is None or after is None or after.dispatched is None or after.rejected is None:
        return None
    timed_out, cancelled = _rise(before.timed_out, after.timed_out), _rise(before.cancelled, after.cancelled)
    refused = _rise(before.rejected, after.rejected) - timed_out - cancelled
    # A column of its own for time-outs moves up to 1.28.4 only: since then both kinds are in the other one.
    apart = vocabulary().corrections["cancelled-reason"].holds
    split = bool(after.timed_out) or (evidence.release is not None and holds(evidence.release, apart))
    rejected = {"time-out": timed_out, "cancelled": cancelled} if split else {"time-out": timed_out + cancelled}
    rejected[_arrival_reason(config)] = refused
    own = sum(number for (level, _), number in evidence.own.dumps_served.items() if level == name)
    return Counts(
        dispatched=float(max(0, _rise(before.dispatched, after.dispatched) - own)),
        rejected={reason: float(number) for reason, number in rejected.items() if number > 0},
        no_accommodation=None,
        inqueue_change=float((after.waiting or 0) - (before.waiting or 0)),
    )


def _arrival_reason(config: PriorityLevelConfiguration | None) -> str:
    if config is None:
        return "on-arrival"
    return "concurrency-limit" if config.queuing is None else "queue-full"


def _rise(before: int | None, after: int | None) -> int:
    return (after or 0) - (before or 0)
