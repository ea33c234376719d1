"""Alerts on priority levels: waits, seats, limits and queues."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from apftop.findings.alerting.of_servers import limited_share
from apftop.findings.alerting.said import Said, all_of, full, often, over
from apftop.findings.scene import Scene, by_level, places, servers
from apftop.records.frame import Level, Replica
from apftop.records.measures import Bucket
from apftop.rules import rules


def long(scene: Scene) -> Iterator[Said]:
    """APFQueueWaitLong: too many requests of a level wait for a third of the usual limit."""
    return _waits_over(scene, rules().findings.alerts.long_s, rules().findings.alerts.long_share)


def near_limit(scene: Scene) -> Iterator[Said]:
    """APFQueueWaitNearLimit: requests of a level wait for two thirds of the usual limit."""
    return _waits_over(scene, rules().findings.alerts.near_limit_s, rules().findings.alerts.near_limit_share)


def saturated(scene: Scene) -> Iterator[Said]:
    """APFPriorityLevelSaturated: a level is full nearly all the time, and requests wait."""
    limits = rules().findings.alerts
    return _of_levels(
        scene,
        lambda _, level: all_of(full(level, limits.full_share), None if level.waiting is None else level.waiting > 1),
    )


def zero_seats(scene: Scene) -> Iterator[Said]:
    """APFZeroSeatLevel: a level has no seat while requests come to it."""

    def holds(_: Replica, level: Level) -> bool | None:
        refused = None if level.pace is None else level.pace.counts.rejected_total > 0
        waits = None if level.waiting is None else level.waiting > 0
        return all_of(None if level.current is None else level.current == 0, True if refused or waits else refused)

    return _of_levels(scene, holds)


def at_its_upper_limit(scene: Scene) -> Iterator[Said]:
    """APFBorrowingLimitReached: a full level may borrow no more, while the server has seats to spare."""
    limits = rules().findings.alerts

    def holds(replica: Replica, level: Level) -> bool | None:
        used = limited_share(replica)
        return all_of(
            None if level.current is None or level.upper is None else level.current >= level.upper,
            None if level.waiting is None else level.waiting > 1,
            full(level, limits.borrowing_full_share),
            None if used is None else used < limits.server_spare_below,
        )

    return _of_levels(scene, holds)


def not_returned(scene: Scene) -> Iterator[Said]:
    """APFLentSeatsNotReturned: a level has less than its nominal seats, and lately asked for all of them."""

    def holds(_: Replica, level: Level) -> bool | None:
        lent, asked = level.limit_delta, level.demand.high_watermark if level.demand is not None else None
        return all_of(
            None if lent is None else lent < 0,
            None if asked is None or level.nominal is None else asked >= level.nominal,
        )

    return _of_levels(scene, holds)


def overcommitted(scene: Scene) -> Iterator[Said]:
    """APFSeatsOvercommitted: a level holds more seats than its limit for much of the time."""
    return _of_levels(scene, lambda _, level: over(level, rules().findings.alerts.over_share))


def hot_flow(scene: Scene) -> Iterator[Said]:
    """APFHotFlowQueueFull: full queues refuse requests while most places in queues are free: few flows fill theirs."""
    limits = rules().findings.alerts

    def holds(_: Replica, level: Level) -> bool | None:
        if level.window is None or level.counts is None:
            return None
        refused = often(level.window, level.counts.rejected.get("queue-full", 0.0), limits.rejected)
        fill = level.fill
        share = None if fill is None or fill.lifetime else fill.gt_25
        return all_of(refused, None if share is None else share < limits.queues_full_share)

    return _of_levels(scene, holds)


def single_rejects(scene: Scene) -> Iterator[Said]:
    """APFSingleReplicaRejecting: one server alone rejects at a level where another has seats to spare."""
    limits = rules().findings.alerts
    if len(servers(scene)) < 2:
        return
    for name, found in by_level(scene).items():
        rejects = [
            place
            for place in found
            if place.level.window is not None
            and place.level.counts is not None
            and often(place.level.window, place.level.counts.rejected_total, limits.rejected)
        ]
        if len(rejects) != 1 or len(found) < 2 or found[0].level.exempt:
            continue
        full = [place.level.utilization.gt_99 for place in found if place.level.utilization is not None]
        known = [one for one in full if one is not None]
        (place,) = rejects
        holds = min(known) < limits.single_spare_share if len(known) == len(found) else None
        yield Said(holds, place.replica.name, name)


def skew(scene: Scene) -> Iterator[Said]:
    """APFConfigSkew: servers differ in nominal seats of a level, or one lacks it."""
    known = [replica for replica in servers(scene) if any(one.nominal is not None for one in replica.levels.values())]
    seats: dict[str, list[float]] = {}
    for replica in known:
        # Gauges of a deleted level are there too: it is so in the library.
        for level in replica.levels.values():
            if level.nominal is not None:
                seats.setdefault(level.name, []).append(level.nominal)
    for name, nominals in seats.items():
        yield Said(max(nominals) != min(nominals) or len(nominals) < len(known), level=name)


def _of_levels(scene: Scene, holds: Callable[[Replica, Level], bool | None]) -> Iterator[Said]:
    """Of all levels but the exempt one, whose limit is not enforced."""
    for place in places(scene):
        if not place.level.exempt:
            yield Said(holds(place.replica, place.level), place.replica.name, place.level.name)


def _waits_over(scene: Scene, seconds: float, share: float) -> Iterator[Said]:
    def holds(_: Replica, level: Level) -> bool | None:
        if level.waits is None or level.window is None:
            # A level to which nothing ever came has no waits.
            return False if level.counts is not None and not level.counts.arrivals else None
        buckets = level.waits.buckets
        total = sum(one.count for one in buckets)
        if total < rules().findings.alerts.least or level.window.per_s(total) <= rules().findings.alerts.waits_per_s:
            return False
        over = _over(buckets, seconds)
        return None if over is None else over / total > share

    return _of_levels(scene, holds)


def _over(buckets: Sequence[Bucket], seconds: float) -> int | None:
    """How many waited longer; None where some may have, since their bucket ends elsewhere."""
    if any(one.count and one.low < seconds and (one.high is None or one.high > seconds) for one in buckets):
        return None
    return sum(one.count for one in buckets if one.low >= seconds)
