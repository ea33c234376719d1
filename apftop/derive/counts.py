"""Counts over the window for levels and schemas, with this tool's own requests taken out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from apftop.derive.deltas import Step, add
from apftop.derive.evidence import Evidence
from apftop.derive.waits import buckets as bucket_counts
from apftop.derive.waits import quantile, wait_limit, waits
from apftop.parse.vocabulary import vocabulary
from apftop.records.measures import Counts, Execution, Waits
from apftop.records.parsed import Histogram
from apftop.records.view import Key

Name = Callable[[Key], str]

COUNTED = ("dispatched", "rejected", "wait")
ON_ARRIVAL = ("queue-full", "concurrency-limit", "on-arrival")


@dataclass(frozen=True, slots=True)
class Tally:
    """What happened over the window by level, or by schema."""

    dispatched: Mapping[str, float]
    rejected: Mapping[str, Mapping[str, float]]
    no_accommodation: Mapping[str, float]
    inqueue_change: Mapping[str, float]
    accepted: Mapping[str, Histogram | None]
    refused_waits: Mapping[str, int]
    execution: Mapping[str, Histogram | None]
    own: Mapping[str, int]
    own_refused: Mapping[str, Mapping[bool, int]]
    unknown: frozenset[str]
    counts_no_accommodation: bool
    knows_inqueue: bool


def level_of(key: Key) -> str:
    return key.level


def schema_of(key: Key) -> str:
    return key.schema


def tally(evidence: Evidence, name: Name) -> Tally | None:
    """Sum the rises of all series by level or schema; None without two metrics answers."""
    step = evidence.step
    if step is None:
        return None
    rejected: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for key, rise in step.counters("rejected").items():
        rejected[name(key)][key.by] += rise
    wait_parts: dict[str, list[Histogram]] = defaultdict(list)
    refused: dict[str, int] = defaultdict(int)
    for key, histogram in step.histograms("wait").items():
        if key.by == "false":
            refused[name(key)] += histogram.count
        else:
            wait_parts[name(key)].append(histogram)
    execution_parts: dict[str, list[Histogram]] = defaultdict(list)
    for key, histogram in step.histograms("execution").items():
        if key.by != "watch":
            execution_parts[name(key)].append(histogram)
    own: dict[str, int] = defaultdict(int)
    for (level, schema), number in evidence.own.metrics.served.items():
        own[name(Key(level, schema))] += number
    own_refused: dict[str, dict[bool, int]] = defaultdict(lambda: defaultdict(int))
    for (level, schema), refusals in evidence.own.metrics.refused.items():
        for waited, number in refusals.items():
            own_refused[name(Key(level, schema))][waited] += number
    return Tally(
        dispatched=_summed(step.counters("dispatched"), name),
        rejected=rejected,
        no_accommodation=_summed(step.counters("no_accommodation"), name),
        inqueue_change=_inqueue_change(step, name),
        accepted={one: add(parts) for one, parts in wait_parts.items()},
        refused_waits=refused,
        execution={one: add(parts) for one, parts in execution_parts.items()},
        own=own,
        own_refused=own_refused,
        unknown=frozenset(name(key) for measure in COUNTED for key in step.torn(measure)),
        counts_no_accommodation=step.after.release is not None or "no_accommodation" in step.after.sources,
        knows_inqueue="waiting" in step.before.sources and "waiting" in step.after.sources and not step.anew,
    )


def counts(tally: Tally, name: str) -> Counts | None:
    """The counts of one level or schema without this tool's own requests; None where a series of it is torn."""
    if name in tally.unknown:
        return None
    rejected = dict(tally.rejected.get(name, {}))
    take_out(rejected, tally.own_refused.get(name, {}))
    return Counts(
        dispatched=max(0.0, tally.dispatched.get(name, 0.0) - tally.own.get(name, 0)),
        rejected={reason: number for reason, number in sorted(rejected.items()) if number},
        no_accommodation=tally.no_accommodation.get(name, 0.0) if tally.counts_no_accommodation else None,
        inqueue_change=tally.inqueue_change.get(name, 0.0) if tally.knows_inqueue else None,
    )


def take_out(rejected: dict[str, float], own: Mapping[bool, int]) -> None:
    """Take refusals of our own out of those by reason; they are given by whether the request had waited in a queue."""
    for waited, number in own.items():
        left = float(number)
        for reason in vocabulary().reasons_in_wait.names if waited else ON_ARRIVAL:
            taken = min(left, rejected.get(reason, 0.0))
            if taken:
                rejected[reason] -= taken
                left -= taken


def waits_of(tally: Tally, name: str, evidence: Evidence) -> Waits | None:
    """The corrected waits of one level or schema; None where the histogram has no such series (exempt has none)."""
    accepted = tally.accepted.get(name)
    refused = tally.refused_waits.get(name, 0)
    if accepted is None or name in tally.unknown:
        return None
    in_wait = vocabulary().reasons_in_wait.names
    unserved = int(sum(number for reason, number in tally.rejected.get(name, {}).items() if reason in in_wait))
    limit = wait_limit(evidence.release, evidence.request_timeout_s, accepted, unserved)
    return waits(accepted, unserved, refused, tally.own.get(name, 0), limit)


def execution_of(tally: Tally, name: str) -> Execution | None:
    """Execution time of one level or schema, watches left out."""
    histogram = tally.execution.get(name)
    if histogram is None:
        return None
    mean = histogram.sum / histogram.count if histogram.count else None
    return Execution(histogram.count, mean, quantile(bucket_counts(histogram), 0.95))


def _summed(rises: Mapping[Key, float], name: Name) -> dict[str, float]:
    totals: dict[str, float] = defaultdict(float)
    for key, rise in rises.items():
        totals[name(key)] += rise
    return totals


def _inqueue_change(step: Step, name: Name) -> dict[str, float]:
    change: dict[str, float] = defaultdict(float)
    for key, value in step.after.values.get("waiting", {}).items():
        change[name(key)] += value
    for key, value in step.before.values.get("waiting", {}).items():
        change[name(key)] -= value
    return change
