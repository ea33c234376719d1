"""One server that suffers while its peers idle: more comes to it, or it is slower."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apftop.findings.scene import Place, Scene, by_level, servers
from apftop.findings.words.listing import few, hurt
from apftop.findings.words.told import listed, most, wait
from apftop.present import percent, plain, rate, seconds, span, whole
from apftop.records.findings import Finding
from apftop.records.frame import Level, Replica
from apftop.records.raw import Endpoint
from apftop.rules import rules


@dataclass(frozen=True, slots=True)
class _Alone:
    """A level that suffers on one server only: this one, its peers, and those of them that have seats free.

    `times` is how many times the requests of its peers, on average, come to it.
    """

    here: Place
    peers: tuple[Place, ...]
    idle: tuple[Place, ...]
    times: float

    @property
    def weight(self) -> float:
        return hurt(self.here)


def hot_replica(scene: Scene) -> Iterator[Finding]:
    """A server that is full or refuses because far more comes to it than to its peers, which idle."""
    found: dict[str, list[_Alone]] = {}
    for one in _alone(scene):
        if one.times >= rules().findings.replicas.times:
            found.setdefault(one.here.replica.name, []).append(one)
    for levels in found.values():
        yield _hot(scene, sorted(levels, key=lambda one: -one.weight))
    if not found:
        yield from _busiest(scene)


def slow_replica(scene: Scene) -> Iterator[Finding]:
    """A server that is full or refuses although no more comes to it than to its peers, which idle."""
    for one in _alone(scene):
        if one.times < rules().findings.replicas.times:
            yield _slow(one)


def _alone(scene: Scene) -> Iterator[_Alone]:
    for everywhere in by_level(scene).values():
        group = [place for place in everywhere if fresh(place.replica)]
        if len(group) < 2 or any(_untold(place.level) for place in group):
            continue
        suffer = [place for place in group if _suffers(place.level)]
        peers = tuple(place for place in group if place not in suffer)
        idle = tuple(place for place in peers if _idle(place.level))
        if len(suffer) == 1 and idle:
            usual = sum(_arrivals(place.level) for place in peers) / len(peers)
            times = _arrivals(suffer[0].level) / usual if usual > 0 else math.inf
            yield _Alone(suffer[0], peers, idle, times)


def fresh(replica: Replica) -> bool:
    """Whether the metrics of a server are those of now: one that is down idles in its last ones."""
    read = replica.samples.get(Endpoint.METRICS)
    return read is None or not read.stale


def _untold(level: Level) -> bool:
    """Whether nothing can be said of it: no counts, or over too short a time, or no limit to be full by."""
    if level.exempt or level.quiescing or level.counts is None or level.window is None:
        return True
    return level.window.seconds < rules().findings.replicas.least_s or not level.current


def _suffers(level: Level) -> bool:
    terms = rules().findings.replicas
    if level.counts is not None and level.counts.rejected_total > terms.refused:
        return True
    used = level.utilization
    if used is not None and not used.lifetime and used.gt_99 is not None:
        full = used.gt_99 >= terms.full_share
    else:
        full = (level.utilization_now or 0.0) >= 1.0
    return full and (level.waiting or 0.0) > 1


def _idle(level: Level) -> bool:
    used = _used(level)
    return used is not None and used < rules().findings.replicas.idle_share


def _used(level: Level) -> float | None:
    """The share of its seats that a level uses over the window, or now where that is unknown."""
    over_time = level.utilization
    if over_time is not None and not over_time.lifetime and over_time.mean is not None:
        return over_time.mean
    return level.utilization_now


def _arrivals(level: Level) -> float:
    """What came to a level, a second."""
    return 0.0 if level.counts is None or level.window is None else level.window.per_s(level.counts.arrivals)


def _hot(scene: Scene, levels: Sequence[_Alone]) -> Finding:
    worst, name = levels[0], levels[0].here.replica.name
    level, total = worst.here.level, scene.frame.totals.levels[worst.here.level.name]
    share = total.share_of_dispatch.get(name)
    others = len(worst.peers)
    gets = "far more than its peers" if share is None else f"{percent(share)} of what {plain(level.name)} serves"
    return Finding(
        code="hot-replica",
        severity="warning",
        subject=plain(name),
        title=f"{plain(name)} is hot: {gets}, {_pain(level)}, and {len(worst.idle)} of {others} peers idle",
        replicas=(name, *(place.replica.name for place in worst.peers)),
        level=level.name if len(levels) == 1 else "",
        evidence=tuple(line for one in levels for line in _uneven(scene, one)) + _started(scene, worst.here.replica),
        advice=(
            "run all API servers with --goaway-chance=0.001, so that HTTP/2 clients reconnect now and then"
            " (only behind a load balancer, and where there is more than one server)",
            "now: restart the clients with the most requests there, so that they connect anew",
            "check that the balancer sends new connections to all servers; drain or restart this server last,"
            " since all of its clients move at once",
            "more shares do not help: the seats of its peers are free, and no server lends to another",
        ),
        facts={
            "level": level.name,
            "share_of_dispatch": dict(total.share_of_dispatch),
            "skew": total.skew,
            "times": worst.times if math.isfinite(worst.times) else None,
            "rejected_per_s": level.rejected_per_s,
            "idle": [place.replica.name for place in worst.idle],
            "levels": [one.here.level.name for one in levels],
        },
        weight=sum(one.weight for one in levels),
    )


def _pain(level: Level) -> str:
    parts = [f"{rate(level.rejected_per_s)}/s refused"] if level.rejected_per_s else []
    parts += [wait(level.waiting)] if level.waiting else []
    return " and ".join(parts)


def _uneven(scene: Scene, one: _Alone) -> Iterator[str]:
    level, name = one.here.level, one.here.replica.name
    total = scene.frame.totals.levels[level.name]
    over = "" if level.window is None else f" over {seconds(level.window.seconds)}"
    shown = plain(level.name)
    if total.dispatched_per_s and name in total.share_of_dispatch:
        refused = ""
        if total.rejected_per_s:
            share = percent((level.rejected_per_s or 0.0) / total.rejected_per_s)
            refused = f", and refuses {share} of what all refuse ({rate(total.rejected_per_s)}/s)"
        yield (
            f"{shown}: {plain(name)} serves {percent(total.share_of_dispatch[name])} of what all serve"
            f" ({rate(level.dispatched_per_s)} of {rate(total.dispatched_per_s)}/s{over}){refused}"
        )
    if total.skew is not None:
        yield f"{shown}: the busiest server gets {total.skew:.2f} times the mean of {total.replicas}"
    yield from few([_seats(place) for place in (one.here, *one.peers)])
    if total.seats_in_use is not None and total.current is not None:
        sums = f"{whole(total.seats_in_use)} of {whole(total.current)} seats on all servers together"
        yield f"{shown}: {sums}: sums and means hide the one server that suffers"
    inside = level.inside
    if inside is not None:
        there = dict(inside.waiting_by_user)
        for user, seats in (inside.executing_seats_by_user or {}).items():
            there[user] = there.get(user, 0) + seats
        if there:
            yield f"most there by the dump, requests that wait and seats that execute: {most(there)}"


def _seats(place: Place) -> str:
    level = place.level
    seats = f"{whole(level.seats_in_use)} of {whole(level.current)} seats"
    return (
        f"{plain(place.replica.name)}: {seats}, {whole(level.waiting)} wait,"
        f" {rate(level.dispatched_per_s)}/s served, {rate(level.rejected_per_s)}/s refused"
    )


def _started(scene: Scene, hot: Replica) -> tuple[str, ...]:
    """Peers that started lately: clients went over to others then, and keep their connections."""
    now = scene.now
    if now is None:
        return ()
    ago = {
        one.name: now - (one.clock.skew_s or 0.0) - one.started
        for one in servers(scene)
        if one.started is not None and one.name != hot.name
    }
    late = {name: since for name, since in ago.items() if 0 <= since < rules().findings.replicas.restarted_s}
    if not late or (hot.started is not None and now - (hot.clock.skew_s or 0.0) - hot.started < min(late.values())):
        return ()
    names = ", ".join(f"{plain(name)} {span(since)} ago" for name, since in sorted(late.items())[:5])
    return (f"started after it: {names}; clients that went over to {plain(hot.name)} then have not come back",)


def _busiest(scene: Scene) -> Iterator[Finding]:
    """One server gets far more than the others, and nobody suffers yet."""
    terms = rules().findings.replicas
    known = [one for one in servers(scene) if fresh(one)]
    served = {one.name: total for one in known if (total := _served(one)) is not None}
    if len(served) < 2 or len(served) < len(known):
        return
    name, most_per_s = max(served.items(), key=lambda pair: pair[1])
    mean = sum(served.values()) / len(served)
    if mean <= terms.least_per_s or most_per_s <= terms.uneven * mean:
        return
    yield Finding(
        code="hot-replica",
        severity="info",
        subject=plain(name),
        title=f"{plain(name)} serves {most_per_s / mean:.2f} times the mean of {len(served)} servers; none suffers yet",
        replicas=(name, *(one for one in served if one != name)),
        evidence=few(
            [
                f"{plain(one)}: {rate(per_s)}/s served, all levels together"
                for one, per_s in sorted(served.items(), key=lambda pair: -pair[1])
            ]
        ),
        advice=(
            "run all API servers with --goaway-chance=0.001, so that HTTP/2 clients reconnect now and then"
            " (only behind a load balancer, and where there is more than one server)",
            f"at the next load {plain(name)} is full first: each server has its own seats and queues",
        ),
        facts={
            "share_of_dispatch": {one: per_s / sum(served.values()) for one, per_s in served.items()},
            "skew": most_per_s / mean,
        },
    )


def _served(replica: Replica) -> float | None:
    """Requests that all levels of a server let through, a second; None if any is unknown, or over too short a time."""
    levels = [level for level in replica.levels.values() if level.state != "stale"]
    rates = [level.dispatched_per_s for level in levels]
    known = [one for one in rates if one is not None]
    short = replica.window is None or replica.window.seconds < rules().findings.replicas.least_s
    return None if short or not known or len(known) < len(rates) else sum(known)


def _slow(one: _Alone) -> Finding:
    level, name = one.here.level, one.here.replica.name
    took = {
        place.replica.name: place.level.load.execution_s
        for place in (one.here, *one.peers)
        if place.level.load is not None and place.level.load.execution_s is not None
    }
    lines = [
        f"{_seats(place)}, {rate(_arrivals(place.level))}/s came"
        + (f", {seconds(took[place.replica.name])} to execute one" if place.replica.name in took else "")
        for place in (one.here, *one.peers)
    ]
    return Finding(
        code="slow-replica",
        severity="warning",
        subject=plain(name),
        title=f"{plain(name)} alone is full at {plain(level.name)}, {_pain(level)}, though no more comes there",
        replicas=(name, *(place.replica.name for place in one.peers)),
        level=level.name,
        evidence=(
            *few(lines),
            f"{plain(name)} gets {one.times:.1f} times what its peers get on average",
            f"seats free at the same level: {listed([place.replica.name for place in one.idle])}",
        ),
        advice=(
            f"look at the machine of {plain(name)}: CPU, memory, and its own etcd member and its disk",
            "if it cannot be helped at once take it out of the balancer, so that its clients go to the others",
            "no change of shares helps: requests take longer on this server, whatever their level",
        ),
        facts={
            "level": level.name,
            "times": one.times,
            "execution_s": took,
            "rejected_per_s": level.rejected_per_s,
            "idle": [place.replica.name for place in one.idle],
        },
        weight=one.weight,
    )
