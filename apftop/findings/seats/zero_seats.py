"""Levels with zero nominal seats: those that block, those that serve all the same, and those that live on loans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from apftop.apf.release import holds, parse_release
from apftop.findings.changes.patches import level_change
from apftop.findings.changes.resharing import Resharing, resharing
from apftop.findings.scene import Finder, Place, Scene, by_level, schemas
from apftop.findings.words.callers import behind
from apftop.findings.words.listing import doing, few, hurt, in_need, on, replicas
from apftop.findings.words.told import counted, wait
from apftop.present import percent, plain, rate, seconds, whole
from apftop.records.findings import Change, Fact, Finding
from apftop.records.frame import Level
from apftop.rules import rules

ZERO_ONLY_IF_ZERO = (">=1.29 <1.30",)


def zero_seats_queue(scene: Scene) -> Iterator[Finding]:
    """Queue levels without a seat that may not borrow one: nothing is ever dispatched (1.26 to 1.37)."""
    for name, shut in _shut(scene, queues=True):
        come = max(_come(place.level) for place in shut)
        busy = come >= rules().findings.zero_seats.least_requests
        worst = shut[0].level
        lost = sum(pace.rejected_per_s for place in shut if (pace := place.level.pace) is not None)
        waiting = sum(place.level.waiting or 0.0 for place in shut)
        limit = worst.waits.limit if worst.waits is not None else None
        until = f" after up to {seconds(limit.seconds)} ({limit.assumed_from})" if limit is not None else ""
        what = f"{wait(waiting)}, {rate(lost)}/s lost" if busy else "whatever comes is lost"
        given = _given(shut, "if its requests are to be served")
        yield Finding(
            code="zero-seats-queue",
            severity="critical" if busy else "info",
            subject=name,
            title=f"{plain(name)} {on(shut)} can never dispatch: 0 seats and it may not borrow; {what}",
            replicas=replicas(shut),
            level=name,
            evidence=(
                *few([_limits(place) for place in shut]),
                *([f"what waits leaves its queue unserved{until} and is answered 429"] if busy else ()),
                *_who(scene, shut),
                *_objects(scene, shut),
                *given.evidence,
            ),
            advice=(
                *given.advice,
                "if it is to lock somebody out: take away the permission (RBAC) instead; a queue of zero seats holds "
                "each request until it times out, and clients come again",
            ),
            change=given.change,
            facts={**_facts(shut), **given.facts},
            weight=sum(map(hurt, shut)),
        )


def zero_seats_reject(scene: Scene) -> Iterator[Finding]:
    """Reject levels without a seat: an idle one lets one request in, whatever its limit (1.26 to 1.37)."""
    for name, shut in _shut(scene, queues=False):
        busy = max(_come(place.level) for place in shut) >= rules().findings.zero_seats.least_requests
        served = sum(pace.dispatched_per_s for place in shut if (pace := place.level.pace) is not None)
        refused = sum(pace.rejected_per_s for place in shut if (pace := place.level.pace) is not None)
        what = f"{rate(served)}/s served, {rate(refused)}/s refused" if busy else "it does not block"
        given = _given(shut, "if its requests are to be served")
        yield Finding(
            code="zero-seats-reject",
            severity="warning" if busy else "info",
            subject=name,
            title=f"{plain(name)} {on(shut)} has 0 seats and still serves one request at a time: {what}",
            replicas=replicas(shut),
            level=name,
            evidence=(
                *few([_limits(place) for place in shut]),
                "a level that executes nothing lets one request in, however small its limit (kubernetes#134196)",
                *_who(scene, shut),
                *_objects(scene, shut),
                *given.evidence,
            ),
            advice=(
                *given.advice,
                "if it is to lock somebody out: take away the permission (RBAC); a level of type Reject is no lock",
            ),
            change=given.change,
            facts={**_facts(shut), **given.facts},
            weight=sum(map(hurt, shut)),
        )


def no_guaranteed_seats(scene: Scene) -> Iterator[Finding]:
    """Levels without nominal seats that may borrow: they have what others leave (1.26 to 1.37)."""
    least = rules().findings.zero_seats.least_requests
    for name, places in by_level(scene).items():
        lent = sorted((one for one in places if _on_loan(one.level)), key=hurt, reverse=True)
        if not lent:
            continue
        short = [one for one in lent if in_need(one.level, least)]
        worst = (short or lent)[0].level
        seats = f"{counted(worst.seats_in_use, 'borrowed seat', whole(worst.current))} in use"
        if worst.utilization_now is not None:
            seats += f" ({percent(worst.utilization_now)})"
        waits = f", {wait(worst.waiting)}" if short and worst.waiting else ""
        given = _given(short or lent, "so that it has seats of its own")
        yield Finding(
            code="no-guaranteed-seats",
            severity="warning" if short else "info",
            subject=name,
            title=f"{plain(name)} {on(short or lent)} has no guaranteed seats: {seats}{waits}",
            replicas=replicas(short or lent),
            level=name,
            evidence=(
                *few([_limits(place) for place in short or lent]),
                "all its seats are borrowed: when other levels want theirs, they are gone within 10 s",
                *(_who(scene, short) if short else ()),
                *_objects(scene, lent),
                *(given.evidence if short else ()),
            ),
            advice=given.advice
            if short
            else ("leave it, if its requests may wait or be lost whenever others are busy; else give it shares",),
            change=given.change if short else None,
            facts={**_facts(short or lent), **(given.facts if short else {})},
            weight=sum(map(hurt, short)),
        )


FINDERS: tuple[Finder, ...] = (zero_seats_queue, zero_seats_reject, no_guaranteed_seats)


def _shut(scene: Scene, *, queues: bool) -> Iterator[tuple[str, list[Place]]]:
    """Levels with no seats and no way to any, with the servers where it is so, the worst first."""
    for name, places in by_level(scene).items():
        found = [one for one in places if _without_seats(one.level) and _has_queues(one.level) is queues]
        if found:
            yield name, sorted(found, key=lambda one: (-hurt(one), -_come(one.level)))


def _without_seats(level: Level) -> bool:
    return not level.exempt and not level.quiescing and level.nominal == level.upper == level.current == 0


def _on_loan(level: Level) -> bool:
    return (
        not level.exempt and not level.quiescing and level.nominal == 0 and level.upper is not None and level.upper > 0
    )


def _has_queues(level: Level) -> bool | None:
    """Whether a level queues what does not fit: by its object, else by what only such a level does."""
    if level.config is not None:
        return level.config.queuing is not None
    if level.waiting:
        return True
    served = level.pace is not None and level.pace.counts.dispatched > 0
    return False if served else None


def _come(level: Level) -> float:
    """How many requests came, as far as that is known."""
    decided = 0.0 if level.pace is None else level.pace.counts.dispatched + level.pace.counts.rejected_total
    return decided + (level.waiting or 0.0)


def _limits(place: Place) -> str:
    level = place.level
    upper = "may not borrow" if level.upper == 0 else f"may borrow up to {whole(level.upper)}"
    if level.upper and level.reachable_max is not None and level.reachable_max < level.upper:
        upper += f", of which at most {whole(level.reachable_max)} can be had"
    now = doing(place)
    return f"{plain(place.replica.name)}: nominal 0 seats, {upper}, current limit {whole(level.current)}" + (
        f"; {now}" if now else ""
    )


def _who(scene: Scene, places: Sequence[Place]) -> Iterator[str]:
    """Who suffers most, by the dump of the server where it is worst."""
    for place in places:
        inside = place.level.inside
        users = dict(inside.waiting_by_user) if inside is not None else {}
        if inside is not None and not users:
            users = {user: int(seats) for user, seats in (inside.executing_seats_by_user or {}).items()}
        if users:
            user, count = max(users.items(), key=lambda pair: (pair[1], pair[0]))
            yield f"most by {plain(user)}: {count} of {sum(users.values())} in the dump of {plain(place.replica.name)}"
            yield from behind(scene, user)
            return


def _objects(scene: Scene, places: Sequence[Place]) -> Iterator[str]:
    """What leads here, and what the object says in which version of the API."""
    level = places[0].level
    leads = [plain(one.name) for one in schemas(scene) if one.priority_level == level.name]
    if leads:
        yield f"schemas that lead here: {', '.join(few(leads, 'schemas'))}"
    version = level.config.meta.api_version.rpartition("/")[2] if level.config is not None else ""
    if version.startswith("v1beta"):
        yield f"the object is {version}: there 0 shares are read as 30, unless an annotation of the object keeps the 0"
    seated = [
        f"{plain(one.replica.name)} ({plain(one.replica.version or '-')}) has {whole(one.level.nominal)}"
        for one in by_level(scene).get(level.name, ())
        if one.level.nominal
    ]
    if seated:
        yield f"not on all servers: of nominal seats {', '.join(few(seated))}"


@dataclass(frozen=True, slots=True)
class _Given:
    """What giving a level a few shares would do."""

    advice: tuple[str, ...]
    change: Change | None = None
    made: Resharing | None = None

    @property
    def evidence(self) -> tuple[str, ...]:
        return () if self.made is None else (f"with the change {self.made.text}",)

    @property
    def facts(self) -> Mapping[str, Fact]:
        return {} if self.made is None else self.made.facts


def _given(places: Sequence[Place], why: str) -> _Given:
    shares = rules().findings.zero_seats.shares_given
    config = next((one.level.config for one in places if one.level.config is not None), None)
    if config is None:
        return _Given((f"{why}: give it a small number of shares, such as {shares}; its object was not read",))
    if config.shares:
        return _Given((f"its object has {config.shares} shares and the servers give it none: look at that first",))
    text = f"nominalConcurrencyShares of {plain(config.name)} 0 -> {shares}"
    changed = replace(config, shares=shares)
    made = next((one for place in places if (one := resharing(place.replica, changed)) is not None), None)
    back = "; a server of 1.29 may refuse the rollback to 0 shares" if _keeps_zero_only(places) else ""
    return _Given((f"{why}: {text}",), level_change(config, text + back, shares=shares), made)


def _keeps_zero_only(places: Sequence[Place]) -> bool:
    """Whether a server accepts 0 shares only of an object that has them already (1.29)."""
    releases = [parse_release(place.replica.version or "") for place in places]
    return any(release is not None and holds(release, ZERO_ONLY_IF_ZERO) for release in releases)


def _facts(places: Sequence[Place]) -> dict[str, Fact]:
    """Limits of the server where it is worst, and sums of what its clients feel, where all servers tell it."""
    level = places[0].level
    waiting = [place.level.waiting for place in places]
    paces = [place.level.pace for place in places]
    served = [None if pace is None else pace.dispatched_per_s for pace in paces]
    refused = [None if pace is None else pace.rejected_per_s for pace in paces]
    return {
        "nominal": level.nominal,
        "upper": level.upper,
        "current": level.current,
        "seats_in_use": level.seats_in_use,
        "waiting": _sum(waiting),
        "dispatched_per_s": _sum(served),
        "rejected_per_s": _sum(refused),
    }


def _sum(values: Sequence[float | None]) -> float | None:
    """The sum where all terms are known."""
    found = [value for value in values if value is not None]
    return sum(found) if len(found) == len(values) else None
