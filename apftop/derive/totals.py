"""Sums over replicas. Extension servers stay out: their families have the same names and other levels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from apftop.records.frame import Level, LevelTotal, Replica, Totals


def totals(replicas: Mapping[str, Replica]) -> Totals:
    """Sum live levels over all servers but extensions; None where one of them does not know its term."""
    servers = {name: one for name, one in replicas.items() if one.kind != "extension" and one.levels}
    by_level: dict[str, dict[str, Level]] = defaultdict(dict)
    for replica, one in servers.items():
        for name, level in one.levels.items():
            if level.state != "stale":
                by_level[name][replica] = level
    return Totals(
        nominal_sum=_add(one.nominal_sum for one in servers.values()),
        refused_share=_refused(level for levels in by_level.values() for level in levels.values()),
        levels={name: _total(by_level[name]) for name in sorted(by_level)},
        hot=_hot(servers),
    )


def _total(levels: Mapping[str, Level]) -> LevelTotal:
    dispatched = {name: rate for name, level in levels.items() if (rate := level.dispatched_per_s) is not None}
    whole = sum(dispatched.values()) if len(dispatched) == len(levels) else None
    return LevelTotal(
        replicas=len(levels),
        nominal=_add(level.nominal for level in levels.values()),
        current=_add(level.current for level in levels.values()),
        seats_in_use=_add(level.seats_in_use for level in levels.values()),
        executing=_add(level.executing for level in levels.values()),
        waiting=_add(level.waiting for level in levels.values()),
        dispatched_per_s=whole,
        rejected_per_s=_add(level.rejected_per_s for level in levels.values()),
        refused_share=_refused(levels.values()),
        share_of_dispatch={name: rate / whole for name, rate in dispatched.items()} if whole else {},
        skew=max(dispatched.values()) * len(dispatched) / whole if whole and len(dispatched) > 1 else None,
    )


def _refused(levels: Iterable[Level]) -> float | None:
    """Of rates: counts of different servers are over windows of different lengths."""
    rejected = decided = 0.0
    for level in levels:
        if level.dispatched_per_s is None or level.rejected_per_s is None:
            return None
        rejected += level.rejected_per_s
        decided += level.dispatched_per_s + level.rejected_per_s
    return rejected / decided if decided else None


def _hot(servers: Mapping[str, Replica]) -> str | None:
    """The replica that hurts most: most refusals a second, then most waiting, then most seats in use."""

    def heat(one: Replica) -> tuple[float, float, float]:
        levels = [level for level in one.levels.values() if level.state not in ("stale", "exempt")]
        return (
            sum(level.rejected_per_s or 0.0 for level in levels),
            sum(level.waiting or 0.0 for level in levels),
            sum(level.seats_in_use or 0.0 for level in levels),
        )

    if len(servers) < 2:
        return None
    hottest = max(servers.values(), key=heat)
    return hottest.name if any(heat(hottest)[:2]) else None


def _add(values: Iterable[float | None]) -> float | None:
    """The sum, if every term is known and there is one."""
    terms = list(values)
    known = [value for value in terms if value is not None]
    return sum(known) if known and len(known) == len(terms) else None
