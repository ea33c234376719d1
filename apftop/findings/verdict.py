"""What it is all about, in one word, with the reasons for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from apftop.findings.saturation.demand import Split, times
from apftop.findings.saturation.pressure import hurts, mean_wait_s
from apftop.findings.saturation.slow import risen, slow_places
from apftop.findings.scene import Place, Scene
from apftop.present import plain, rate, seconds, whole
from apftop.records.backend import Backend
from apftop.records.findings import Finding, Whole
from apftop.records.frame import Replica
from apftop.records.raw import DUMPS, Endpoint
from apftop.rules import rules

ORDER: tuple[Whole, ...] = ("apf", "backend-slow", "not-apf")
"""Of servers that hurt as much the first of these speaks for all."""

SAID = 3
INVERSION = "inversion"
REFUSED, TIMED_OUT = 429, 504


@dataclass(frozen=True, slots=True)
class Judgement:
    """One server: its verdict and why, and how much requests suffer there."""

    verdict: Whole
    why: tuple[str, ...]
    heat: float = 0.0


def verdict(scene: Scene, found: Sequence[Finding]) -> tuple[Whole, tuple[str, ...], Mapping[str, Whole]]:
    """The verdict of all servers, why, and that of each server.

    The server on which most requests suffer speaks for all. What clients do to themselves is told by their logs, and is
    the verdict where no server hurts.
    """
    slowed: dict[str, dict[str, Split]] = {}
    for place, compared in slow_places(scene):
        slowed.setdefault(place.replica.name, {})[place.level.name] = compared
    each = {one.name: _judged(one, slowed.get(one.name, {}), found) for one in scene.frame.servers}
    replicas = {name: one.verdict for name, one in each.items()}
    hurt = [one for one in each.values() if one.verdict in ORDER]
    if hurt:
        worst = max(hurt, key=lambda one: (one.heat, -ORDER.index(one.verdict)))
        rest = [line for one in hurt if one is not worst for line in one.why[:1]]
        return worst.verdict, (*worst.why, *rest, *_client(scene)), replicas
    if _client_waits(scene):
        return "client-side", (*_client(scene), *_calm(scene, each)), replicas
    quiet = any(one.verdict == "quiet" for one in each.values())
    return "quiet" if quiet else "unknown", _calm(scene, each), replicas


def _judged(replica: Replica, slowed: Mapping[str, Split], found: Sequence[Finding]) -> Judgement:
    """What the numbers of one server say, of which these levels became slow."""
    hurting = sorted(
        (Place(replica, level) for level in replica.levels.values() if hurts(level)), key=_heat, reverse=True
    )
    inverted = {one.level for one in found if INVERSION in one.code and replica.name in one.replicas}
    heat = sum(map(_heat, hurting))
    by_execution = [place for place in hurting if place.level.name in slowed and place.level.name not in inverted]
    if hurting and 2 * sum(map(_heat, by_execution)) <= heat and by_execution != hurting:
        return Judgement("apf", tuple(map(_told, hurting[:SAID])), heat)
    felt = any(
        one.code == "slow-execution" and one.severity != "info" and replica.name in one.replicas for one in found
    )
    if by_execution or (felt and slowed):
        lines = [
            f"execution in {plain(name)} on {plain(replica.name)} takes {seconds(one.now.execution_s)}, "
            f"{times(one.execution)} that of {one.baseline.source}; arrivals {times(one.arrivals)}"
            for name, one in slowed.items()
        ]
        behind = [f"{plain(replica.name)}: {one.told()}" for one in risen(replica)[:SAID]]
        return Judgement("backend-slow", (*lines[:SAID], *behind), heat)
    counted = any(one.counts is not None for one in replica.levels.values())
    if replica.own.rejected and not counted:
        level = plain(replica.own.level or "a level that is not known")
        line = f"{replica.own.rejected} of {replica.own.sent} of this tool's own requests were refused in {level}"
        return Judgement("apf", (f"{line} on {plain(replica.name)}",))
    others = _others(replica)
    if others:
        return Judgement("not-apf", others)
    missing = _missing(replica)
    return Judgement("unknown", (missing,)) if missing else Judgement("quiet", ())


def _heat(place: Place) -> float:
    return (place.level.waiting or 0.0) + (place.level.rejected_per_s or 0.0)


def _told(place: Place) -> str:
    level = place.level
    parts = [f"{whole(level.waiting)} wait"] if level.waiting else []
    if level.rejected_per_s and level.window is not None:
        parts.append(f"{rate(level.rejected_per_s)}/s refused over {seconds(level.window.seconds)}")
    wait = mean_wait_s(level.waits)
    if wait is not None and wait >= rules().findings.load.felt_s:
        least = "at least " if level.waits is not None and level.waits.mean_s is None else ""
        parts.append(f"the served waited {least}{seconds(wait)} on average")
    if level.inside is not None and level.inside.oldest_waiting_s is not None:
        parts.append(f"the oldest for {seconds(level.inside.oldest_waiting_s)}")
    return f"{plain(level.name)} on {plain(place.replica.name)}: {', '.join(parts)}"


def _others(replica: Replica) -> tuple[str, ...]:
    """Answers with 429 or 504 that flow control did not make, where they are many."""
    behind, limits = replica.backend, rules().findings.verdict
    if behind is None:
        return ()
    total = sum(behind.requests.values())
    refused, timed_out = behind.requests.get(REFUSED, 0.0), behind.terminations.get(TIMED_OUT, 0.0)
    other = refused - _by_flow_control(replica, behind)
    over = f"over {seconds(behind.window.seconds)}"
    found = []
    if other >= limits.other_least and other >= limits.other_share * refused and other > limits.other_of_all * total:
        first = max(behind.too_many.items(), key=lambda one: one[1], default=None)
        most = f"; most for {plain(first[0])}" if first is not None else ""
        found.append(
            f"{plain(replica.name)}: {whole(other)} of {whole(refused)} answers with 429 {over} "
            f"are not of flow control{most}"
        )
    if timed_out >= limits.other_least and timed_out > limits.other_of_all * total:
        found.append(f"{plain(replica.name)}: {whole(timed_out)} requests timed out with 504 {over}, and none waited")
    return tuple(found)


def _by_flow_control(replica: Replica, behind: Backend) -> float:
    """Refusals of flow control in the window: by the server's own endings of requests, or its counters of refusals."""
    rates = [one.rejected_per_s for one in replica.levels.values() if one.rejected_per_s]
    return max(behind.terminations.get(REFUSED, 0.0), sum(rates) * behind.window.seconds)


def _missing(replica: Replica) -> str:
    """What there would have to be to judge a server; empty where there is enough."""
    if replica.apf == "absent":
        return "flow control is off, or it is no API server"
    if replica.apf == "denied":
        return "neither metrics nor dumps may be read"
    if any(one.counts is not None for one in replica.levels.values()):
        return ""
    if not {Endpoint.METRICS, *DUMPS} & set(replica.samples):
        return "neither metrics nor dumps were read"
    waiting = sum(one.waiting or 0.0 for one in replica.levels.values() if one.state != "stale")
    now = f"; {whole(waiting)} requests wait now" if waiting else ""
    return f"no rates: they take two answers of metrics, or two dumps of priority levels{now}"


def _client_waits(scene: Scene) -> bool:
    log = scene.logs.client
    return log is not None and log.lines > 0 and log.max_wait_s >= rules().findings.verdict.client_wait_s


def _client(scene: Scene) -> tuple[str, ...]:
    log = scene.logs.client
    if log is None or not _client_waits(scene):
        return ()
    return (
        f"the client's own limiter made it wait: {log.lines} lines, {seconds(log.max_wait_s)} at most, "
        f"{seconds(log.sum_wait_s)} in all",
    )


def _calm(scene: Scene, each: Mapping[str, Judgement]) -> tuple[str, ...]:
    """Why nothing hurts, as far as is known."""
    quiet = [name for name, one in each.items() if one.verdict == "quiet"]
    told = []
    if quiet:
        told.append(f"on {_names(quiet)} flow control delays and refuses next to nothing{_over(scene, quiet)}")
    reasons = dict.fromkeys(line for one in each.values() for line in one.why)
    told += [f"{_names([name for name, one in each.items() if why in one.why])}: {why}" for why in reasons]
    if scene.frame.servers_hidden:
        told.append(f"{scene.frame.servers_hidden} more API servers are alive and not seen")
    return tuple(told) or ("no API server was read",)


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(plain, names[:SAID])) + (f" and {len(names) - SAID} more" if len(names) > SAID else "")


def _over(scene: Scene, names: Iterable[str]) -> str:
    spans = [one.seconds for name in names if (one := scene.frame.replicas[name].window) is not None]
    return f" over {seconds(min(spans))}" if spans else ""
