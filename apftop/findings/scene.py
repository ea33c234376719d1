"""What findings are found in: the frame with what lies beside it, and ways to go through its levels and objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.records.checks import Checks
from apftop.records.findings import Finding
from apftop.records.frame import Frame, Level, Replica, Request
from apftop.records.load import Baseline
from apftop.records.logs import NO_LOGS, Logs

Baselines = Mapping[tuple[str, str], Baseline]
"""By replica and level."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One moment. `now` is when the newest sample came or was noted (Unix seconds), None where no time is known."""

    frame: Frame
    checks: Checks = field(default_factory=dict)
    baselines: Baselines = field(default_factory=dict)
    logs: Logs = NO_LOGS
    now: float | None = None


Finder = Callable[[Scene], Iterator[Finding]]
"""What finds one kind of fault, on all servers at once."""


@dataclass(frozen=True, slots=True)
class Place:
    """One priority level on one server."""

    replica: Replica
    level: Level


def servers(scene: Scene) -> tuple[Replica, ...]:
    """The kube-apiservers that have APF, as far as that is known."""
    return tuple(one for one in scene.frame.servers if one.apf == "ok")


def places(scene: Scene) -> Iterator[Place]:
    """All live levels on all kube-apiservers."""
    for replica in servers(scene):
        for level in replica.levels.values():
            if level.state != "stale":
                yield Place(replica, level)


def by_level(scene: Scene) -> dict[str, list[Place]]:
    """All live levels, each with the servers that have it."""
    found: dict[str, list[Place]] = {}
    for place in places(scene):
        found.setdefault(place.level.name, []).append(place)
    return found


def rows(place: Place) -> tuple[Request, ...]:
    """The requests in a level by the dump, without this tool's own; empty where there is no dump."""
    return tuple(one for one in place.replica.requests or () if one.level == place.level.name and not one.own)


def schemas(scene: Scene) -> tuple[FlowSchema, ...]:
    """The flow schemas in order, also where nothing but the objects is known of a server; none where APF is off."""
    found = {
        name: one.config
        for replica in scene.frame.servers
        if replica.apf != "absent"
        for name, one in replica.schemas.items()
        if one.config is not None and not one.deleted
    }
    return tuple(sorted(found.values(), key=lambda one: (one.precedence, one.name.encode())))


def api_version(scene: Scene) -> str:
    """The version in which the servers gave the objects out: v1beta3 up to 1.28, v1 since 1.29; v1 if nobody knows."""
    metas = [*(one.meta for one in schemas(scene)), *(one.meta for one in levels(scene).values())]
    return next((meta.api_version for meta in metas if meta.api_version), "flowcontrol.apiserver.k8s.io/v1")


def levels(scene: Scene) -> dict[str, PriorityLevelConfiguration]:
    """The priority levels as objects, by name, known as the schemas are."""
    return {
        name: one.config
        for replica in scene.frame.servers
        if replica.apf != "absent"
        for name, one in replica.levels.items()
        if one.config is not None and one.state != "stale"
    }
