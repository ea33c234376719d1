"""Token and access reviews that wait in a queue: whoever asks for them holds up a request of somebody else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from apftop.findings.changes.apart import kinds_moved
from apftop.findings.inversion.called_back import ABOVE, SUSPICION, crowded
from apftop.findings.scene import Place, Scene, by_level, rows
from apftop.findings.words.callers import behind
from apftop.findings.words.listing import few
from apftop.findings.words.told import most, servers_named
from apftop.present import plain, seconds
from apftop.records.findings import Finding
from apftop.records.frame import Request
from apftop.rules import rules


def reviews_wait(scene: Scene) -> Iterator[Finding]:
    """One finding a level in which reviews wait."""
    for level, here in by_level(scene).items():
        found = [place for place in here if len(_waiting(place)) >= rules().findings.inversion.requests]
        if found:
            yield _reviews_wait(scene, level, sorted(found, key=lambda one: -len(_waiting(one))))


def _waiting(place: Place) -> list[Request]:
    own = rules().findings.inversion
    return [
        row
        for row in rows(place)
        if not row.executing
        and row.verb == "create"
        and row.resource in own.reviews
        and (row.age_s or 0.0) >= own.waiting_s
    ]


def _reviews_wait(scene: Scene, level: str, found: list[Place]) -> Finding:
    every = [row for place in found for row in _waiting(place)]
    names = tuple(place.replica.name for place in found)
    users, kinds = Counter(row.user or "" for row in every), Counter(row.kind for row in every)
    oldest = max(row.age_s or 0.0 for row in every)
    change = None
    if level != ABOVE and not crowded(scene, ABOVE):
        change = kinds_moved(scene, f"a schema for reviews to {ABOVE}", "reviews", every, ABOVE)
    return Finding(
        "reviews-wait",
        "warning",
        level,
        f"{len(every)} token or access reviews wait in {plain(level)} on {servers_named(names)}, for up to "
        f"{seconds(oldest)}: what they are asked for waits with them",
        names,
        level,
        "",
        (
            *few([_line(place) for place in found]),
            f"asked for by: {most(users)}",
            *(line for user, _ in users.most_common(1) for line in behind(scene, user)),
        ),
        (
            f"{change.text}: reviews are short, and hold up requests that have a seat already"
            if change
            else "put reviews in a level of their own: they are short, and hold up requests that have a seat already",
            "let those that ask keep the answers for longer (cache TTL of authentication and authorization webhooks)",
        ),
        change,
        {
            "suspicion": SUSPICION,
            "waiting": float(len(every)),
            "oldest_waiting_s": oldest,
            "waiting_by_kind": {kind: float(number) for kind, number in kinds.most_common()},
            "waiting_by_user": {user: float(number) for user, number in users.most_common()},
        },
        float(len(every)),
    )


def _line(place: Place) -> str:
    mine = _waiting(place)
    ages = [row.age_s or 0.0 for row in mine]
    kinds = Counter(row.kind for row in mine)
    return (
        f"{plain(place.replica.name)}: {len(mine)} reviews wait for {seconds(min(ages))} to {seconds(max(ages))}: "
        f"{most(kinds)}"
    )
