"""Levels that are gone: gauges that live on, and those that still drain."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.apf.builtins import builtin_levels
from apftop.findings.scene import Finder, Place, Scene, by_level, schemas, servers
from apftop.findings.words.listing import doing, few, hurt, on, replicas, window
from apftop.findings.words.told import counted, wait
from apftop.present import plain, span, whole
from apftop.records.findings import Finding
from apftop.records.frame import Replica
from apftop.records.raw import Endpoint
from apftop.rules import rules


def stale_gauges(scene: Scene) -> Iterator[Finding]:
    """Levels that only gauges still know: no server ever removes a series (1.26 to 1.37)."""
    sure: dict[str, list[Place]] = {}
    maybe: dict[str, list[Place]] = {}
    for replica in servers(scene):
        for name in replica.stale_levels:
            level = replica.levels.get(name)
            # One with an object is new, and the dump is older than it.
            if level is not None and level.config is None:
                sure.setdefault(name, []).append(Place(replica, level))
        for name in replica.possibly_stale_levels if _asked(replica) else ():
            if name in replica.levels and name not in builtin_levels():
                maybe.setdefault(name, []).append(Place(replica, replica.levels[name]))
    for name in sorted({*sure, *maybe}):
        found = sure.get(name) or maybe[name]
        certain = name in sure
        what = "is gone, and its gauges live on" if certain else "is possibly gone: its counters do not move"
        yield Finding(
            code="stale-gauges",
            severity="info",
            subject=name,
            title=f"{plain(name)} {on(found)} {what}: {counted(found[0].level.nominal, 'nominal seat')} that "
            + (f"{'is' if found[0].level.nominal == 1 else 'are'} nobody's" if certain else "may be nobody's"),
            replicas=replicas(found),
            level=name,
            evidence=few([_gauges(one) if certain else _unsure(one) for one in found]),
            advice=(
                "nothing for APF: the gauges go when that API server restarts; here they are left out of all sums"
                if certain
                else "read the dumps or the objects to be sure; until then it is counted in sums",
                "in dashboards and alerts leave it out by its name: sums over the limit gauges are too big",
            ),
            facts={
                "certain": str(certain).lower(),
                "nominal": found[0].level.nominal,
                "current": found[0].level.current,
                "nominal_sum": found[0].replica.nominal_sum,
                "naive_nominal_sum": found[0].replica.naive_nominal_sum,
            },
        )


def quiescing(scene: Scene) -> Iterator[Finding]:
    """Levels whose object is gone while requests are in them: they keep their seats until they are empty."""
    for name, found in by_level(scene).items():
        draining = sorted((one for one in found if one.level.quiescing), key=hurt, reverse=True)
        if not draining:
            continue
        level = draining[0].level
        stuck = any(_lasts(one) for one in draining)
        leads = [plain(one.name) for one in schemas(scene) if one.priority_level == name]
        yield Finding(
            code="quiescing",
            severity="warning" if stuck else "info",
            subject=name,
            title=f"{plain(name)} {on(draining)} is deleted and still drains: {whole(level.executing)} execute, "
            f"{wait(level.waiting)}, {counted(level.nominal, 'nominal seat')} kept",
            replicas=replicas(draining),
            level=name,
            evidence=(
                *few([_drains(one) for one in draining]),
                *((f"schemas that still name it and match nothing: {', '.join(few(leads, 'schemas'))}",) * bool(leads)),
            ),
            advice=(
                "wait: it goes, and the other levels get its seats, when its last request ends",
                *(
                    (
                        "if it was deleted by mistake, create it again as it was: it stops draining at once, and the "
                        "schemas that name it match again",
                    )
                    if leads
                    else ()
                ),
            ),
            facts={
                "executing": level.executing,
                "waiting": level.waiting,
                "nominal": level.nominal,
                "current": level.current,
                "schemas": leads,
            },
            weight=sum(map(hurt, draining)),
        )


FINDERS: tuple[Finder, ...] = (stale_gauges, quiescing)


def _asked(replica: Replica) -> bool:
    """Whether more than metrics was asked for: where that is all that there is, every idle level looks as if gone."""
    return any(status is not None for name, status in replica.endpoints.items() if name != Endpoint.METRICS)


def _gauges(place: Place) -> str:
    replica, level = place.replica, place.level
    asked = {"the dump of levels": "dump_priority_levels", "the objects": "objects"}
    read = [words for words, endpoint in asked.items() if replica.endpoints.get(endpoint) == 200]
    return (
        f"{plain(replica.name)}: metrics tell of nominal {whole(level.nominal)} and current {whole(level.current)}, "
        f"{' and '.join(read) or 'nothing else'} of no such level; nominal limits sum to "
        f"{whole(replica.nominal_sum)} without it, {whole(replica.naive_nominal_sum)} with all gauges"
    )


def _unsure(place: Place) -> str:
    return (
        f"{plain(place.replica.name)}: nothing came to it over {window(place)}, and neither dumps nor objects were "
        "read, which would tell an idle level from a deleted one"
    )


def _lasts(place: Place) -> bool:
    """Whether requests wait in it for long: none has come since it was deleted."""
    level, terms = place.level, rules().findings.leaks
    if not level.waiting:
        return False
    oldest = level.inside.oldest_waiting_s if level.inside is not None else None
    if oldest is not None and oldest >= terms.least_s:
        return True
    counts, window = level.counts, level.window
    if counts is None or window is None or counts.inqueue_change is None or window.seconds < terms.least_s:
        return False
    return level.waiting - counts.inqueue_change > 0


def _drains(place: Place) -> str:
    level = place.level
    told = [f"{plain(place.replica.name)}: {doing(place)}"]
    if level.inside is not None and level.inside.oldest_executing_s is not None:
        told.append(f"the oldest executes for {span(level.inside.oldest_executing_s)}")
    if level.inside is not None and level.inside.oldest_waiting_s is not None:
        told.append(f"the oldest waits for {span(level.inside.oldest_waiting_s)}")
    return "; ".join(told)
