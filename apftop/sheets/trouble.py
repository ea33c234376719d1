"""Which level is worst off: the order of the levels, and the words for the worst one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from apftop.records.frame import Level, LevelState, Replica
from apftop.sheets.sheet import Mark

WORST_FIRST: tuple[LevelState, ...] = (
    "blocked",
    "saturated",
    "leaking",
    "quiescing",
    "unknown",
    "busy",
    "exempt",
    "idle",
    "stale",
)
MARKS: dict[LevelState, Mark] = {
    "blocked": "bad",
    "saturated": "bad",
    "leaking": "warn",
    "quiescing": "warn",
    "unknown": "dim",
    "idle": "dim",
    "stale": "dim",
}
TROUBLE: frozenset[LevelState] = frozenset({"blocked", "saturated", "leaking"})

Rank = tuple[bool, int, float, float, float]


@dataclass(frozen=True, slots=True)
class Place:
    """A level on a replica."""

    replica: Replica
    level: Level


def places(replicas: Iterable[Replica]) -> list[Place]:
    """All levels of all replicas, in the order of these."""
    return [Place(replica, level) for replica in replicas for level in replica.levels.values()]


def rank(level: Level) -> Rank:
    """Sorts the worst level first: who waits or is refused, then what the state says, then by how much."""
    refused, waiting = level.pace.rejected_per_s if level.pace else 0.0, level.waiting or 0.0
    calm = level.state == "stale" or not (refused or waiting)
    return calm, WORST_FIRST.index(level.state), -refused, -waiting, -(level.utilization_now or 0.0)


def worst(found: Iterable[Place]) -> Place:
    """The place that is worst off, the first of equals; there must be one."""
    return min(found, key=lambda place: rank(place.level))
