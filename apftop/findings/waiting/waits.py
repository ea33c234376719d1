"""Waits near their limit or beyond the last bucket; time-outs, and deadlines too short for the wait."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from apftop.derive.waits import default_limit_s
from apftop.findings.scene import Finder, Place, Scene, by_level, rows
from apftop.findings.waiting.time_outs import (
    DEADLINE,
    INFERRED,
    long_enough,
    p99,
    queue_time_outs,
    queues,
    severity,
    short_deadlines,
)
from apftop.findings.words.listing import few, hurt, on, replicas
from apftop.present import interval, percent, plain, seconds
from apftop.records.findings import Finding
from apftop.records.measures import WaitLimit, Waits, Window
from apftop.rules import rules


@dataclass(frozen=True, slots=True)
class _Near:
    """Requests of a level that waited, or wait, for most of what they may: at least so many, of so many; seconds."""

    place: Place
    limit_s: float
    assumed: str
    over_s: float
    served: int
    of: int
    waiting: int

    @property
    def line(self) -> str:
        """What was seen of it on one server."""
        parts = []
        if self.served and self.place.level.window is not None:
            over = seconds(self.place.level.window.seconds)
            parts.append(
                f"at least {self.served} of {self.of} served over {over} waited more than {seconds(self.over_s)}"
                f" ({percent(self.served / self.of)}); wait p99 {p99(self.place.level.waits)}"
            )
        inside = self.place.level.inside
        if self.waiting and inside is not None:
            parts.append(f"{self.waiting} wait for longer than that now, the oldest {seconds(inside.oldest_waiting_s)}")
        return f"{plain(self.place.replica.name)}: {'; '.join(parts)}"


def waits_near_limit(scene: Scene) -> Iterator[Finding]:
    """Levels whose requests wait for more than two thirds of what they may: time-outs come next."""
    for name, group in by_level(scene).items():
        found = [one for place in group if queues(place.level) and (one := _near(place)) is not None]
        if not found:
            continue
        found.sort(key=lambda one: -hurt(one.place))
        worst = found[0]
        hit = [one.place for one in found]
        yield Finding(
            code="waits-near-limit",
            severity=severity(name),
            subject=plain(name),
            title=f"{plain(name)} {on(hit)}: requests wait for more than {seconds(worst.over_s)},"
            f" near the limit of {seconds(worst.limit_s)}",
            replicas=replicas(hit),
            level=name,
            evidence=(
                *few([one.line for one in found]),
                f"the limit of {seconds(worst.limit_s)}: {plain(worst.assumed)}",
            ),
            advice=(
                "slow down the client that fills this level, or move it to a level of its own, before its requests"
                " time out: the level's other findings name it",
                "if execution became slow look behind the queues first: storage, webhooks, CPU",
            ),
            facts={
                "limit_s": worst.limit_s,
                "over_s": worst.over_s,
                "served_over": {one.place.replica.name: one.served for one in found},
                "served": {one.place.replica.name: one.of for one in found},
                "waiting_over": {one.place.replica.name: one.waiting for one in found},
            },
            weight=sum(map(hurt, hit)),
        )


def _near(place: Place) -> _Near | None:
    terms, level = rules().findings.waits, place.level
    waits = level.waits
    if _past(place) is not None:
        return None
    limit = _limit(waits)
    limit_s, assumed = limit.seconds, limit.assumed_from
    over_s = terms.near * limit_s
    served = _served_over(waits, over_s) if waits is not None and long_enough(level.window) else 0
    of = waits.executed if waits is not None else 0
    waiting = _waiting_over(place, over_s)
    enough = served >= terms.near_requests and served > terms.near_share * of
    if not enough and waiting < terms.near_requests:
        return None
    return _Near(place, limit_s, assumed, _bound(waits, over_s), served if enough else 0, of, waiting)


def _waiting_over(place: Place, over_s: float) -> int:
    """How many requests have surely waited longer; none where the server's clock at the dump is not known."""
    tolerance_s = place.replica.clock.tolerance_s
    if tolerance_s is None:
        return 0
    ages = [row.age_s for row in rows(place) if not row.executing and row.age_s is not None]
    return sum(age - tolerance_s >= over_s for age in ages)


def _limit(waits: Waits | None) -> WaitLimit:
    """How long requests of a level may wait: where time-outs came sooner than by default, some of them only."""
    default_s = default_limit_s()
    known = waits.limit if waits is not None else None
    if known is None or (known.assumed_from.startswith(INFERRED) and known.seconds < default_s):
        return WaitLimit(default_s, "the server's default, for requests without a timeout")
    return known


def _served_over(waits: Waits, over_s: float) -> int:
    """How many served requests waited longer, at least: time-outs and this tool's own may be among those counted."""
    counted = sum(bucket.count for bucket in waits.buckets if bucket.low >= over_s)
    return max(0, counted - waits.timed_out - waits.own)


def _bound(waits: Waits | None, over_s: float) -> float:
    """The least bound of the buckets from there on, which is what can be counted."""
    lows = [bucket.low for bucket in waits.buckets if bucket.low >= over_s] if waits is not None else []
    return min(lows, default=over_s)


@dataclass(frozen=True, slots=True)
class _Past:
    """Served requests of a level that waited beyond the last finite bound of the histogram, at least so many."""

    place: Place
    waits: Waits
    window: Window
    over: int

    @property
    def last_s(self) -> float:
        """The last finite bound."""
        return self.waits.buckets[-1].low

    @property
    def share(self) -> str:
        """Their share of all that were served, in words."""
        if self.waits.over_last_bound is not None and not self.waits.own:
            return percent(self.waits.over_last_bound)
        return f"at least {percent(self.over / self.waits.executed)}"

    @property
    def lines(self) -> Iterator[str]:
        """What was seen of it on one server."""
        name, waits = plain(self.place.replica.name), self.waits
        yield (
            f"{name}: {self.share} of {waits.executed} served over {seconds(self.window.seconds)} waited more than"
            f" {seconds(self.last_s)}; wait p50 {interval(waits.p50)}, p99 {interval(waits.p99)}"
        )
        if waits.mean_s is not None:
            bounds = waits.overflow_mean_bounds_s
            beyond = f"; of those beyond the bound {seconds(bounds[0])} to {seconds(bounds[1])}" if bounds else ""
            yield f"{name}: mean of all waits {seconds(waits.mean_s)}{beyond}"
        inside = self.place.level.inside
        if inside is not None and inside.oldest_waiting_s is not None:
            yield f"{name}: the oldest that waits now has done so for {seconds(inside.oldest_waiting_s)}"


def waits_past_last_bucket(scene: Scene) -> Iterator[Finding]:
    """Levels whose waits are longer than the histogram can tell: their quantiles are open upwards."""
    for name, group in by_level(scene).items():
        found = [one for place in group if queues(place.level) and (one := _past(place)) is not None]
        if not found:
            continue
        found.sort(key=lambda one: -one.over)
        worst = found[0]
        inside, waits = worst.place.level.inside, worst.waits
        hit = [one.place for one in found]
        yield Finding(
            code="waits-past-last-bucket",
            severity=severity(name),
            subject=plain(name),
            title=f"{plain(name)} {on(hit)}: {worst.share} of the served waited more than {seconds(worst.last_s)},"
            " the last bound of the histogram",
            replicas=replicas(hit),
            level=name,
            evidence=tuple(line for one in found[:5] for line in one.lines),
            advice=(
                f"read no quantile of these waits as {seconds(worst.last_s)}: a dashboard shows the last bound,"
                " whatever the waits; the dump of requests has exact ages",
                "treat the level as saturated: slow down the client that fills it, or find what became slow",
                f"waits this long take a --request-timeout over {seconds(DEADLINE * worst.last_s)}, or a server before"
                f" 1.28.5: by default nobody waits longer than {seconds(default_limit_s())}",
            ),
            facts={
                "last_bound_s": worst.last_s,
                "over": worst.over,
                "executed": waits.executed,
                "over_share": waits.over_last_bound,
                "mean_s": waits.mean_s,
                "overflow_mean_bounds_s": waits.overflow_mean_bounds_s,
                "oldest_waiting_s": inside.oldest_waiting_s if inside is not None else None,
                "naive_p99_s": waits.naive_p99_s,
            },
            weight=sum(map(hurt, hit)),
        )


def _past(place: Place) -> _Past | None:
    waits, window, terms = place.level.waits, place.level.window, rules().findings.waits
    if waits is None or window is None or not long_enough(window):
        return None
    if len(waits.buckets) < 2 or waits.buckets[-1].high is not None:
        return None
    over = _served_over(waits, waits.buckets[-1].low)
    enough = over >= terms.near_requests and over > terms.near_share * waits.executed
    return _Past(place, waits, window, over) if enough else None


FINDERS: tuple[Finder, ...] = (waits_near_limit, waits_past_last_bucket, queue_time_outs, short_deadlines)
