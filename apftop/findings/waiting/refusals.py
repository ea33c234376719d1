"""Refusals of the kinds that no other finding tells of: at levels without queues, and at the level of last resort."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apftop.apf.objects import CATCH_ALL, DEFAULT_HAND_SIZE, DEFAULT_QUEUE_LENGTH_LIMIT, DEFAULT_QUEUES, FlowSchema
from apftop.findings.changes.apart import free_name
from apftop.findings.changes.patches import LEVEL, a_schema, created, user_subject
from apftop.findings.scene import Finder, Place, Scene, api_version, by_level, levels, rows, schemas
from apftop.findings.words.callers import behind
from apftop.findings.words.listing import few, hurt, on, replicas
from apftop.findings.words.told import most
from apftop.present import plain, rate, seconds, whole
from apftop.records.findings import Change, Finding
from apftop.records.frame import Level
from apftop.records.measures import Counts, Window
from apftop.rules import rules

ON_ARRIVAL = "concurrency-limit"
DEFAULT = "global-default"
"""The built-in schema and level that take what no other schema does."""
LAST = 9999
"""A precedence behind all built-in schemas but the last resort, which has 10000."""


@dataclass(frozen=True, slots=True)
class _Refused:
    """Requests that a level without queues refused on arrival."""

    place: Place
    window: Window
    counts: Counts

    @property
    def count(self) -> float:
        return self.counts.rejected.get(ON_ARRIVAL, 0.0)

    @property
    def per_s(self) -> float:
        return self.window.per_s(self.count)

    @property
    def line(self) -> str:
        """What was seen of it on one server."""
        level = self.place.level
        return (
            f"{plain(self.place.replica.name)}: {whole(self.count)} of {whole(self.counts.arrivals)} that came over"
            f" {seconds(self.window.seconds)} were refused ({rate(self.per_s)}/s); {whole(level.seats_in_use)} of"
            f" {whole(level.current)} seats in use now"
        )


def refused_without_queue(scene: Scene) -> Iterator[Finding]:
    """Levels of type Reject that refuse: they have no queue in which a burst could wait."""
    for name, group in by_level(scene).items():
        found = _refused([place for place in group if place.level.current and name != CATCH_ALL])
        if not found:
            continue
        hit = [one.place for one in found]
        yield Finding(
            code="refused-without-queue",
            severity="critical" if name in rules().findings.alerts.protected else "warning",
            subject=plain(name),
            title=f"{plain(name)} {on(hit)} refuses {rate(sum(one.per_s for one in found))}/s at once:"
            " it is full, and has no queues",
            replicas=replicas(hit),
            level=name,
            evidence=(*few([one.line for one in found]), *_who(scene, hit)),
            advice=(
                "give the level queues, so that a burst waits for a moment and is not refused",
                "if refusing is what it is for, let its clients back off: bounded, exponential, with jitter",
            ),
            change=_queued(hit[0].level),
            facts={
                "refused": {one.place.replica.name: one.count for one in found},
                "per_s": {one.place.replica.name: one.per_s for one in found},
            },
            weight=sum(map(hurt, hit)),
        )


def _refused(group: Sequence[Place]) -> list[_Refused]:
    """Where more was refused for want of seats than one burst explains; the worst first."""
    terms = rules().findings.refusals
    found = [
        _Refused(place, place.level.window, place.level.counts)
        for place in group
        if place.level.window is not None and place.level.counts is not None and not place.level.quiescing
    ]
    return sorted(
        (
            one
            for one in found
            if one.window.seconds >= terms.least_s
            and one.count > terms.refused
            and one.count > terms.share * one.counts.arrivals
        ),
        key=lambda one: -one.per_s,
    )


def _queued(level: Level) -> Change | None:
    """Queues with the values that the API fills in by default, for a level that rejects."""
    if level.config is None or level.config.queuing is not None:
        return None
    what = shlex.quote(f"{LEVEL}/{plain(level.name)}")
    queuing = {
        "queues": DEFAULT_QUEUES,
        "handSize": DEFAULT_HAND_SIZE,
        "queueLengthLimit": DEFAULT_QUEUE_LENGTH_LIMIT,
    }
    command, rollback = (
        f"kubectl patch {what} --type=merge -p {shlex.quote(json.dumps({'spec': {'limited': {'limitResponse': to}}}))}"
        for to in ({"type": "Queue", "queuing": queuing}, {"type": "Reject", "queuing": None})
    )
    text = f"{plain(level.name)} from Reject to Queue: {DEFAULT_QUEUES} queues, hands of {DEFAULT_HAND_SIZE}"
    return Change(f"{text}, {DEFAULT_QUEUE_LENGTH_LIMIT} requests a queue", command, rollback)


def _who(scene: Scene, hit: Sequence[Place]) -> Iterator[str]:
    """Who is in a level by the dumps; those that it refused are not in them."""
    users = _users(hit)
    if users:
        yield f"who executes there, by the dump: {most(users)}"
        yield from behind(scene, next(iter(users)))


def _users(hit: Sequence[Place]) -> dict[str, int]:
    return dict(Counter(row.user for place in hit for row in rows(place) if row.user).most_common())


@dataclass(frozen=True, slots=True)
class _Unmatched:
    """Requests that matched no schema but the last resort, a second: those served, and those refused."""

    place: Place
    window: Window
    served_per_s: float
    refused: _Refused | None

    @property
    def line(self) -> str:
        """What was seen of it on one server."""
        refused = f", {rate(self.refused.per_s)}/s refused" if self.refused is not None else ""
        level = self.place.level
        return (
            f"{plain(self.place.replica.name)}: {rate(self.served_per_s)}/s served{refused} over"
            f" {seconds(self.window.seconds)}, on {whole(level.current)} seats without queues"
        )


def catch_all_traffic(scene: Scene) -> Iterator[Finding]:
    """Requests that no schema matches but the last resort: a level with few seats, and no queue."""
    found = [one for place in by_level(scene).get(CATCH_ALL, ()) if (one := _unmatched(place)) is not None]
    if not found:
        return
    found.sort(key=lambda one: (-(one.refused.per_s if one.refused else 0.0), -one.served_per_s))
    hit, refused = [one.place for one in found], [one.refused for one in found if one.refused is not None]
    users = _users(hit)
    served_per_s, refused_per_s = sum(one.served_per_s for one in found), sum(one.per_s for one in refused)
    lost = f", and {rate(refused_per_s)}/s are refused" if refused else ""
    yield Finding(
        code="catch-all-traffic",
        severity="warning" if refused else "info",
        subject=CATCH_ALL,
        title=f"{rate(served_per_s)}/s match no flow schema and go to catch-all {on(hit)}{lost}",
        replicas=replicas(hit),
        level=CATCH_ALL,
        schema=CATCH_ALL,
        evidence=(
            *few([one.line for one in found]),
            *((f"who, by the dump: {most(users)}",) if users else ("who: no dump shows any of them",)),
            *(line for user in list(users)[:1] for line in behind(scene, user)),
            *_default(schemas(scene)),
        ),
        advice=(
            "give these requests a schema that sends them to a level with queues",
            "with the built-in objects nothing comes here: look whether global-default was narrowed or moved",
        ),
        change=_matched(scene, users),
        facts={
            "served_per_s": {one.place.replica.name: one.served_per_s for one in found},
            "refused_per_s": {one.place.replica.name: one.refused.per_s if one.refused else 0.0 for one in found},
            "users": users,
        },
        weight=refused_per_s,
    )


def _unmatched(place: Place) -> _Unmatched | None:
    terms, schema = rules().findings.refusals, place.replica.schemas.get(CATCH_ALL)
    if schema is None or schema.counts is None or schema.window is None or schema.window.seconds < terms.least_s:
        return None
    served_per_s = schema.window.per_s(schema.counts.dispatched)
    refused = next(iter(_refused([place])), None)
    if served_per_s <= terms.catch_all_per_s and refused is None:
        return None
    return _Unmatched(place, schema.window, served_per_s, refused)


def _default(order: Sequence[FlowSchema]) -> tuple[str, ...]:
    """What became of the schema that should take such requests, as far as objects may be read."""
    if not order:
        return ()
    found = next((one for one in order if one.name == DEFAULT), None)
    if found is None:
        return (f"the schema {DEFAULT} does not exist",)
    if found.dangling:
        return (f"the schema {DEFAULT} is ignored: its level {plain(found.priority_level)} does not exist",)
    return (f"the schema {DEFAULT} exists: these users have neither of its groups, or it was narrowed",)


def _matched(scene: Scene, users: dict[str, int]) -> Change | None:
    """A schema behind all others for who sends most of it; None where no dump tells who, or there is no such level."""
    if not users or DEFAULT not in levels(scene):
        return None
    user = next(iter(users))
    schema = a_schema(free_name(scene, "unmatched"), DEFAULT, LAST, [user_subject(user)])
    return created(
        f"requests of {plain(user)} to the level {DEFAULT}, behind all other schemas", api_version(scene), schema
    )


FINDERS: tuple[Finder, ...] = (refused_without_queue, catch_all_traffic)
