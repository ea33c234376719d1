"""Whether a server gives reason to ask what lies behind its queues, by what it has answered so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise

from apftop.apf.objects import EXEMPT
from apftop.parse.vocabulary import vocabulary
from apftop.records.parsed import Family, LevelRow, Metrics, Spent
from apftop.records.state import ReplicaState
from apftop.rules import rules

WATCH = "watch"


def doubtful(replica: ReplicaState, rows: tuple[LevelRow, ...]) -> bool:
    """Whether a level of the newest dump waits, refuses or is near its limit, or execution takes longer than usual."""
    return (
        any(row.waiting for row in rows)
        or near_limit(replica, rows, rules().behind.near_limit)
        or _refusing(replica)
        or _slower(replica)
    )


def near_limit(replica: ReplicaState, rows: tuple[LevelRow, ...], share: float) -> bool:
    """Whether requests execute on this share of a level's current limit: each of them takes one seat at least."""
    family = _family(replica.metrics[-1].data, "current") if replica.metrics else None
    limits = {dict(labels).get("priority_level"): value for labels, value in family.values.items()} if family else {}
    return any(
        row.executing >= share * limit
        for row in rows
        if row.executing and row.name != EXEMPT and (limit := limits.get(row.name)) is not None
    )


def _refusing(replica: ReplicaState) -> bool:
    """Whether requests were refused between the last two dumps of levels, or the last two metrics."""
    dumps = [{row.name: _left(row) for row in read.data.rows} for read in replica.levels]
    if any(later.get(name, 0) > count for was, later in pairwise(dumps) for name, count in was.items()):
        return True
    families = [_family(read.data, "rejected") for read in replica.metrics]
    totals = [sum(family.values.values()) if family else 0.0 for family in families]
    return any(later > was for was, later in pairwise(totals))


def _left(row: LevelRow) -> int:
    """How many requests a level has not served."""
    return (row.rejected or 0) + (row.timed_out or 0) + (row.cancelled or 0)


def _slower(replica: ReplicaState) -> bool:
    """Whether requests of a level took longer between the last two metrics than in its life before."""
    if len(replica.metrics) < 2:
        return False
    limits = rules().behind
    was, now = (_executions(_family(read.data, "execution")) for read in replica.metrics)
    for level, later in now.items():
        before = was.get(level)
        if before is None or not before.count or later.count - before.count < limits.slower_of:
            continue
        usual_s = before.seconds / before.count
        mean_s = (later.seconds - before.seconds) / (later.count - before.count)
        if mean_s >= limits.slower_times * usual_s and mean_s - usual_s >= limits.slower_s:
            return True
    return False


def _executions(family: Family | None) -> Mapping[str, Spent]:
    """Requests of each level and the seconds that they executed, without watches."""
    totals: dict[str, Spent] = defaultdict(lambda: Spent(0.0, 0.0))
    for labels, one in family.histograms.items() if family else ():
        told = dict(labels)
        if told.get("type") != WATCH:
            before = totals[told.get("priority_level", "")]
            totals[told.get("priority_level", "")] = Spent(before.count + one.count, before.seconds + one.sum)
    return totals


def _family(metrics: Metrics, measure: str) -> Family | None:
    words = vocabulary()
    names = (words.prefix + name for name in words.measures[measure].families)
    return next((metrics.families[name] for name in names if name in metrics.families), None)
