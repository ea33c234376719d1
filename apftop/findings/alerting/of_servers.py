"""Alerts on whole servers: seats of all levels, exempt requests, imbalance, metrics that are missing."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.apf.release import parse_release
from apftop.findings.alerting.said import Said, add
from apftop.findings.scene import Scene, servers
from apftop.records.frame import Replica
from apftop.rules import rules

FROM_131 = (1, 31)
"""Since this release the exempt level takes its demand first: a fair fraction of 0 says that nothing is left."""


def no_spare(scene: Scene) -> Iterator[Said]:
    """APFNoSpareSeats: a server has no seat left to lend."""
    for replica in servers(scene):
        release = parse_release(replica.version) if replica.version else None
        if release is None or replica.fair_frac is None:
            yield Said(None, replica.name)
        else:
            yield Said(replica.fair_frac == 0 and release >= FROM_131, replica.name)


def server_full(scene: Scene) -> Iterator[Said]:
    """APFServerSaturated: all limited levels of a server together are full."""
    for replica in servers(scene):
        used = limited_share(replica)
        yield Said(None if used is None else used > rules().findings.alerts.server_full_share, replica.name)


def exempt_dominates(scene: Scene) -> Iterator[Said]:
    """APFExemptDominates: exempt requests hold a large part of a server's seats."""
    for replica in servers(scene):
        used = add(one.seats_in_use for one in replica.levels.values() if one.exempt and one.state != "stale")
        nominal = replica.nominal_sum
        share = None if used is None or not nominal else used / nominal
        yield Said(None if share is None else share > rules().findings.alerts.exempt_share, replica.name)


def imbalance(scene: Scene) -> Iterator[Said]:
    """APFReplicaImbalance: one server serves far more than the others."""
    limits = rules().findings.alerts
    rates = {replica.name: _dispatched(replica) for replica in servers(scene)}
    total = add(rates.values())
    if len(rates) < 2:
        return
    for name, rate in rates.items():
        if rate is None or total is None:
            yield Said(None, name)
        else:
            mean = total / len(rates)
            yield Said(mean > limits.imbalance_per_s and rate > limits.imbalance_times * mean, name)


def forbidden(scene: Scene) -> Iterator[Said]:
    """APFForbiddenTraffic: many requests that were dispatched are then forbidden."""
    limits = rules().findings.alerts
    for replica in servers(scene):
        behind = replica.backend
        if behind is None or not behind.requests:
            yield Said(None, replica.name)
            continue
        forbidden, total = behind.requests.get(403, 0.0), sum(behind.requests.values())
        often = behind.window.per_s(forbidden) > limits.forbidden_per_s
        yield Said(often and forbidden > limits.forbidden_share * total, replica.name)


def no_metrics(scene: Scene) -> Iterator[Said]:
    """APFMetricsMissing: a server answers, and has no metrics of flow control."""
    return (Said(one.apf == "absent", one.name) for one in scene.frame.servers if one.apf is not None)


def limited_share(replica: Replica) -> float | None:
    """Seats in use of all limited levels over their nominal ones."""
    limited = [one for one in replica.levels.values() if one.state != "stale" and not one.exempt]
    used, nominal = add(one.seats_in_use for one in limited), add(one.nominal for one in limited)
    return None if used is None or not nominal else used / nominal


def _dispatched(replica: Replica) -> float | None:
    return add(one.dispatched_per_s for one in replica.levels.values() if one.state != "stale")
