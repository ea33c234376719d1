"""Whether the conditions of the query library's alerts hold now, by the window that is at hand.

Counts over five minutes are told by the rate of that window, and what an alert averages over time by its last value. So
few requests that they make no rate do not count. Not told here are alerts that look back for hours
(APFFlowSchemaTrafficVanished, APFFlowSchemaNeverMatched), on writes and on the servers' own controller
(APFConfigChanged, APFConfigConsumerRetries), and on the scraping by Prometheus.
"""

from __future__ import annotations

from collections.abc import Mapping

from apftop.findings.alerting import of_levels, of_schemas, of_servers
from apftop.findings.alerting.said import Rule, Said
from apftop.findings.scene import Scene, servers
from apftop.records.findings import Alert, Mixin
from apftop.rules import rules

RULES: Mapping[str, tuple[str, Rule]] = {
    "APFRequestsRejected": ("for 5m", of_schemas.rejected),
    "APFProtectedLevelRejected": ("for 2m", of_schemas.protected_rejected),
    "APFQueueWaitLong": ("for 5m", of_levels.long),
    "APFQueueWaitNearLimit": ("for 5m", of_levels.near_limit),
    "APFQueueTimeouts": ("for 5m", of_schemas.timed_out),
    "APFPriorityLevelSaturated": ("for 10m", of_levels.saturated),
    "APFZeroSeatLevel": ("for 2m", of_levels.zero_seats),
    "APFBorrowingLimitReached": ("for 5m", of_levels.at_its_upper_limit),
    "APFLentSeatsNotReturned": ("for 3m", of_levels.not_returned),
    "APFSeatsOvercommitted": ("for 10m", of_levels.overcommitted),
    "APFNoSpareSeats": ("for 5m", of_servers.no_spare),
    "APFServerSaturated": ("for 5m", of_servers.server_full),
    "APFExemptDominates": ("for 10m", of_servers.exempt_dominates),
    "APFUnexpectedExemptTraffic": ("for 5m", of_schemas.unexpected_exempt),
    "APFCatchAllTraffic": ("for 15m", of_schemas.catch_all),
    "APFHotFlowQueueFull": ("for 5m", of_levels.hot_flow),
    "APFRetryStorm": ("for 10m", of_schemas.storm),
    "APFReplicaImbalance": ("for 15m", of_servers.imbalance),
    "APFSingleReplicaRejecting": ("for 5m", of_levels.single_rejects),
    "APFConfigSkew": ("for 15m", of_levels.skew),
    "APFDanglingFlowSchema": ("for 2m", of_schemas.dangling),
    "APFWideRequestsDominate": ("for 10m", of_schemas.wide),
    "APFForbiddenTraffic": ("for 10m", of_servers.forbidden),
    "APFMetricsMissing": ("for 10m", of_servers.no_metrics),
}


def alerts(scene: Scene) -> tuple[Alert, ...]:
    """The alerts whose condition holds or cannot be told; those that do not hold are left out.

    What cannot be told is said once a server, for the whole of it. None where no server is known.
    """
    if not servers(scene) and not any(one.apf == "absent" for one in scene.frame.servers):
        return ()
    found = []
    for name, (needs, rule) in RULES.items():
        said = list(rule(scene))
        held = [one for one in said if one.condition]
        untold = {one.replica: Said(None, one.replica) for one in said if one.condition is None}
        found += [
            Alert(name, one.subject, one.condition, needs, one.replica, one.level, one.schema)
            for one in (*held, *untold.values())
        ]
    return tuple(found)


def mixin(scene: Scene) -> Mixin | None:
    """What KubeAPITerminatedRequests makes of the same window; None without the metrics that it needs.

    As kubernetes-mixin has it: terminations over requests and terminations, summed over all servers. What APF refused
    is in both, so that a quarter refused reads 0.2.
    """
    behind = [one.backend for one in scene.frame.servers if one.backend is not None]
    requests = sum(one.window.per_s(sum(one.requests.values())) for one in behind)
    ended = sum(one.window.per_s(sum(one.terminations.values())) for one in behind)
    if not requests:
        return None
    ratio = ended / (requests + ended)
    # Just at the threshold it stays silent, however the division comes out.
    return Mixin(ratio, ratio - rules().findings.alerts.mixin_share > 1e-9)
