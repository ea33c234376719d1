"""Levels that are saturated: by whom, and why demand rose; execution that became slow; clients that retry at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from apftop.findings.saturation.demand import Split, baseline, split, times, words
from apftop.findings.saturation.pressure import full, full_share, hurts, judged, mean_wait_s, on_arrival, refuses
from apftop.findings.saturation.relief import RETRIES, relief, server_full
from apftop.findings.saturation.slow import slow_execution
from apftop.findings.saturation.who import Who, crowd, lines, share, who
from apftop.findings.scene import Finder, Place, Scene, by_level, rows
from apftop.findings.words.told import counted, wait
from apftop.present import interval, percent, plain, rate, seconds, whole
from apftop.records.findings import Fact, Finding, Severity
from apftop.records.frame import Level, Recent
from apftop.rules import rules

MOST = 5
STORM = "clients try again at once, or ask for far more than usual"
STORM_OR_FLOOD = "clients try again at once, or there are far too many of them"


def level_saturated(scene: Scene) -> Iterator[Finding]:
    """All seats of a level are taken, and requests wait for them or are refused."""
    for name, of in by_level(scene).items():
        there = sorted((one for one in of if _saturated(one.level)), key=heat, reverse=True)
        if there:
            yield _saturation(scene, name, there)


def retry_storm(scene: Scene) -> Iterator[Finding]:
    """Most of what arrives is refused, and more arrives than usual: clients try again at once."""
    for name, of in by_level(scene).items():
        there = sorted((one for one in of if _storms(scene, one)), key=heat, reverse=True)
        if there:
            yield _storm(scene, name, there)


def heat(place: Place) -> float:
    """How much a level hurts: requests that wait, and that are refused a second."""
    return (place.level.waiting or 0.0) + (place.level.rejected_per_s or 0.0)


def _saturated(level: Level) -> bool:
    return judged(level) and not level.exempt and full(level) and hurts(level)


def _saturation(scene: Scene, name: str, there: Sequence[Place]) -> Finding:
    worst = there[0]
    inside, compared = crowd(worst), split(scene, worst)
    help_ = relief(scene, worst, inside, compared)
    told = [_line(place) for place in there[:MOST]]
    if len(there) > MOST:
        told.append(f"{len(there) - MOST} more servers")
    told += _arithmetic(worst.level)
    told += (
        words(compared)
        if compared is not None
        else ["no earlier time to compare with: the cause of the rise is not known"]
    )
    told += lines(scene, inside) if inside is not None else [_nobody(worst)]
    return Finding(
        code="level-saturated",
        severity=_severity(name, there),
        subject=name,
        title=_title(there, inside),
        replicas=tuple(place.replica.name for place in there),
        level=name,
        schema=inside.schema if inside is not None else "",
        evidence=tuple(told),
        advice=help_.advice,
        change=help_.change,
        facts=_facts(worst, inside, compared) | {"cause": help_.cause, "server_full": server_full(worst)},
        weight=sum(map(heat, there)),
    )


def _nobody(place: Place) -> str:
    if place.replica.requests is None:
        return "no dump of requests: who is in the level is not known"
    if rows(place):
        return "too few requests were in the level at the moment of the dump: who fills it is not known"
    return "nobody was in the level at the moment of the dump"


def _severity(name: str, there: Sequence[Place]) -> Severity:
    refused = any(refuses(place.level.window, place.level.counts) for place in there)
    return "critical" if name in rules().findings.load.protected and refused else "warning"


def _title(there: Sequence[Place], inside: Who | None) -> str:
    level = there[0].level
    where = f"{plain(level.name)} on {_servers(there)}"
    client = inside.client if inside is not None else None
    by = f"; mostly {plain(client.name)}" if client is not None and client.name else ""
    if _full_at_moments(level):
        return f"{where} was full at moments: {_refusals(level)}{by}"
    parts, share_of_time = [], full_share(level)
    if level.current and level.seats_in_use is not None and level.seats_in_use >= level.current:
        parts.append(counted(level.seats_in_use, "seat", whole(level.current)))
    elif share_of_time and level.utilization is not None:
        parts.append(f"all seats taken for {percent(share_of_time)} of {seconds(level.utilization.seconds)}")
    if level.waiting:
        parts.append(wait(level.waiting))
    if level.rejected_per_s:
        parts.append(f"{rate(level.rejected_per_s)}/s refused")
    return f"{where} is full: {', '.join(parts)}{by}"


def _full_at_moments(level: Level) -> bool:
    """Whether only refusals on arrival tell that a level was full: now seats are free, and nothing waits."""
    share_of_time = full_share(level)
    if level.waiting or level.current is None or level.seats_in_use is None or level.seats_in_use >= level.current:
        return False
    return share_of_time is None or share_of_time < rules().state.saturated_share_of_time


def _refusals(level: Level) -> str:
    over = f" over {seconds(level.window.seconds)}" if level.window is not None else ""
    now = f"{counted(level.seats_in_use, 'seat', whole(level.current))} in use now"
    return f"{rate(level.rejected_per_s)}/s refused{over}, {now}"


def _servers(there: Sequence[Place]) -> str:
    first = plain(there[0].replica.name)
    return first if len(there) == 1 else f"{first} and {len(there) - 1} more"


def _line(place: Place) -> str:
    level = place.level
    seats = f"{whole(level.seats_in_use)} of {whole(level.current)} seats in use (nominal {whole(level.nominal)}"
    seats += f", {whole(level.borrowed)} borrowed)" if level.borrowed else ")"
    parts = [seats]
    share_of_time = full_share(level)
    if share_of_time is not None and level.utilization is not None:
        parts.append(f"all taken for {percent(share_of_time)} of {seconds(level.utilization.seconds)}")
    if level.waiting is not None:
        parts.append(f"{whole(level.waiting)} waiting")
    if level.counts is not None and level.window is not None:
        over = f"over {seconds(level.window.seconds)}"
        reasons = ", ".join(f"{plain(one)} {rate(level.window.per_s(n))}/s" for one, n in level.counts.rejected.items())
        parts.append(f"dispatched {rate(level.dispatched_per_s)}/s {over}")
        parts.append(f"refused {reasons} {over}" if reasons else f"none refused {over}")
    if level.waits is not None and level.waits.p99 is not None:
        parts.append(f"wait p99 {interval(level.waits.p99)}")
    return f"{plain(place.replica.name)}: {'; '.join(parts)}"


def _arithmetic(level: Level) -> list[str]:
    """What the queue alone makes of the wait, by Little's law, beside what was seen."""
    expected = _expected_s(level)
    if expected is None or level.pace is None:
        return []
    seen = mean_wait_s(level.waits)
    beside = ""
    if seen and level.window is not None:
        least = "at least " if level.waits is not None and level.waits.mean_s is None else ""
        beside = f"; the mean was {least}{seconds(seen)} over {seconds(level.window.seconds)}"
    speed = f"{rate(level.pace.dispatched_per_s)} dispatched per s over {seconds(level.pace.window.seconds)}"
    return [f"{whole(level.waiting)} waiting / {speed} = {seconds(expected)} wait expected{beside}"]


def _expected_s(level: Level) -> float | None:
    pace: Recent | None = level.pace
    if pace is None or not level.waiting or pace.dispatched_per_s <= 0:
        return None
    return level.waiting / pace.dispatched_per_s


def _facts(place: Place, inside: Who | None, compared: Split | None) -> dict[str, Fact]:
    level = place.level
    client = inside.clients[0] if inside is not None else None
    kind = inside.kinds[0] if inside is not None else None
    rejected = level.counts.rejected if level.counts is not None and level.window is not None else {}
    return {
        "worst": place.replica.name,
        "seats_in_use": level.seats_in_use,
        "current": level.current,
        "nominal": level.nominal,
        "borrowed": level.borrowed,
        "full": full_share(level),
        "waiting": level.waiting,
        "dispatched_per_s": level.dispatched_per_s,
        "refused_per_s": {reason: level.window.per_s(n) for reason, n in rejected.items()} if level.window else {},
        "wait_expected_s": _expected_s(level),
        "client": client.name if client is not None else None,
        "client_share_of_queue": client.of_waiting if client is not None else None,
        "client_share_of_seats": client.of_seats if client is not None else None,
        "kind": kind.name if kind is not None else None,
        "arrivals_factor": compared.arrivals if compared is not None else None,
        "width_factor": compared.width if compared is not None else None,
        "execution_factor": compared.execution if compared is not None else None,
        "baseline": compared.baseline.source if compared is not None else None,
    }


def _storms(scene: Scene, place: Place) -> bool:
    level, limits = place.level, rules().findings.load
    if not judged(level) or level.exempt or level.counts is None or not refuses(level.window, level.counts):
        return False
    share_of_all = level.counts.refused_share
    if share_of_all is None or share_of_all <= limits.storm_share or (level.rejected_per_s or 0.0) < limits.storm_per_s:
        return False
    compared = split(scene, place)
    if compared is None or compared.arrivals is None:
        # Those who time out come again after seconds: without a look at earlier arrivals they are no storm.
        return on_arrival(level.counts) > limits.storm_share * level.counts.arrivals
    return compared.arrivals >= limits.storm_rise


def _storm(scene: Scene, name: str, there: Sequence[Place]) -> Finding:
    worst = there[0]
    level, usual = worst.level, baseline(scene, worst)
    share_of_all = level.counts.refused_share if level.counts is not None else None
    compared = split(scene, worst)
    factor = compared.arrivals if compared is not None else None
    tries = 1 / (1 - share_of_all) if share_of_all is not None and share_of_all < 1 else None
    told = [_storm_line(place) for place in there[:MOST]]
    if len(there) > MOST:
        told.append(f"{len(there) - MOST} more servers")
    if tries is not None:
        told.append(f"{rate(tries)} requests come for each one that starts")
    if usual is not None and factor is not None and level.load is not None:
        told.append(
            f"arrivals {rate(usual.load.arrivals_per_s)}/s -> {rate(level.load.arrivals_per_s)}/s ({times(factor)}), "
            f"against {usual.source}"
        )
    else:
        told.append("what came before is not known: whether it is more than usual cannot be told")
    suspects = _suspects(scene, worst)
    told += suspects or ["a refused request is in no dump: which client it is, audit logs or the servers' log tell"]
    return Finding(
        code="retry-storm",
        severity="warning",
        subject=name,
        title=f"{plain(name)} on {_servers(there)}: {percent(share_of_all)} of requests refused, "
        f"{rate(level.rejected_per_s)}/s; {STORM if factor is not None else STORM_OR_FLOOD}",
        replicas=tuple(place.replica.name for place in there),
        level=name,
        evidence=tuple(told),
        advice=RETRIES,
        facts={
            "worst": worst.replica.name,
            "refused_share": share_of_all,
            "refused_per_s": level.rejected_per_s,
            "arrivals_per_s": level.load.arrivals_per_s if level.load is not None else None,
            "usual_arrivals_per_s": usual.load.arrivals_per_s if usual is not None else None,
            "arrivals_factor": factor,
        },
        weight=sum(map(heat, there)),
    )


def _storm_line(place: Place) -> str:
    level = place.level
    share_of_all = level.counts.refused_share if level.counts is not None else None
    over = f" over {seconds(level.window.seconds)}" if level.window is not None else ""
    return (
        f"{plain(place.replica.name)}: {percent(share_of_all)} refused, {rate(level.rejected_per_s)}/s refused and "
        f"{rate(level.dispatched_per_s)}/s dispatched{over}"
    )


def _suspects(scene: Scene, place: Place) -> list[str]:
    """Who is refused, by the logs; else who waits, since those that are refused are in no dump."""
    refused = sorted((one for one in scene.logs.callers if one.refused), key=lambda one: -one.refused)
    of = [one for one in refused if one.level in ("", place.level.name)]
    if of:
        return [
            f"by the logs: {plain(one.user) or 'a user'} ({plain(one.user_agent) or 'no user agent'} from "
            f"{plain(one.source)}): {one.refused} of {one.requests} refused"
            for one in of[:MOST]
        ]
    inside = who(place)
    if inside is None:
        return []
    return [f"waiting now: {plain(one.name) or '(no name)'}: {share(one)}" for one in inside.clients[:2]]


FINDERS: tuple[Finder, ...] = (level_saturated, slow_execution, retry_storm)
