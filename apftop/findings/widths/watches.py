"""Watches that begin: each is a request until it has sent what there is already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from apftop.findings.scene import Place, Scene, by_level, rows
from apftop.findings.words.listing import few
from apftop.findings.words.told import most, servers_named
from apftop.present import percent, plain, seconds, span, whole
from apftop.records.findings import Finding
from apftop.records.frame import Request
from apftop.rules import rules


@dataclass(frozen=True, slots=True)
class Beginning:
    """Watches of one level on one server that have not begun yet, out of all its requests."""

    place: Place
    watches: list[Request]
    of: int

    @property
    def waiting(self) -> int:
        return sum(not row.executing for row in self.watches)


def watch_initialisation(scene: Scene) -> Iterator[Finding]:
    """Most of what a level has to do, and what waits in it, are watches that begin."""
    for level, here in by_level(scene).items():
        found = [one for one in map(_beginning, here) if one is not None]
        if found:
            yield _watch_initialisation(scene, level, sorted(found, key=lambda one: -len(one.watches)))


def _beginning(place: Place) -> Beginning | None:
    own, inside = rules().findings.widths, rows(place)
    watches = [row for row in inside if row.verb == "watch"]
    one = Beginning(place, watches, len(inside))
    enough = len(watches) >= own.watches and len(watches) >= own.watches_share * len(inside)
    if place.level.exempt or not enough or not one.waiting:
        return None
    oldest = max((row.age_s for row in watches if not row.executing and row.age_s is not None), default=0.0)
    return one if oldest >= own.oldest_s else None


def _watch_initialisation(scene: Scene, level: str, found: list[Beginning]) -> Finding:
    worst = found[0]
    names = tuple(one.place.replica.name for one in found)
    users = Counter(row.user for row in worst.watches if row.user)
    kinds = Counter(row.kind for row in worst.watches)
    return Finding(
        "watch-initialisation",
        "warning",
        level,
        f"{len(worst.watches)} watches begin in {plain(level)} on {servers_named(names)}, "
        f"{worst.waiting} of them {'waits' if worst.waiting == 1 else 'wait'}",
        names,
        level,
        "",
        (
            *few([_line(scene, one) for one in found]),
            f"watches that begin, by kind: {most(kinds)}",
            f"by client: {most(users)} ({len(users)} in all)",
        ),
        (
            "wait for it to pass: a watch holds its seat until it has sent what there is already, and none after that",
            "if it goes on, find what ends the watches: servers that restart, a load balancer that cuts connections, "
            "clients that crash and begin anew",
            "many clients of one kind should start one after the other, with jitter",
        ),
        None,
        {
            "watches": float(len(worst.watches)),
            "watches_waiting": float(worst.waiting),
            "requests": float(worst.of),
            "by_kind": {kind: float(number) for kind, number in kinds.most_common()},
            "by_user": {user: float(number) for user, number in users.most_common()},
        },
        float(sum(one.waiting for one in found)),
    )


def _line(scene: Scene, one: Beginning) -> str:
    replica = one.place.replica
    ages = [row.age_s for row in one.watches if row.age_s is not None]
    age = scene.now - replica.started if scene.now is not None and replica.started is not None else None
    up = f"; the server is up for {span(age)}" if age is not None and age >= 0 else ""
    share = percent(len(one.watches) / one.of)
    return (
        f"{plain(replica.name)}: {whole(len(one.watches))} of {one.of} requests in the level are watches ({share}), "
        f"{one.waiting} of them wait; the oldest came {seconds(max(ages, default=None))} ago{up}"
    )
