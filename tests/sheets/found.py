"""Findings for tests, as they come beside a frame."""

from __future__ import annotations

from dataclasses import replace

from apftop.records.findings import Alert, Change, Finding, Findings, Mixin
from apftop.records.moment import Moment

FULL = Finding(
    code="level-saturated",
    severity="critical",
    subject="workload-low",
    title="workload-low on kas-1 and 1 more is full: 39 of 39 seats, 300 wait, 149/s refused",
    replicas=("kas-1", "kas-2"),
    level="workload-low",
    evidence=(
        "kas-1: 39 of 39 seats, 300 wait, 149/s refused as queue-full over 30 s",
        "kas-2: 39 of 39 seats, 12 wait, none refused over 30 s",
    ),
    advice=("give the service account a level of its own", "have its client wait longer after each refusal"),
    change=Change(
        "nominalConcurrencyShares 100 -> 150",
        "kubectl patch prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/workload-low --type=merge -p "
        '\'{"spec": {"limited": {"nominalConcurrencyShares": 150}}}\'',
        "kubectl patch prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/workload-low --type=merge -p "
        '\'{"spec": {"limited": {"nominalConcurrencyShares": 100}}}\'',
    ),
    facts={"waiting": {"kas-1": 300.0, "kas-2": 12.0}, "share": 0.5, "odd": float("nan"), "users": ["a", None]},
    weight=300.0,
)
STORM = Finding(
    code="retry-storm",
    severity="warning",
    subject="service-accounts",
    title="clients of service-accounts try again at once",
    replicas=("kas-1",),
    level="workload-low",
    schema="service-accounts",
    evidence=("three requests come for each one that is served",),
    advice=("have the client honour Retry-After",),
)
MIXED = Finding(
    code="mixed-versions",
    severity="info",
    subject="cluster",
    title="servers run two releases",
    evidence=("v1.30.4 on two, v1.31.0 on one",),
    advice=("finish the upgrade",),
)
FOUND = Findings(
    verdict="apf",
    why=("workload-low refuses 149 requests a second",),
    at_risk={"node_leases": "ok", "leader_election": "at-risk", "probes": "unknown"},
    replicas={"kas-1": "apf", "kas-2": "apf", "kas-3": "quiet"},
    found=(FULL, STORM, MIXED),
    alerts=(
        Alert("APFRequestsRejected", "service-accounts", True, "for 5m", "kas-1", "workload-low", "service-accounts"),
        Alert("APFWideRequestsDominate", "kas-1", None, "for 10m", "kas-1"),
    ),
    mixin=Mixin(0.2, False),
)


def with_findings(moment: Moment, found: Findings = FOUND, lasted_s: float = 125.0) -> Moment:
    """The same moment with findings that have been there for so long."""
    return replace(moment, findings=found, since={one.key: moment.now - lasted_s for one in found.found})
