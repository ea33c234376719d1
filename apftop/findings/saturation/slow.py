"""Execution that became slow, and what behind the server did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from apftop.findings.saturation.demand import Split, slow, split, times
from apftop.findings.saturation.pressure import hurts
from apftop.findings.scene import Place, Scene, places
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
        ended = place.level.execution.count if place.level.execution is not None else 0
        compared = split(scene, place)
        if compared is not None and slow(compared) and ended >= rules().findings.load.slow_least:
            found.append((place, compared))
    return sorted(found, key=lambda one: -(one[1].execution or 0.0))


def slow_execution(scene: Scene) -> Iterator[Finding]:
    """Requests take much longer once they run, and that is not for more of them."""
    found = slow_places(scene)
    if not found:
        return
    (worst, compared), names = found[0], sorted({place.level.name for place, _ in found})
    replicas = tuple(dict.fromkeys(place.replica.name for place, _ in found))
    behind = [(name, one) for name in replicas for one in risen(scene.frame.replicas[name])]
    behind.sort(key=lambda pair: -pair[1].rose_s)
    felt = len(names) > 1 or worst.level.exempt or bool(behind) or any(hurts(place.level) for place, _ in found)
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
