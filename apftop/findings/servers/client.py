"""Waits that the client makes itself, and the process that most refused requests come from, by the logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from apftop.apf.request_path import path_parts
from apftop.findings.scene import Finder, Scene, places, schemas, servers
from apftop.findings.words.callers import pod_at, processes
from apftop.findings.words.told import listed, most
from apftop.present import percent, plain, seconds, whole
from apftop.records.findings import Finding, Severity
from apftop.records.logs import OTHERS, Caller, ClientLog
from apftop.rules import rules

MOST_KINDS = 3
"""So many kinds of throttled requests are told."""


def client_throttling(scene: Scene) -> Iterator[Finding]:
    """The limiter in the client made its requests wait, before any server heard of them."""
    log = scene.logs.client
    if log is None or not (log.lines or log.given_up):
        return
    told = f"{whole(log.lines)} waits in its log, up to {seconds(log.max_wait_s)}" if log.lines else _given_up(log)
    yield Finding(
        "client-throttling",
        _severity(log),
        "client",
        f"the client's own limiter holds its requests back: {told}; that is not APF",
        evidence=tuple(_evidence(scene, log)),
        advice=tuple(_advice(scene, log)),
        facts={
            "lines": log.lines,
            "max_wait_s": log.max_wait_s,
            "sum_wait_s": log.sum_wait_s,
            "seconds": log.seconds,
            "given_up": log.given_up,
            "retries_after_429": sum(log.refused.values()),
        },
    )


def _given_up(log: ClientLog) -> str:
    return f"{whole(log.given_up)} given up before they were sent"


def _severity(log: ClientLog) -> Severity:
    least = rules().findings.client
    if any(wait >= least.lease_s for request, wait in log.longest.items() if _about(request) == "leases"):
        return "critical"
    often = log.lines >= least.lines and log.max_wait_s >= least.long_s
    return "warning" if often or log.max_wait_s >= least.alone_s or log.given_up >= least.lines else "info"


def _evidence(scene: Scene, log: ClientLog) -> Iterator[str]:
    if log.lines:
        over = f" over {seconds(log.seconds)}" if log.seconds else ""
        yield (
            f"at least {whole(log.lines)} waits{over}: {seconds(log.sum_wait_s)} in all, the longest "
            f"{seconds(log.max_wait_s)} (without -v=2 client-go tells one long wait in 10 s at most)"
        )
        yield from _kinds(log)
    if log.given_up:
        yield f"{_given_up(log)}: their deadlines would have passed in the limiter"
    names = {one.meta.uid: one.name for one in schemas(scene) if one.meta.uid}
    refused: dict[str, float] = {}
    for uid, number in log.refused.items():
        name = names.get(uid, uid) if uid else "none, so not APF's"
        refused[name] = refused.get(name, 0.0) + number
    if refused:
        yield f"besides, {whole(sum(refused.values()))} waits were for another try after a 429; schema: {most(refused)}"


def _kinds(log: ClientLog) -> Iterator[str]:
    """The kinds of requests that waited, longest wait first."""
    lines: dict[str, int] = {}
    longest: dict[str, float] = {}
    for request, number in log.requests.items():
        kind = _kind(request)
        lines[kind] = lines.get(kind, 0) + number
        longest[kind] = max(longest.get(kind, 0.0), log.longest.get(request, 0.0))
    ordered = sorted(lines, key=lambda kind: (-longest[kind], -lines[kind], kind))
    for kind in ordered[:MOST_KINDS]:
        yield f"{plain(kind, 120)}: {whole(lines[kind])} of these waits, the longest {seconds(longest[kind])}"
    if len(ordered) > MOST_KINDS:
        yield f"and {len(ordered) - MOST_KINDS} more kinds of requests"


def _kind(request: str) -> str:
    verb, _, path = request.partition(" ")
    about = path_parts(path)
    return f"{verb} {about.resource or path}{'/' + about.subresource if about.subresource else ''}"


def _about(request: str) -> str:
    return path_parts(request.partition(" ")[2]).resource


def _advice(scene: Scene, log: ClientLog) -> Iterator[str]:
    full = sorted({place.level.name for place in places(scene) if place.level.state in ("saturated", "blocked")})
    if full:
        yield f"first look at the servers: {listed(full)} {'is' if len(full) == 1 else 'are'} full as well"
    yield (
        "raise the client's own limit: --kube-api-qps and --kube-api-burst where it has them, else QPS and Burst of "
        "its rest.Config (5 and 10 in client-go, unless it sets them)"
    )
    if servers(scene) and not full:
        yield "QPS -1 switches the limiter off, which is right where APF guards the servers, as it does here"
    if any(_about(request) == "leases" for request in log.requests):
        yield "give leader election a client of its own, so that its leases never wait behind other requests"
    yield "or ask less often: read from an informer's cache, and list once instead of getting one by one"
    yield "no flow schema and no priority level changes any of this"


def refused_caller(scene: Scene) -> Iterator[Finding]:
    """One process got most of the answers 429, and others are in the log too."""
    callers = _telling(scene.logs.callers)
    found, least = processes(callers), rules().findings.client
    total = sum(one.refused for one in found)
    top = max(found, key=lambda one: one.refused, default=None)
    if top is None or top.user_agent == OTHERS or len(found) < 2:
        return
    if total < least.refused or top.refused < least.refused_share * total:
        return
    own = [one for one in callers if (one.user, one.user_agent, one.source) == (top.user, top.user_agent, top.source)]
    levels = {one.level for one in own if one.refused}
    level = levels.pop() if len(levels) == 1 else ""
    over = f" over {seconds(scene.logs.seconds)}" if scene.logs.seconds else ""
    share = percent(top.refused / total)
    evidence = [
        f"{whole(top.refused)} of {whole(total)} answers 429 in the log{over} ({share}); it sent "
        f"{whole(top.requests)} of {whole(sum(one.requests for one in found))} requests",
        f"it asks for: {most(_together(own))}",
    ]
    if top.user:
        evidence.append(f"it is {plain(top.user)}")
    where = pod_at(top.source)
    yield Finding(
        "refused-caller",
        "info",
        top.name,
        f"{top.name} got {share} of all answers 429 in the log",
        level=level,
        evidence=tuple(evidence),
        advice=(
            "look at this process first: it should ask less often, honour Retry-After, and wait longer each time",
            *((f"which pod that is (none if it is on a node's own network): {where}",) if where else ()),
        ),
        facts={
            "user": top.user or None,
            "user_agent": top.user_agent,
            "source": top.source,
            "requests": top.requests,
            "refused": top.refused,
            "of": total,
        },
        weight=float(top.refused),
    )


def _telling(callers: tuple[Caller, ...]) -> tuple[Caller, ...]:
    """The callers of one kind of log, since most requests are in both: those with users, if any of them was refused."""
    audited = tuple(one for one in callers if one.user)
    return audited if any(one.refused for one in audited) else tuple(one for one in callers if not one.user)


def _together(callers: list[Caller]) -> Mapping[str, float]:
    kinds: dict[str, float] = {}
    for one in callers:
        for kind, number in one.kinds.items():
            kinds[kind] = kinds.get(kind, 0.0) + number
    return kinds


FINDERS: tuple[Finder, ...] = (client_throttling, refused_caller)
