"""Alerts on flow schemas: what is rejected, storms, what goes to the exempt level and to catch-all."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from apftop.findings.alerting.said import Said, all_of, full, often
from apftop.findings.scene import Scene, levels, places, schemas, servers
from apftop.records.frame import Schema
from apftop.records.measures import Counts, Window
from apftop.rules import rules

LEFT_QUEUE = ("time-out", "cancelled")
"""Reasons of those that left their queue unserved; the second up to 1.28.4."""


def rejected(scene: Scene) -> Iterator[Said]:
    """APFRequestsRejected: so many requests of a schema are rejected, in number and of what comes."""
    limits = rules().findings.alerts
    return _of_schemas(
        scene,
        lambda _, window, counts: (
            often(window, counts.rejected_total, limits.rejected)
            and (counts.refused_share or 0.0) > limits.rejected_share
        ),
    )


def protected_rejected(scene: Scene) -> Iterator[Said]:
    """APFProtectedLevelRejected: a level that carries heartbeats or leases rejects requests."""
    limits = rules().findings.alerts
    return _of_schemas(
        scene,
        lambda _, window, counts: any(
            often(window, one, limits.protected_rejected) for one in counts.rejected.values()
        ),
        lambda level: level in limits.protected,
    )


def timed_out(scene: Scene) -> Iterator[Said]:
    """APFQueueTimeouts: requests of a schema leave their queue unserved."""

    def holds(_: Schema, window: Window, counts: Counts) -> bool:
        left = sum(counts.rejected.get(reason, 0.0) for reason in LEFT_QUEUE)
        return often(window, left, rules().findings.alerts.timed_out)

    return _of_schemas(scene, holds)


def storm(scene: Scene) -> Iterator[Said]:
    """APFRetryStorm: clients offer far more than is served, and do not back off."""
    limits = rules().findings.alerts
    return _of_schemas(
        scene,
        lambda _, window, counts: (
            often(window, counts.rejected_total, limits.storm) and (counts.refused_share or 0.0) > limits.storm_share
        ),
    )


def unexpected_exempt(scene: Scene) -> Iterator[Said]:
    """APFUnexpectedExemptTraffic: a schema that is not known for it sends requests to the exempt level."""
    limits, configs = rules().findings.alerts, levels(scene)
    return _of_schemas(
        scene,
        lambda schema, window, counts: (
            schema.name not in limits.exempt_schemas
            and counts.dispatched >= limits.least
            and window.per_s(counts.dispatched) > limits.exempt_per_s
        ),
        lambda level: configs[level].exempt if level in configs else level == "exempt",
    )


def catch_all(scene: Scene) -> Iterator[Said]:
    """APFCatchAllTraffic: requests match no schema but catch-all."""
    limits = rules().findings.alerts
    return _of_schemas(
        scene,
        lambda schema, window, counts: (
            schema.name == "catch-all"
            and counts.dispatched >= limits.least
            and window.per_s(counts.dispatched) > limits.catch_all_per_s
        ),
    )


def wide(scene: Scene) -> Iterator[Said]:
    """APFWideRequestsDominate: wide requests of one schema hold most seats of a full level, by its mean width."""
    limits = rules().findings.alerts
    for place in places(scene):
        level = place.level
        if level.exempt:
            continue
        busy = full(level, limits.wide_full_share)
        width = level.load.width if level.load is not None else None
        for schema in place.replica.schemas.values():
            if schema.level != level.name or not level.seats_in_use or not schema.seats_in_use:
                continue
            most = schema.seats_in_use / level.seats_in_use > limits.wide_seats_share
            wide = None if width is None else width > limits.wide_seats
            yield Said(all_of(most, busy, wide), place.replica.name, level.name, schema.name)


def dangling(scene: Scene) -> Iterator[Said]:
    """APFDanglingFlowSchema: a schema refers to a level that does not exist."""
    configs = levels(scene)
    if not configs:
        yield from (Said(None, replica.name) for replica in servers(scene))
        return
    for schema in schemas(scene):
        yield Said(schema.priority_level not in configs, level=schema.priority_level, schema=schema.name)


def _of_schemas(
    scene: Scene, holds: Callable[[Schema, Window, Counts], bool], only: Callable[[str], bool] = lambda _: True
) -> Iterator[Said]:
    for replica in servers(scene):
        for schema in replica.schemas.values():
            level = schema.level or ""
            if not only(level):
                continue
            if schema.window is None or schema.counts is None:
                yield Said(None, replica.name)
            else:
                yield Said(holds(schema, schema.window, schema.counts), replica.name, level, schema.name)
