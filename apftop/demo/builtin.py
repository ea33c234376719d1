"""The objects that every server of 1.34 to 1.37 makes for itself."""

from __future__ import annotations

from typing import Literal

from apftop.apf.objects import (
    CATCH_ALL,
    EXEMPT,
    FlowSchema,
    Meta,
    NonResourceRule,
    PriorityLevelConfiguration,
    Queuing,
    ResourceRule,
    Rule,
    Subject,
)

ANY = ("*",)
EVERYTHING = (ResourceRule(ANY, ANY, ANY, ANY, cluster_scope=True),)
EVERY_URL = (NonResourceRule(ANY, ANY),)
AUTHENTICATED = ("system:unauthenticated", "system:authenticated")
LEASE_VERBS = ("get", "create", "update")


def levels() -> tuple[PriorityLevelConfiguration, ...]:
    """The built-in priority levels."""
    return (
        PriorityLevelConfiguration(Meta(EXEMPT), exempt=True, shares=0),
        PriorityLevelConfiguration(Meta(CATCH_ALL), exempt=False, shares=5),
        _level("system", 30, 33, Queuing(64, 6, 50)),
        _level("node-high", 40, 25, Queuing(64, 6, 50)),
        _level("leader-election", 10, 0, Queuing(16, 4, 50)),
        _level("workload-high", 40, 50, Queuing(128, 6, 50)),
        _level("workload-low", 100, 90, Queuing(128, 6, 50)),
        _level("global-default", 20, 50, Queuing(128, 6, 50)),
    )


def schemas() -> tuple[FlowSchema, ...]:
    """The built-in flow schemas."""
    manager, scheduler = "system:kube-controller-manager", "system:kube-scheduler"
    in_kube_system = Subject("ServiceAccount", "*", "kube-system")
    leases = ResourceRule(LEASE_VERBS, ("coordination.k8s.io",), ("leases",), ANY)
    nodes = (
        ResourceRule(ANY, ("",), ("nodes", "nodes/status"), ANY, cluster_scope=True),
        ResourceRule(ANY, ("coordination.k8s.io",), ("leases",), ANY),
    )
    probes = NonResourceRule(("get",), ("/healthz", "/readyz", "/livez"))
    electors = (Subject("User", manager), Subject("User", scheduler), in_kube_system)
    return (
        _schema(EXEMPT, EXEMPT, 1, None, _groups("system:masters"), EVERYTHING, EVERY_URL),
        _schema("probes", EXEMPT, 2, None, _groups(*AUTHENTICATED), (), (probes,)),
        _schema("system-leader-election", "leader-election", 100, "ByUser", electors, (leases,)),
        _schema("system-node-high", "node-high", 400, "ByUser", _groups("system:nodes"), nodes),
        _schema("system-nodes", "system", 500, "ByUser", _groups("system:nodes"), EVERYTHING, EVERY_URL),
        _all("kube-controller-manager", "workload-high", 800, "ByNamespace", (Subject("User", manager),)),
        _all("kube-scheduler", "workload-high", 800, "ByNamespace", (Subject("User", scheduler),)),
        _all("kube-system-service-accounts", "workload-high", 900, "ByNamespace", (in_kube_system,)),
        _all("service-accounts", "workload-low", 9000, "ByUser", _groups("system:serviceaccounts")),
        _all("global-default", "global-default", 9900, "ByUser", _groups(*AUTHENTICATED)),
        _all(CATCH_ALL, CATCH_ALL, 10000, "ByUser", _groups(*AUTHENTICATED)),
    )


def _level(name: str, shares: int, lendable: int, queuing: Queuing) -> PriorityLevelConfiguration:
    return PriorityLevelConfiguration(Meta(name), False, shares, lendable, queuing=queuing)


def _groups(*names: str) -> tuple[Subject, ...]:
    return tuple(Subject("Group", name) for name in names)


def _all(
    name: str,
    level: str,
    precedence: int,
    distinguisher: Literal["ByUser", "ByNamespace"],
    subjects: tuple[Subject, ...],
) -> FlowSchema:
    return _schema(name, level, precedence, distinguisher, subjects, EVERYTHING, EVERY_URL)


def _schema(
    name: str,
    level: str,
    precedence: int,
    distinguisher: Literal["ByUser", "ByNamespace"] | None,
    subjects: tuple[Subject, ...],
    resources: tuple[ResourceRule, ...],
    urls: tuple[NonResourceRule, ...] = (),
) -> FlowSchema:
    return FlowSchema(Meta(name), level, precedence, distinguisher, (Rule(subjects, resources, urls),))
