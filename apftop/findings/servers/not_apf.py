"""Answers that are not APF's: 403 after a dispatch, and 429s that others give."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from apftop.findings.scene import Scene, places, rows, servers
from apftop.findings.words.callers import behind
from apftop.findings.words.listing import few
from apftop.findings.words.told import most, servers_named
from apftop.present import percent, plain, rate, seconds, whole
from apftop.records.backend import Backend
from apftop.records.findings import Finding
from apftop.records.frame import Replica
from apftop.rules import rules

EVICTION = "eviction"


@dataclass(frozen=True, slots=True)
class _Counted:
    """Answers of one kind on one server, out of all its answers over the window of its backend."""

    replica: Replica
    backend: Backend
    count: float
    total: float
    kinds: Mapping[str, float]

    @property
    def share(self) -> float:
        return self.count / self.total

    @property
    def per_s(self) -> float:
        return self.backend.window.per_s(self.count)

    @property
    def line(self) -> str:
        """What was counted, as evidence."""
        return (
            f"{plain(self.replica.name)}: {whole(self.count)} of {whole(self.total)} answers"
            f" ({percent(self.share)}, {rate(self.per_s)}/s over {seconds(self.backend.window.seconds)})"
        )


def forbidden_after_dispatch(scene: Scene) -> Iterator[Finding]:
    """Requests that took seats and were then refused by authorization: APF comes first."""
    terms = rules().findings.access
    found = [
        one
        for server in servers(scene)
        if (one := _forbidden(server)) is not None
        and one.share > terms.forbidden_share
        and one.per_s > terms.forbidden_per_s
    ]
    if not found:
        return
    found.sort(key=lambda one: -one.per_s)
    kinds = _added(found)
    users = _users(scene, kinds)
    yield Finding(
        code="forbidden-after-dispatch",
        severity="info",
        subject="cluster",
        title=f"{percent(found[0].share)} of the answers of {servers_named([one.replica.name for one in found])}"
        " are 403: these requests took seats before authorization refused them",
        replicas=tuple(one.replica.name for one in found),
        evidence=(
            *few([one.line for one in found]),
            *((f"what was forbidden: {most(kinds)}",) if kinds else ()),
            *((f"who asks for that, by the dump: {most(users)}",) if users else ()),
            *(line for user in list(users)[:1] for line in behind(scene, user)),
        ),
        advice=(
            _rbac(users, kinds),
            "stop the client, or give it the right that it lacks: no change of APF keeps such requests out,"
            " since APF sorts them before authorization is asked",
        ),
        facts={
            "share": {one.replica.name: one.share for one in found},
            "per_s": {one.replica.name: one.per_s for one in found},
            "kinds": kinds,
            "users": users,
        },
    )


def _forbidden(server: Replica) -> _Counted | None:
    backend = server.backend
    total = sum(backend.requests.values()) if backend is not None else 0.0
    if backend is None or not total or backend.window.seconds < rules().findings.access.least_s:
        return None
    return _Counted(server, backend, backend.requests.get(403, 0.0), total, backend.forbidden)


def _added(found: list[_Counted]) -> dict[str, float]:
    kinds: Counter[str] = Counter()
    for one in found:
        kinds.update(one.kinds)
    return dict(kinds.most_common())


def _users(scene: Scene, kinds: Mapping[str, float]) -> dict[str, float]:
    """Who asks for what is forbidden most, by the dumps; these do not tell whose requests were forbidden."""
    worst = next(iter(kinds), "").lower()
    asking = Counter(
        row.user for place in places(scene) for row in rows(place) if row.user and row.kind.lower() == worst and worst
    )
    return {user: float(count) for user, count in asking.most_common()}


def _rbac(users: Mapping[str, float], kinds: Mapping[str, float]) -> str:
    verb, _, resource = next(iter(kinds), "").lower().partition(" ")
    # For kubectl `pods/log` is a pod named log.
    name, _, below = (resource, "", "") if resource.startswith("/") else resource.partition("/")
    sub = ("--subresource", below) if below else ()
    words = (verb or "VERB", name or "RESOURCE", *sub, "--as", next(iter(users), "USER"))
    return f"see what is missing: kubectl auth can-i {shlex.join(map(plain, words))}"


def other_429s(scene: Scene) -> Iterator[Finding]:
    """429s that APF did not give: pods that may not be evicted, caches that fill, quotas, webhooks."""
    terms = rules().findings.access
    found = [one for server in servers(scene) if (one := _others(server)) is not None and one.count > terms.others]
    if not found:
        return
    found.sort(key=lambda one: -one.per_s)
    kinds = _added(found)
    evictions = sum(count for kind, count in kinds.items() if EVICTION in kind)
    refused = any(one.share > terms.others_share for one in found)
    total = sum(one.per_s for one in found)
    yield Finding(
        code="other-429s",
        severity="warning" if refused else "info",
        subject="cluster",
        title=f"{rate(total)}/s are answered 429 by something other than APF on"
        f" {servers_named([one.replica.name for one in found])}",
        replicas=tuple(one.replica.name for one in found),
        evidence=(
            *few([f"{one.line} were 429 and not refused by APF" for one in found]),
            *((f"429s by what was asked for, those of APF among them: {most(kinds)}",) if kinds else ()),
        ),
        advice=(*_sources(evictions), "no change of shares or queues helps: APF let these requests through"),
        facts={
            "per_s": {one.replica.name: one.per_s for one in found},
            "share": {one.replica.name: one.share for one in found},
            "kinds": kinds,
            "evictions": evictions,
        },
        weight=total,
    )


def _others(server: Replica) -> _Counted | None:
    """The 429s that neither the terminations of the same window nor the refusals of the levels account for."""
    backend = server.backend
    total = sum(backend.requests.values()) if backend is not None else 0.0
    if backend is None or not total or backend.window.seconds < rules().findings.access.least_s:
        return None
    by_apf = max(backend.terminations.get(429, 0.0), _refused_per_s(server) * backend.window.seconds)
    return _Counted(server, backend, backend.requests.get(429, 0.0) - by_apf, total, backend.too_many)


def _refused_per_s(server: Replica) -> float:
    return sum(level.rejected_per_s or 0.0 for level in server.levels.values() if level.state != "stale")


def _sources(evictions: float) -> tuple[str, ...]:
    budgets = "evictions that a PodDisruptionBudget does not allow yet; ALLOWED DISRUPTIONS of: kubectl get pdb -A"
    caches = "a watch cache that is not filled yet, after a start of the server (since 1.31): it passes by itself"
    rest = "a webhook or an aggregated API that answers 429 itself: its own log tells"
    return (budgets, caches, rest) if evictions else (caches, budgets, rest)
