"""Adjustments of all limits of a server that fail, or that leave the limited levels short of seats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from apftop.apf.borrowing import EXEMPT_SERVED_FIRST_SINCE
from apftop.apf.demand import NAN_COUNTS_AS_ZERO_SINCE
from apftop.apf.objects import EXEMPT
from apftop.apf.release import Release, holds, parse_release
from apftop.findings.changes.patches import level_change
from apftop.findings.changes.resharing import resharing
from apftop.findings.scene import Finder, Place, Scene, rows, servers
from apftop.findings.words.callers import behind
from apftop.findings.words.listing import few, hurt, in_need, restart
from apftop.present import plain, rate, whole
from apftop.records.findings import Change, Finding
from apftop.records.frame import Level, Replica
from apftop.rules import rules

Frozen = Literal["nan-demand", "allocation-fails"]
TOLERANCE = 1e-7
"""By so much may the upper limits fall short of the seats to share out (1.26 to 1.37)."""


@dataclass(frozen=True, slots=True)
class Squeeze:
    """One server whose exempt level leaves the others no more than they must have; `hit` are levels in need of more."""

    replica: Replica
    taken: float
    hit: tuple[Place, ...]


def frozen_by(replica: Replica) -> Frozen | None:
    """Why the limits of a server stay as they are; None where they move, or nothing tells that they do not.

    A demand that is no number makes every adjustment fail (up to 1.26.12, 1.27.9, 1.28.5). Since 1.31 the exempt
    level's nominal seats are shared out among the others, which fails where their upper limits sum to less.
    """
    if replica.borrowing == "frozen":
        return "nan-demand"
    limited = _limited(replica)
    if not _exempt_first(replica) or replica.fair_frac != 0 or replica.nominal_sum is None:
        return None
    if any(one.upper is None for one in limited) or _short_of_seats(replica) is not False:
        return None
    uppers = sum(one.upper or 0.0 for one in limited)
    return "allocation-fails" if uppers < replica.nominal_sum - TOLERANCE else None


def squeeze(replica: Replica) -> Squeeze | None:
    """How exempt use presses the limited levels of a server; None where it does not, or no level needs what it lost.

    Since 1.31 exempt has what it used at most in the last period. Where the rest is no more than the others used of
    their nominal seats, they fall to their lower limits or near them, and the fair fraction is 0.
    """
    exempt = replica.levels.get(EXEMPT)
    if not _exempt_first(replica) or replica.fair_frac != 0 or not _short_of_seats(replica):
        return None
    if exempt is None or not exempt.current:
        return None
    hit = [Place(replica, one) for one in _limited(replica) if _is_hit(one)]
    return Squeeze(replica, exempt.current, tuple(sorted(hit, key=hurt, reverse=True))) if hit else None


def _is_hit(level: Level) -> bool:
    """Whether a level that has lost nominal seats needs more than it has."""
    if level.quiescing or level.current is None or level.limit_delta is None or level.limit_delta >= 0:
        return False
    wants = (level.seats_in_use or 0.0) + (level.waiting or 0.0)
    return wants > level.current and in_need(level, rules().findings.limits.least_requests)


def _limited(replica: Replica) -> tuple[Level, ...]:
    return tuple(one for one in replica.levels.values() if one.state != "stale" and not one.exempt)


def _short_of_seats(replica: Replica) -> bool | None:
    """Whether the limits are those of a server on which exempt use leaves too little; None where some are not known.

    Then all levels have their lower limits, or all have between these and the nominal ones, with the sum that is left
    (since 1.31).
    """
    exempt, limited = replica.levels.get(EXEMPT), _limited(replica)
    if exempt is None or exempt.current is None or replica.nominal_sum is None:
        return None
    seats = [(one.lower, one.current, one.nominal) for one in limited]
    known = [(low, now, most) for low, now, most in seats if low is not None and now is not None and most is not None]
    if len(known) < len(seats):
        return None
    left = replica.nominal_sum - exempt.current
    if left <= sum(low for low, _, _ in known):
        return all(now == low for low, now, _ in known)
    # Each is rounded on its own.
    shared = abs(sum(now for _, now, _ in known) - left) <= len(known) / 2
    return shared and all(low <= now <= most for low, now, most in known)


def borrowing_frozen(scene: Scene) -> Iterator[Finding]:
    """Servers on which no adjustment succeeds: limits stay, and nobody lends or borrows any more."""
    for cause in ("nan-demand", "allocation-fails"):
        found = sorted(
            (one for one in servers(scene) if frozen_by(one) == cause),
            key=lambda one: (-(one.unassigned_seats or 0.0), one.name),
        )
        if not found:
            continue
        worst = found[0]
        spare = worst.unassigned_seats
        where = plain(worst.name) if len(found) == 1 else f"{len(found)} servers"
        lost = f"; {whole(spare)} of {whole(worst.nominal_sum)} seats are nobody's" if spare and spare > 0 else ""
        advice, change = _thaw(found) if cause == "nan-demand" else _feasible(worst)
        yield Finding(
            code="borrowing-frozen",
            severity="warning",
            subject=worst.name if len(found) == 1 else "cluster",
            title=f"borrowing is frozen on {where}: {_why(worst)}{lost}",
            replicas=tuple(one.name for one in found),
            evidence=(*few([_stands(one) for one in found]), *_beside(scene, worst)),
            advice=advice,
            change=change,
            facts={
                "cause": cause,
                "nan_levels": list(worst.nan_levels),
                "fair_frac": worst.fair_frac,
                "unassigned_seats": spare,
                "nominal_sum": worst.nominal_sum,
                "current": {name: one.current for name, one in worst.levels.items() if one.state != "stale"},
            },
            weight=sum(hurt(Place(one, level)) for one in found for level in one.levels.values()),
        )


def exempt_squeezes(scene: Scene) -> Iterator[Finding]:
    """Servers on which exempt use takes the seats of levels that need them (since 1.31)."""
    found = sorted(
        (one for replica in servers(scene) if (one := squeeze(replica)) is not None),
        key=lambda one: -sum(map(hurt, one.hit)),
    )
    if not found:
        return
    worst = found[0]
    hit = worst.hit[0]
    protected = [p for one in found for p in one.hit if p.level.name in rules().findings.alerts.protected]
    where = plain(worst.replica.name) if len(found) == 1 else f"{len(found)} servers"
    change, evidence, advice = _kept_whole(hit)
    yield Finding(
        code="exempt-squeezes",
        severity="critical" if protected else "warning",
        subject=EXEMPT,
        title=f"exempt requests squeeze other levels on {where}: they took up to {whole(worst.taken)} of "
        f"{whole(worst.replica.nominal_sum)} seats, and {plain(hit.level.name)} has {whole(hit.level.current)} of its "
        f"{whole(hit.level.nominal)}",
        replicas=tuple(one.replica.name for one in found),
        level=EXEMPT,
        evidence=(
            *few([_pressed(one) for one in found]),
            *few([_short(place) for place in worst.hit], "levels"),
            *_who(scene, worst.replica),
            *evidence,
        ),
        advice=(
            *advice,
            "then find who is exempt and need not be: members of system:masters, and flow schemas that lead to exempt; "
            "limits do not hold exempt requests back",
        ),
        change=change,
        facts={
            "exempt_seats": worst.taken,
            "exempt_seats_in_use": worst.replica.levels[EXEMPT].seats_in_use,
            "nominal_sum": worst.replica.nominal_sum,
            "fair_frac": worst.replica.fair_frac,
            "levels": {p.level.name: {"current": p.level.current, "nominal": p.level.nominal} for p in worst.hit},
        },
        weight=sum(hurt(place) for one in found for place in one.hit),
    )


FINDERS: tuple[Finder, ...] = (borrowing_frozen, exempt_squeezes)


def _release(replica: Replica) -> Release | None:
    return parse_release(replica.version or "")


def _exempt_first(replica: Replica) -> bool:
    release = _release(replica)
    return release is not None and holds(release, EXEMPT_SERVED_FIRST_SINCE)


def _why(replica: Replica) -> str:
    if replica.nan_levels:
        names = ", ".join(few([plain(name) for name in replica.nan_levels], "levels"))
        return f"the demand of {names} is no number (NaN)"
    return "every adjustment fails, since the upper limits sum to less than the nominal ones"


def _stands(replica: Replica) -> str:
    fair = "unknown" if replica.fair_frac is None else f"{replica.fair_frac:g}"
    sums = f"current limits sum to {whole(replica.current_sum)} of {whole(replica.nominal_sum)} nominal seats"
    version = plain(replica.version or "release unknown")
    return f"{plain(replica.name)} ({version}): {_why(replica)}; fair fraction {fair}; {sums}"


def _beside(scene: Scene, frozen: Replica) -> Iterator[str]:
    """Where limits differ most from those of a server on which they move, with the same nominal seats."""
    differ: dict[str, dict[str, tuple[float, float]]] = {}
    for other in servers(scene):
        if other.name != frozen.name and frozen_by(other) is None:
            differ[other.name] = {
                name: (level.current, twin.current)
                for name, level in frozen.levels.items()
                if (twin := other.levels.get(name)) is not None and not twin.exempt and level.nominal == twin.nominal
                if level.current is not None and twin.current is not None and level.current != twin.current
            }
    if not any(differ.values()):
        return
    name = max(differ, key=lambda one: sum(abs(here - there) for here, there in differ[one].values()))
    pairs = sorted(differ[name].items(), key=lambda pair: -abs(pair[1][0] - pair[1][1]))
    told = few([f"{plain(level)} {whole(here)} and {whole(there)}" for level, (here, there) in pairs], "levels")
    yield f"current limits on {plain(frozen.name)} and {plain(name)}, with the same nominal ones: {', '.join(told)}"


def _thaw(found: Sequence[Replica]) -> tuple[tuple[str, ...], None]:
    """Only a restart brings a number back; no change of policy does."""
    fixes = dict.fromkeys(fix for one in found if (fix := _fixed_in(_release(one))) is not None)
    upgrade = f"upgrade to {' or '.join(fixes)}, where it is fixed" if fixes else "report it: this release has the fix"
    return (
        f"{restart([one.name for one in found])}: the number comes back in no other way",
        f"{upgrade}; until then it may come again",
    ), None


def _fixed_in(release: Release | None) -> str | None:
    """The first release of the same minor that has the fix, or the first minor that has; None for one that has it."""
    if release is not None and holds(release, NAN_COUNTS_AS_ZERO_SINCE):
        return None
    firsts = [one.split()[0].removeprefix(">=") for one in NAN_COUNTS_AS_ZERO_SINCE]
    same = [one for one in firsts if release is not None and (first := parse_release(one)) and first[:2] == release[:2]]
    return same[0] if same else firsts[-1]


def _feasible(replica: Replica) -> tuple[tuple[str, ...], Change | None]:
    """Without shares of its own the exempt level adds no seats that nobody may take."""
    config = replica.levels[EXEMPT].config
    if config is None or not config.shares:
        return ("raise or unset a borrowingLimitPercent: the upper limits must sum to at least the nominal ones",), None
    text = f"nominalConcurrencyShares of {EXEMPT} {config.shares} -> 0"
    made = resharing(replica, replace(config, shares=0))
    limits = f" ({made.text})" if made is not None else ""
    return (
        f"{text}: its requests are served first all the same, and limits move again{limits}",
        "or unset the borrowingLimitPercent of one level, so that the upper limits sum to more than the nominal ones",
    ), level_change(config, text, shares=0)


def _pressed(one: Squeeze) -> str:
    exempt = one.replica.levels[EXEMPT]
    return (
        f"{plain(one.replica.name)}: exempt took up to {whole(one.taken)} of {whole(one.replica.nominal_sum)} seats in "
        f"the last period of 10 s ({whole(exempt.seats_in_use)} now, {rate(exempt.dispatched_per_s)}/s dispatched), "
        "fair fraction 0"
    )


def _short(place: Place) -> str:
    level = place.level
    refused = None if level.pace is None else level.pace.rejected_per_s
    return (
        f"{plain(level.name)} on {plain(place.replica.name)}: {whole(level.current)} of {whole(level.nominal)} nominal "
        f"seats, lower limit {whole(level.lower)}; {whole(level.waiting)} wait, {rate(refused)}/s refused"
    )


def _who(scene: Scene, replica: Replica) -> Iterator[str]:
    """Who holds most exempt seats, by the dump."""
    seats: dict[str, int] = {}
    for row in rows(Place(replica, replica.levels[EXEMPT])):
        if row.executing and row.user is not None:
            seats[row.user] = seats.get(row.user, 0) + row.width
    if seats:
        user = max(seats, key=lambda one: (seats[one], one))
        yield f"most exempt seats by {plain(user)}: {seats[user]} of {sum(seats.values())} in the dump"
        yield from behind(scene, user)


def _kept_whole(hit: Place) -> tuple[Change | None, tuple[str, ...], tuple[str, ...]]:
    """The level that is hit most, without seats to lend: then its lower limit is its nominal one."""
    config = hit.level.config
    if config is None or not config.lendable_percent:
        return None, (), ()
    text = f"lendablePercent of {plain(config.name)} {config.lendable_percent} -> 0"
    change = level_change(config, text, lendable_percent=0)
    made = resharing(hit.replica, replace(config, lendable_percent=0))
    told = () if made is None else (f"with the change {made.text}",)
    return change, told, (f"{text}: exempt requests cannot press it below its nominal seats then",)
