"""Limits that hold requests back: borrowing at its end, lent seats that are not back, use above a limit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from apftop.apf.rounding import half_away
from apftop.findings.alerting.of_servers import limited_share
from apftop.findings.alerting.said import over
from apftop.findings.changes.patches import level_change
from apftop.findings.scene import Finder, Place, Scene, by_level, rows
from apftop.findings.seats import adjustments
from apftop.findings.words.listing import doing, few, hurt, in_need, on, replicas
from apftop.findings.words.told import counted, wait
from apftop.present import percent, plain, span, whole
from apftop.records.checks import Check
from apftop.records.findings import Change, Fact, Finding
from apftop.records.frame import Level
from apftop.rules import rules


def borrowing_limit(scene: Scene) -> Iterator[Finding]:
    """Levels at their upper limit with requests in need while other levels leave seats unused (1.26 to 1.37)."""
    for name, places in by_level(scene).items():
        found = sorted((one for one in places if _at_its_end(one)), key=hurt, reverse=True)
        if not found:
            continue
        level = found[0].level
        protected = name in rules().findings.alerts.protected
        more = _more(found[0])
        yield Finding(
            code="borrowing-limit",
            severity="critical" if protected else "warning",
            subject=name,
            title=f"{plain(name)} {on(found)} is at its borrowing limit: {counted(level.upper, 'seat')}, "
            f"{_need(level)}, while all levels use {percent(limited_share(found[0].replica))} of the server's seats",
            replicas=replicas(found),
            level=name,
            evidence=(*few([_end(one) for one in found]), *((more.evidence,) if more else ())),
            advice=(
                *((more.advice,) if more else ("raise its borrowingLimitPercent, or unset it: unset is no limit",)),
                "no other level's nominal or lower limit changes by that: it gets what they leave; if the limit is "
                "there to hold one tenant back, leave it",
            ),
            change=more.change if more else None,
            facts={
                "current": level.current,
                "nominal": level.nominal,
                "upper": level.upper,
                "reachable": _reachable(found[0]),
                "waiting": level.waiting,
                "server_share": limited_share(found[0].replica),
                **(more.facts if more else {}),
            },
            weight=sum(map(hurt, found)),
        )


def lent_seats_not_back(scene: Scene) -> Iterator[Finding]:
    """Levels below their nominal limit that need the seats and have needed them for longer than a period of 10 s."""
    for name, places in by_level(scene).items():
        found = sorted(
            ((one, due) for one in places if (due := _due(scene, one)) is not None),
            key=lambda pair: -hurt(pair[0]),
        )
        if not found:
            continue
        where = [place for place, _ in found]
        level, due = where[0].level, found[0][1]
        yield Finding(
            code="lent-seats-not-back",
            severity="warning",
            subject=name,
            title=f"{plain(name)} {on(where)} does not get its lent seats back: "
            f"{counted(level.current, 'nominal seat', whole(level.nominal))}, {_need(level)}",
            replicas=replicas(where),
            level=name,
            evidence=few([f"{plain(place.replica.name)}: {doing(place)}; {one.why}" for place, one in found]),
            advice=(
                "look at the log of that API server for its priority-and-fairness controller: its adjustments, one "
                "each 10 s, do not take effect; a restart of the server brings them back",
                "no change of the policy helps; lendablePercent 0 would only hide it",
            ),
            facts={
                "current": level.current,
                "nominal": level.nominal,
                "due": due.seats,
                "waiting": level.waiting,
                "seats_in_use": level.seats_in_use,
            },
            weight=sum(map(hurt, where)),
        )


def over_limit(scene: Scene) -> Iterator[Finding]:
    """Levels with more seats in use than their current limit, for much of the window and now (1.26 to 1.37)."""
    for name, places in by_level(scene).items():
        found = sorted((one for one in places if _over(one.level)), key=lambda one: -_over_share(one.level))
        if not found:
            continue
        level = found[0].level
        facts: dict[str, Fact] = {
            "seats_in_use": level.seats_in_use,
            "current": level.current,
            "nominal": level.nominal,
            "over_share": _over_share(level),
            "widest": _widest(found[0]),
        }
        yield Finding(
            code="over-limit",
            severity="info",
            subject=name,
            title=f"{plain(name)} {on(found)} uses more seats than its limit: {whole(level.seats_in_use)} of "
            f"{whole(level.current)}, above it for {percent(_over_share(level))} of the time",
            replicas=replicas(found),
            level=name,
            evidence=few([_over_told(one) for one in found]),
            advice=(
                "wait: no more is started until it is below its limit again; nothing to change unless it lasts",
                "if one request is wider than the limit: narrow it (pages, resourceVersion=0), or give the level more "
                "shares",
            ),
            facts=facts,
            weight=sum(map(hurt, found)),
        )


FINDERS: tuple[Finder, ...] = (borrowing_limit, lent_seats_not_back, over_limit, *adjustments.FINDERS)


@dataclass(frozen=True, slots=True)
class _More:
    """A higher borrowing limit for one level."""

    advice: str
    evidence: str
    change: Change | None
    facts: dict[str, Fact]


@dataclass(frozen=True, slots=True)
class _Due:
    """Seats that a level is due, and how that is known."""

    seats: float
    why: str


def _need(level: Level) -> str:
    if level.waiting:
        return wait(level.waiting)
    refused = None if level.pace is None else level.pace.counts.rejected_total
    return f"{whole(refused)} {'was' if refused == 1 else 'were'} refused"


def _at_its_end(place: Place) -> bool:
    level, terms = place.level, rules().findings.alerts
    if level.exempt or level.quiescing or not level.upper or level.current is None or level.current < level.upper:
        return False
    reach, used, full = _reachable(place), limited_share(place.replica), level.utilization
    if reach is None or reach < level.current + 1 or used is None or used >= terms.server_spare_below:
        return False
    if not in_need(level, rules().findings.limits.least_requests) or full is None or full.lifetime:
        return False
    lasted = full.seconds >= rules().findings.limits.least_s
    return lasted and full.gt_99 is not None and full.gt_99 >= terms.borrowing_full_share


def _reachable(place: Place) -> float | None:
    """The seats that the level could have without a borrowing limit: what the others' lower limits leave."""
    replica, level = place.replica, place.level
    if replica.nominal_sum is None or replica.lower_sum is None or level.lower is None:
        return None
    return replica.nominal_sum - (replica.lower_sum - level.lower)


def _end(place: Place) -> str:
    level, full = place.level, place.level.utilization
    time = f", all taken for {percent(full.gt_99)} of {span(full.seconds)}" if full is not None else ""
    allowed = "" if level.config is None else f" (borrowingLimitPercent {level.config.borrowing_limit_percent})"
    return (
        f"{plain(place.replica.name)}: limit {whole(level.current)} = nominal {whole(level.nominal)} and all it may "
        f"borrow{allowed}; {doing(place)}{time}; up to {whole(_reachable(place))} could be had, and all levels "
        f"together use {percent(limited_share(place.replica))} of {whole(place.replica.nominal_sum)} seats"
    )


def _more(place: Place) -> _More | None:
    """As much more as its requests want now and others can leave; None without its object or nominal seats."""
    level, reach = place.level, _reachable(place)
    config = level.config
    if config is None or config.borrowing_limit_percent is None or not level.nominal or reach is None:
        return None
    terms = rules().findings.limits
    step = terms.percent_step
    wants = (level.seats_in_use or 0.0) + (level.waiting_seats or level.waiting or 0.0)
    # What was refused does not wait: it shows in the load alone.
    offered = level.load.demand if level.load is not None and level.load.demand is not None else 0.0
    wanted = min(reach, max(wants, offered, (level.upper or 0.0) * terms.least_raise))
    share = math.ceil(100 * (wanted - level.nominal) / level.nominal / step) * step
    share = max(share, config.borrowing_limit_percent + step)
    upper = level.nominal + half_away(level.nominal * share / 100)
    text = f"borrowingLimitPercent of {plain(config.name)} {config.borrowing_limit_percent} -> {share}"
    unset = level.nominal + place.replica.server_concurrency if place.replica.server_concurrency is not None else None
    return _More(
        f"{text}: on {plain(place.replica.name)} its upper limit goes from {whole(level.upper)} to {whole(upper)}; or "
        f"unset it, which is no limit (upper {whole(unset)}, of which {whole(reach)} can be had)",
        f"with the change {plain(config.name)} keeps nominal {whole(level.nominal)} and lower {whole(level.lower)}, "
        f"upper {whole(level.upper)} -> {whole(upper)}; other levels keep all their limits",
        level_change(config, text, borrowing_limit_percent=share),
        {"percent_after": share, "upper_after": upper, "upper_unset": unset},
    )


def _due(scene: Scene, place: Place) -> _Due | None:
    """The seats that a level is kept from; None where it is not, or what keeps them has a finding of its own."""
    replica, level = place.replica, place.level
    if level.exempt or level.quiescing or level.current is None or level.nominal is None:
        return None
    if level.current >= level.nominal or not in_need(level, rules().findings.limits.least_requests):
        return None
    if adjustments.frozen_by(replica) is not None or adjustments.squeeze(replica) is not None:
        return None
    checks = _checks(scene, place)
    check = next((one for one in checks if one.law == "current-limit"), None)
    mixed = any(one.verdict == "off" and one.law in rules().findings.doubt.grave for one in checks)
    if mixed or (check is not None and check.verdict == "ok"):
        return None
    if check is not None and check.verdict == "off":
        due = check.expected[0] if check.expected is not None else None
        if due is None or due <= level.current:
            return None
        return _Due(due, f"by the demands that the server tells, its last adjustment gives it {whole(due)} seats")
    return _demanded(place.level) or _asked(place)


def _demanded(level: Level) -> _Due | None:
    """What the last adjustment owes a level by its own demand, where it was full for longer than one period.

    An adjustment gives a level at least what it asked for at most in the period before, up to its nominal limit (1.26
    to 1.37). Its smoothed demand is as high where that was for more than an instant. A level that became full within
    the period may be read just between its new demand and its new limit.
    """
    demand, full, terms = level.demand, level.utilization, rules()
    if demand is None or demand.high_watermark is None or demand.smoothed is None:
        return None
    if full is None or full.lifetime or full.gt_99 is None or level.current is None:
        return None
    due = min(level.nominal or 0.0, demand.high_watermark, demand.smoothed)
    if due <= level.current + terms.findings.limits.tolerance_seats:
        return None
    if full.gt_99 * full.seconds <= terms.check.current.period_s:
        return None
    return _Due(
        due,
        f"its server tells a demand of up to {whole(demand.high_watermark)} seats in the last period "
        f"({whole(demand.smoothed)} smoothed), of which it is due {whole(due)}; all its seats were taken for "
        f"{span(full.gt_99 * full.seconds)}: more than one adjustment",
    )


def _asked(place: Place) -> _Due | None:
    """Whether its requests have asked for all its nominal seats for longer than the period, by the dump.

    An adjustment leaves a level what it used at most in the period before, up to its nominal limit (1.26 to 1.37).
    """
    replica, nominal = place.replica, place.level.nominal or 0.0
    at, dumped = replica.samples.get("metrics"), replica.samples.get("dump_requests")
    if at is None or dumped is None or at.time is None or dumped.time is None or replica.clock.tolerance_s is None:
        return None
    age = rules().check.current.period_s + replica.clock.tolerance_s + max(0.0, dumped.time - at.time)
    seats = sum(row.width for row in rows(place) if row.age_s is not None and row.age_s >= age)
    if seats < nominal:
        return None
    return _Due(nominal, f"requests that came {span(age)} ago and longer want {seats} seats: more than one adjustment")


def _checks(scene: Scene, place: Place) -> tuple[Check, ...]:
    """What was checked of a level and of its server."""
    checks = scene.checks.get(place.replica.name)
    if checks is None:
        return ()
    level = checks.levels.get(place.level.name)
    return (*checks.checks, *(level.checks if level is not None else ()))


def _over(level: Level) -> bool:
    full = level.utilization
    if level.exempt or level.quiescing or not level.current or level.seats_in_use is None or full is None:
        return False
    lasted = full.seconds >= rules().findings.limits.least_s and over(level, rules().findings.alerts.over_share)
    return bool(lasted) and level.seats_in_use > level.current


def _over_share(level: Level) -> float:
    full = level.utilization
    return full.gt_1 if full is not None and full.gt_1 is not None else 0.0


def _widest(place: Place) -> int | None:
    return max((row.width for row in rows(place) if row.executing), default=None)


def _over_told(place: Place) -> str:
    """The numbers of one server, with what explains them as far as that shows."""
    level, full, widest = place.level, place.level.utilization, _widest(place)
    window = span(full.seconds) if full is not None else "-"
    told = f"{plain(place.replica.name)}: {doing(place)}; above its limit for {percent(_over_share(level))} of {window}"
    held = sum(row.width for row in rows(place) if row.executing)
    if widest is None or level.current is None or level.seats_in_use is None:
        return f"{told}; the dump shows no request that executes there"
    if widest > level.current:
        return f"{told}; one request of {widest} seats is wider than the limit: it was let in alone"
    if held <= level.current < level.seats_in_use:
        lingering = whole(level.seats_in_use - held)
        return f"{told}; requests hold {held} seats and {lingering} linger after writes that many watch"
    return f"{told}; the limit fell below what was in use, and nothing is taken back from what executes"
