"""Execution that became slow, and what behind the server did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from apftop.findings.saturation.demand import Split, slower, split, times
from apftop.findings.saturation.pressure import hurts
from apftop.findings.saturation.who import crowd
from apftop.findings.scene import Place, Scene, places, rows
from apftop.present import plain, rate, seconds, whole
from apftop.records.backend import Timed
from apftop.records.findings import Finding
from apftop.records.frame import Replica
from apftop.rules import rules

MOST = 5
LOOK = (
    "etcd's disk and etcd_request_duration_seconds first, then webhooks "
    "(apiserver_admission_webhook_admission_duration_seconds), then the servers' CPU"
)


@dataclass(frozen=True, slots=True)
class Behind:
    """Something that a server waits for while it executes requests: its mean rose."""

    what: str
    timed: Timed

    @property
    def rose_s(self) -> float:
        return (self.timed.mean_s or 0.0) - (self.timed.usual_s or 0.0)

    def told(self) -> str:
        """In words, with both means."""
        mean, usual = self.timed.mean_s, self.timed.usual_s
        factor = f" ({times(mean / usual)})" if mean is not None and usual else ""
        return f"{self.what} takes {seconds(mean)}, usually {seconds(usual)}{factor}, {whole(self.timed.count)} calls"


def risen(replica: Replica) -> tuple[Behind, ...]:
    """What behind a server became slower against its own past, most seconds first."""
    if replica.backend is None:
        return ()
    limits = rules().findings.load
    groups = (
        ("etcd", replica.backend.etcd),
        ("webhook", replica.backend.webhooks),
        ("admission plugin", replica.backend.admission),
    )
    found = [
        Behind(f"{kind} {plain(name)}", timed)
        for kind, group in groups
        for name, timed in group.items()
        if timed.mean_s is not None
        and timed.usual_s
        and timed.count >= limits.behind_least
        and timed.mean_s >= limits.behind_factor * timed.usual_s
        and timed.mean_s - timed.usual_s >= limits.behind_s
    ]
    # A plugin that calls webhooks is as slow as they are: the one that is named first says more.
    return tuple(sorted(found, key=lambda one: -round(one.rose_s, 2)))


def slow_places(scene: Scene) -> list[tuple[Place, Split]]:
    """Where execution became slow by itself, worst first."""
    found = []
    for place in places(scene):
        compared = split(scene, place)
        if compared is not None and _many_slow(place) and became_slow(scene, place, compared):
            found.append((place, compared))
    return sorted(found, key=lambda one: -(one[1].execution or 0.0))


def became_slow(scene: Scene, place: Place, compared: Split) -> bool:
    """Whether slower execution is what takes the seats of a level.

    It is if it rose most. Refused requests that come again raise arrivals more, and take no seats: then it is so if no
    more are served than usual, and something behind the server is known to be slow.
    """
    if not slower(compared) or _long_lists(scene, place):
        return False
    served, usual = place.level.dispatched_per_s, compared.baseline.load.arrivals_per_s
    as_ever = served is not None and served <= rules().findings.load.rise_factor * usual
    return compared.dominant == "execution" or (as_ever and bool(_not_lists(place.replica)))


def _not_lists(replica: Replica) -> tuple[Behind, ...]:
    """What became slow, but for what asks for lists: that takes longer with longer lists."""
    return tuple(one for one in risen(replica) if "list" not in one.what.lower())


def _long_lists(scene: Scene, place: Place) -> bool:
    """Whether LISTs, which take long by themselves, hold most seats of a level, and other levels are as fast as ever.

    Nothing behind the server has become slow then: there are more long requests among the short ones.
    """
    if crowd(place) is None or _not_lists(place.replica):
        return False
    inside = rows(place)
    runs = [row for row in inside if row.executing] or inside
    lists = sum(row.width for row in runs if row.verb == "list")
    if lists < rules().findings.load.dominant_share * sum(row.width for row in runs):
        return False
    others = (Place(place.replica, one) for one in place.replica.levels.values() if one.name != place.level.name)
    return any(_as_ever(scene, one) for one in others)


def _as_ever(scene: Scene, place: Place) -> bool:
    compared, execution, limits = split(scene, place), place.level.execution, rules().findings.load
    if compared is None or compared.execution is None or execution is None or execution.count < limits.slow_least:
        return False
    return place.level.state != "stale" and compared.execution < limits.rise_factor


def _many_slow(place: Place) -> bool:
    """Whether many requests ended, and not a few long ones among short ones make the mean: at least one in twenty."""
    execution, limits = place.level.execution, rules().findings.load
    if execution is None or execution.count < limits.slow_least:
        return False
    return execution.p95 is None or execution.p95.high is None or execution.p95.high > limits.slow_s


def slow_execution(scene: Scene) -> Iterator[Finding]:
    """Requests take much longer once they run, and that is not for more of them."""
    found = slow_places(scene)
    if not found:
        return
    (worst, compared), names = found[0], sorted({place.level.name for place, _ in found})
    replicas = tuple(dict.fromkeys(place.replica.name for place, _ in found))
    behind = [(name, one) for name in replicas for one in risen(scene.frame.replicas[name])]
    behind.sort(key=lambda pair: -pair[1].rose_s)
    felt = len(names) > 1 or bool(behind) or any(hurts(place.level) for place, _ in found)
    where = f"{plain(names[0])} on {plain(worst.replica.name)}" if len(names) == 1 else f"{len(names)} levels"
    took = f"{seconds(compared.now.execution_s)}, {times(compared.execution)}"
    culprit = f": {behind[0][1].told()}" if behind else ""
    yield Finding(
        code="slow-execution",
        severity="warning" if felt else "info",
        subject=names[0] if len(names) == 1 else "cluster",
        title=f"execution in {where} became slow ({took}){culprit}",
        replicas=replicas,
        level=names[0] if len(names) == 1 else "",
        evidence=(
            *(_line(place, one) for place, one in found[:MOST]),
            *([f"{len(found) - MOST} more levels and servers"] if len(found) > MOST else []),
            *(f"{plain(name)}: {one.told()}" for name, one in behind[:MOST]),
        ),
        advice=(
            f"find out why {behind[0][1].what} is slow: seats are held for as long as it takes"
            if behind
            else f"find what became slow behind the servers: {LOOK}",
            "give no level more seats for this: they would put more load on what is slow",
        ),
        facts={
            "levels": names,
            "execution_s": compared.now.execution_s,
            "usual_execution_s": compared.baseline.load.execution_s,
            "factor": compared.execution,
            "arrivals_factor": compared.arrivals,
            "baseline": compared.baseline.source,
            "behind": behind[0][1].what if behind else None,
        },
        weight=sum(place.level.waiting or 0.0 for place, _ in found),
    )


def _line(place: Place, found: Split) -> str:
    now, was = found.now, found.baseline.load
    return (
        f"{plain(place.level.name)} on {plain(place.replica.name)}: execution {seconds(now.execution_s)} on average "
        f"over {seconds(now.seconds)}, {seconds(was.execution_s)} in {found.baseline.source} "
        f"({times(found.execution)}); arrivals {rate(now.arrivals_per_s)}/s, {rate(was.arrivals_per_s)}/s then"
    )
