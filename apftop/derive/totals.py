"""Sums over replicas. Extension servers stay out: their families have the same names and other levels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from apftop.records.frame import Level, LevelTotal, Replica, Totals


def totals(replicas: Mapping[str, Replica]) -> Totals:
    """Sum live levels over the kube-apiservers; what a replica does not know is left out of its sum."""
    servers = {name: one for name, one in replicas.items() if one.kind == "kube-apiserver"}
    names = sorted({name for one in servers.values() for name, level in one.levels.items() if level.state != "stale"})
    by_level = {
        name: _total({replica: one.levels[name] for replica, one in servers.items() if name in one.levels})
        for name in names
    }
    levels = [level for one in servers.values() for level in one.levels.values() if level.state != "stale"]
    return Totals(
        nominal_sum=_add(one.nominal_sum for one in servers.values()),
        refused_share=_refused(levels),
        levels=by_level,
        hot=_hot(servers),
    )


def _total(levels: Mapping[str, Level]) -> LevelTotal:
    dispatched = {name: rate for name, level in levels.items() if (rate := dispatch_rate(level)) is not None}
    whole = sum(dispatched.values())
    return LevelTotal(
        replicas=len(levels),
        nominal=_add(level.nominal for level in levels.values()),
        current=_add(level.current for level in levels.values()),
        seats_in_use=_add(level.seats_in_use for level in levels.values()),
        executing=_add(level.executing for level in levels.values()),
        waiting=_add(level.waiting for level in levels.values()),
        dispatched_per_s=whole if dispatched else None,
        rejected_per_s=_add(reject_rate(level) for level in levels.values()),
        refused_share=_refused(levels.values()),
        share_of_dispatch={name: rate / whole for name, rate in dispatched.items()} if whole else {},
        skew=max(dispatched.values()) * len(dispatched) / whole if whole and len(dispatched) > 1 else None,
    )


def dispatch_rate(level: Level) -> float | None:
    """Requests a second that began to execute."""
    return _rate(level, lambda level: level.counts.dispatched if level.counts else 0.0)


def reject_rate(level: Level) -> float | None:
    """Requests a second that were refused, for whatever reason."""
    return _rate(level, lambda level: level.counts.rejected_total if level.counts else 0.0)


def _rate(level: Level, count: Callable[[Level], float]) -> float | None:
    if level.counts is None or level.window is None:
        return None
    return count(level) / level.window.seconds


def _refused(levels: Iterable[Level]) -> float | None:
    known = [level.counts for level in levels if level.counts is not None]
    decided = sum(one.dispatched + one.rejected_total for one in known)
    return sum(one.rejected_total for one in known) / decided if decided else None


def _hot(servers: Mapping[str, Replica]) -> str | None:
    """The replica that hurts most: most refusals a second, then most waiting, then most seats in use."""

    def heat(one: Replica) -> tuple[float, float, float]:
        levels = [level for level in one.levels.values() if level.state not in ("stale", "exempt")]
        return (
            sum(reject_rate(level) or 0.0 for level in levels),
            sum(level.waiting or 0.0 for level in levels),
            sum(level.seats_in_use or 0.0 for level in levels),
        )

    if len(servers) < 2:
        return None
    hottest = max(servers.values(), key=heat)
    return hottest.name if any(heat(hottest)[:2]) else None


def _add(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
