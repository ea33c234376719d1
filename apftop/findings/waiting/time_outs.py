"""Requests that leave their queue unserved: at the wait limit, or before it since their deadlines are short."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apftop.apf.release import holds, parse_release
from apftop.derive.waits import default_limit_s
from apftop.findings.scene import Place, Scene, by_level
from apftop.findings.words.listing import few, hurt, on, replicas
from apftop.present import interval, plain, rate, seconds, whole
from apftop.records.findings import Fact, Finding, Severity
from apftop.records.frame import Level
from apftop.records.measures import Counts, Waits, Window
from apftop.rules import rules

IN_QUEUE = ("time-out", "cancelled")
"""Reasons of requests that left their queue unserved; the second one up to 1.28.4."""
INFERRED = "the time-outs"
"""How `WaitLimit.assumed_from` begins where the limit is told by where time-outs lie."""
DEADLINE = 4
"""A request waits for a quarter of its deadline at most (since 1.28.5)."""


def severity(level: str) -> Severity:
    """How bad delays and refusals of a level are: some levels keep the cluster alive."""
    return "critical" if level in rules().findings.alerts.protected else "warning"


def queues(level: Level) -> bool:
    """Whether requests of a level wait to be served: one that never dispatches is a finding of its own."""
    return not level.exempt and not level.quiescing and level.state != "blocked"


def long_enough(window: Window | None) -> bool:
    """Whether counts over a window tell more than one burst."""
    return window is not None and window.seconds >= rules().findings.waits.least_s


@dataclass(frozen=True, slots=True)
class _Lost:
    """Requests of a level that left their queue unserved over its window, and how many came; more than a few."""

    place: Place
    window: Window
    counts: Counts
    count: float

    @property
    def per_s(self) -> float:
        return self.window.per_s(self.count)

    @property
    def short(self) -> bool:
        """Whether all of them came before the default limit."""
        return _within(self.place.level.waits) is not None

    @property
    def line(self) -> str:
        """What was seen of it on one server."""
        waits = self.place.level.waits
        where = ""
        if waits is not None and waits.time_outs_within_s is not None:
            low, high = waits.time_outs_within_s
            where = f", after {seconds(low)} to {seconds(high)}" if high is not None else f", after over {seconds(low)}"
        return (
            f"{plain(self.place.replica.name)}: {whole(self.count)} of {whole(self.counts.arrivals)} that came over"
            f" {seconds(self.window.seconds)} ({rate(self.per_s)}/s){where}"
        )


def queue_time_outs(scene: Scene) -> Iterator[Finding]:
    """Levels whose requests leave their queue unserved: the wait limit passed, or the client went away."""
    for name, found in _lost(scene, short=False):
        waits = found[0].place.level.waits
        limit = waits.limit if waits is not None else None
        hit = [one.place for one in found]
        yield Finding(
            code="queue-time-outs",
            severity=severity(name),
            subject=plain(name),
            title=f"{plain(name)} {on(hit)}: {rate(sum(one.per_s for one in found))}/s leave the queue unserved"
            " (time-out)",
            replicas=replicas(hit),
            level=name,
            evidence=(
                *few([one.line for one in found]),
                *((f"the wait limit, {seconds(limit.seconds)}: {plain(limit.assumed_from)}",) if limit else ()),
                "clients that went away are counted alike, and nobody can tell them apart"
                if _quarter(found[0].place)
                else "up to 1.28.4 time-out is the wait limit; cancelled is a client that went away or a deadline",
            ),
            advice=(
                "find what fills the level: who holds its seats, or what became slow; its other findings tell",
                "clients that came too late are answered 429 and come again: let them back off, with jitter",
            ),
            facts=_lost_facts(found) | {"limit_s": limit.seconds if limit is not None else None},
            weight=sum(map(hurt, hit)),
        )


def short_deadlines(scene: Scene) -> Iterator[Finding]:
    """Levels whose requests leave their queue well before the default limit: their clients set short deadlines."""
    for name, found in _lost(scene, short=True):
        low, high = _within(found[0].place.level.waits) or (0.0, 0.0)
        hit = [one.place for one in found]
        default_s = default_limit_s()
        quarter = _quarter(found[0].place)
        times = DEADLINE if quarter else 1
        until = "a request waits for a quarter of" if quarter else "up to 1.28.4 a request waits until"
        yield Finding(
            code="short-deadlines",
            severity=severity(name),
            subject=plain(name),
            title=f"{plain(name)} {on(hit)}: {rate(sum(one.per_s for one in found))}/s leave the queue unserved"
            f" within {seconds(high)}, before the default limit of {seconds(default_s)}",
            replicas=replicas(hit),
            level=name,
            evidence=(
                *few([one.line for one in found]),
                f"{until} its deadline at most: these clients ask with a timeout of {seconds(times * low)} to"
                f" {seconds(times * high)}, or go away by themselves",
                *_same_limit(found[0].place.level.waits, times),
                f"served requests: wait p99 {p99(found[0].place.level.waits)}",
            ),
            advice=(
                f"let the client ask with a longer timeout, or none: with timeout=60s it may wait {seconds(default_s)}",
                "that buys time only: find what fills the level",
                "or the servers run with a short --request-timeout: give it to apftop by --request-timeout",
            ),
            facts=_lost_facts(found)
            | {"within_s": [low, high], "deadline_s": [times * low, times * high], "default_limit_s": default_s},
            weight=sum(map(hurt, hit)),
        )


def _lost(scene: Scene, *, short: bool) -> Iterator[tuple[str, list[_Lost]]]:
    """Levels with time-outs, on the servers where these came early, or where they did not; the worst first."""
    for name, group in by_level(scene).items():
        found = [
            one
            for place in group
            if queues(place.level)
            and (one := _timed_out(place)) is not None
            and (_within(place.level.waits) is not None) is short
        ]
        if found:
            yield name, sorted(found, key=lambda one: -one.per_s)


def _timed_out(place: Place) -> _Lost | None:
    counts, window = place.level.counts, place.level.window
    if counts is None or window is None or not long_enough(window):
        return None
    count = sum(counts.rejected.get(reason, 0.0) for reason in IN_QUEUE)
    return _Lost(place, window, counts, count) if count > rules().findings.waits.timed_out else None


def _within(waits: Waits | None) -> tuple[float, float] | None:
    """Between which waits all time-outs came, if all came before the default limit.

    None also where the server's own limit is known: then it is that short, and not the clients' deadlines.
    """
    if waits is None or waits.time_outs_within_s is None or not waits.limit.assumed_from.startswith(INFERRED):
        return None
    low, high = waits.time_outs_within_s
    return (low, high) if high is not None and high < default_limit_s() else None


def _lost_facts(found: Sequence[_Lost]) -> dict[str, Fact]:
    return {
        "timed_out": {one.place.replica.name: one.count for one in found},
        "per_s": {one.place.replica.name: one.per_s for one in found},
    }


def _quarter(place: Place) -> bool:
    """Whether a quarter of its deadline ends a wait: before 1.28.5 the deadline itself does, or 15 s."""
    release = parse_release(place.replica.version or "")
    return release is None or holds(release, rules().wait.limit_cap_holds)


def _same_limit(waits: Waits | None, times: int) -> tuple[str, ...]:
    """What the deadline is if all of them have the same, which is likely where they are of one client."""
    if waits is None:
        return ()
    limit = waits.limit
    at_least = f"a wait of {seconds(limit.seconds)} and a timeout of {seconds(times * limit.seconds)} at least"
    return (f"if all have the same: {at_least}, by {plain(limit.assumed_from.partition(':')[0])}",)


def p99(waits: Waits | None) -> str:
    """The 99th percentile of waits by its bounds, in words."""
    return interval(waits.p99 if waits is not None else None)
