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

_PLACES: dict[LevelState, int] = {state: at for at, state in enumerate(WORST_FIRST)}
# What is calm comes and goes with each request: these have one place.
_PLACES |= dict.fromkeys(("exempt", "idle"), _PLACES["busy"])

Rank = tuple[bool, int, float, float, int]


@dataclass(frozen=True, slots=True)
class Place:
    """A level on a replica."""

    replica: Replica
    level: Level


def places(replicas: Iterable[Replica]) -> list[Place]:
    """All levels of all replicas, in the order of these."""
    return [Place(replica, level) for replica in replicas for level in replica.levels.values()]


def rank(level: Level) -> Rank:
    """Sorts the worst level first: who waits or is refused, then what the state says, then by how much.

    Of levels in which all is calm those in use come first, by quarters of their limit: they stay in their places.
    """
    refused, waiting = level.pace.rejected_per_s if level.pace else 0.0, level.waiting or 0.0
    calm = level.state == "stale" or not (refused or waiting)
    return calm, _PLACES[level.state], -refused, -waiting, -int(4 * (level.utilization_now or 0.0))


def rough(value: float | None) -> int:
    """A number by the power of 4 that it has reached, so that rows do not change places with each answer."""
    return max(0, int(value or 0).bit_length() - 1) // 2


def worst(found: Iterable[Place]) -> Place:
    """The place that is worst off, the first of equals; there must be one."""
    return min(found, key=lambda place: (rank(place.level), WORST_FIRST.index(place.level.state)))
