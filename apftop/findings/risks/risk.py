"""What a cluster dies of when it is delayed or refused: node leases, leader election, probes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from apftop.apf.objects import EXEMPT, FlowSchema, Subject
from apftop.findings.changes.patches import KEPT, a_schema, created, schema_change, user_subject
from apftop.findings.risks.alive import (
    LEADERS,
    LEASE_VERBS,
    NODE_LEASES,
    NODES,
    PROBES,
    Spot,
    builtin,
    robbed_by,
    spots,
)
from apftop.findings.saturation.relief import object_name
from apftop.findings.scene import Finder, Scene, api_version, levels, schemas
from apftop.findings.words.told import listed
from apftop.present import plain
from apftop.records.findings import RISKS, Change, Finding, Risk, Severity
from apftop.rules import rules

LEADS = 1e6
"""Before all that only delays: the weight of these findings."""

MOST = 5
BEHIND = 50
"""So far behind the schema that it shadows a schema is put, by precedence."""

LEADER_ELECTION = "leader-election"
SYSTEM = ("system:kube-", "system:serviceaccount:kube-system:")


def at_risk(scene: Scene, found: Sequence[Finding]) -> Mapping[str, Risk]:
    """For each of `RISKS` whether it is delayed or refused now: `ok` only where that is known on all servers."""
    everywhere = spots(scene)
    return {risk: _worst(scene, [spot for spot in everywhere if spot.risk == risk]) for risk in RISKS}


def _worst(scene: Scene, of: Sequence[Spot]) -> Risk:
    if any(one.status == "at-risk" for one in of):
        return "at-risk"
    # What is exempt is so on servers that are not seen as well.
    hidden = scene.frame.servers_hidden and any(one.level != EXEMPT for one in of)
    return "ok" if of and not hidden and all(one.status == "ok" for one in of) else "unknown"


def node_leases(scene: Scene) -> Iterator[Finding]:
    """Leases of nodes wait or are refused: nodes will be taken for dead, and their pods be moved."""
    for name, there in _hurt(scene, NODES).items():
        advice, change = _right_way(scene, there[0], f"see what makes {plain(name)} full, and take that out of it")
        title = "node leases are delayed or refused: nodes may be taken for dead"
        yield _finding("node-leases", "critical", name, there, title, advice, change)


def leader_election_outside(scene: Scene) -> Iterator[Finding]:
    """Leader election starves among other requests, outside the level that is there for it."""
    for name, there in _hurt(scene, LEADERS).items():
        if name == LEADER_ELECTION:
            continue
        users = tuple(dict.fromkeys(user for spot in there for user in spot.users))
        system = any(not spot.seen for spot in there) or any(user.startswith(SYSTEM) for user in users)
        title = "leader election is delayed or refused: controllers lose their leases and restart"
        if all(spot.seen for spot in there):
            advice, change = _to_leader_election(scene, there[0], users)
        else:
            first = next(spot for spot in there if not spot.seen)
            advice, change = _right_way(scene, first, "give leader election back its schema and its level")
        yield _finding(
            "leader-election-outside", "critical" if system else "warning", name, there, title, advice, change, users
        )


def probes_refused(scene: Scene) -> Iterator[Finding]:
    """Probes of API servers wait or are answered 429: servers that live will be restarted, or left by balancers."""
    for name, there in _hurt(scene, PROBES).items():
        advice, change = _right_way(
            scene, there[0], "send probes with GET to /livez, /readyz or /healthz, which are exempt"
        )
        title = "probes of the API servers are delayed or refused: servers that live may be restarted"
        yield _finding("probes-refused", "critical", name, there, title, advice, change)


def _hurt(scene: Scene, risk: str) -> dict[str, list[Spot]]:
    """The spots of one kind that are at risk, by level; on each server those that the objects tell first."""
    found: dict[str, list[Spot]] = {}
    for spot in spots(scene):
        if spot.risk == risk and spot.status == "at-risk":
            found.setdefault(spot.level, []).append(spot)
    return found


def _finding(
    code: str,
    severity: Severity,
    level: str,
    there: Sequence[Spot],
    title: str,
    advice: tuple[str, ...],
    change: Change | None,
    users: tuple[str, ...] = (),
) -> Finding:
    replicas = tuple(dict.fromkeys(spot.replica.name for spot in there))
    told = list(dict.fromkeys(f"{plain(spot.replica.name)}: {line}" for spot in there for line in spot.told))
    if len(told) > MOST:
        told[MOST:] = [f"{len(told) - MOST} more lines like these"]
    return Finding(
        code=code,
        severity=severity,
        subject=level,
        title=f"{plain(level)} on {', '.join(map(plain, replicas))}: {title}",
        replicas=replicas,
        level=level,
        schema=there[0].schema,
        evidence=(f"these requests go by schema {plain(there[0].schema)} to {plain(level)}", *told),
        advice=advice,
        change=change,
        facts={"flow_schema": there[0].schema, "priority_level": level, "users": users},
        weight=LEADS + _heat(there, level),
    )


def _heat(there: Sequence[Spot], level: str) -> float:
    of = {spot.replica.name: spot.replica.levels.get(level) for spot in there}
    return sum((one.waiting or 0.0) + (one.rejected_per_s or 0.0) for one in of.values() if one is not None)


def _right_way(scene: Scene, spot: Spot, otherwise: str) -> tuple[tuple[str, ...], Change | None]:
    """What brings these requests to the level that is there for them; if they are in it, what else there is to do."""
    meant = builtin(scene, spot.builtin)
    if meant is None or spot.schema == meant.name:
        return (otherwise,), _intruder_out(scene, spot)
    live = {one.name: one for one in schemas(scene)}
    if meant.name not in live and meant.priority_level in levels(scene):
        text = f"schema {meant.name} (precedence {meant.precedence}, level {meant.priority_level}), which is missing"
        return (f"bring back the {text}",), created(text, api_version(scene), _again(meant))
    matched, there = live.get(spot.schema), live.get(meant.name)
    if matched is None or there is None or matched.precedence > there.precedence:
        return (otherwise,), None
    robbed = robbed_by(scene, matched)
    first = f"put schema {plain(matched.name)} behind {listed(robbed or [there.name])}, whose requests it takes"
    after = _behind_all(scene, matched, robbed)
    if after is None:
        return (first,), None
    text = f"matchingPrecedence of {plain(matched.name)}: {matched.precedence} -> {after}, behind {listed(robbed)}"
    return (f"{first}: {text}",), schema_change(matched, text, precedence=after)


def _behind_all(scene: Scene, taker: FlowSchema, robbed: Sequence[str]) -> int | None:
    """A precedence at which a schema takes nothing more from those named, and stays ahead of whatever comes after them.

    None where there is none.
    """
    others = [one for one in schemas(scene) if one.name != taker.name]
    last = max((one.precedence for one in others if one.name in robbed), default=None)
    if last is None:
        return None
    following = min((one.precedence for one in others if one.precedence > last), default=last + 2 * BEHIND)
    after = last + BEHIND if last + BEHIND < following else (last + following) // 2
    if after == last or robbed_by(scene, replace(taker, precedence=after)):
        return None
    return after


def _intruder_out(scene: Scene, spot: Spot) -> Change | None:
    """The move of the schema that makes the level full out of it, if it is not the one that is meant for it."""
    of = [one for one in spot.replica.schemas.values() if one.level == spot.level and one.counts is not None]
    kept = {one.name for one in schemas(scene) if KEPT in dict(one.meta.annotations)}
    asked = {one.name: one.counts.arrivals for one in of if one.counts is not None and one.name not in kept}
    other = max((name for name in asked if name != spot.schema), key=lambda name: asked[name], default="")
    config = next((one for one in schemas(scene) if one.name == other), None)
    if config is None or asked[other] <= asked.get(spot.schema, 0.0) or "workload-low" not in levels(scene):
        return None
    text = f"priorityLevelConfiguration of schema {plain(other)}: {plain(spot.level)} -> workload-low"
    return schema_change(config, text, priority_level="workload-low")


def _to_leader_election(scene: Scene, spot: Spot, users: Sequence[str]) -> tuple[tuple[str, ...], Change | None]:
    """A schema that takes the leases of these users to the level for leader election."""
    matched = next((one for one in schemas(scene) if one.name == spot.schema), None)
    if not users or matched is None or LEADER_ELECTION not in levels(scene):
        return ("have leases of these clients go to the level leader-election, by a schema for them",), None
    if _is_the_crowd(spot, users):
        return (
            "have these clients renew their leases less often: most of what waits here are their own renewals, and in "
            f"the level {LEADER_ELECTION} they would be in the way of others",
        ), None
    taken = {*(one.name for one in schemas(scene)), *levels(scene)}
    name = object_name(f"{users[0]}-leases", taken)
    namespaces = sorted(
        {
            row.namespace
            for row in spot.replica.requests or ()
            if row.resource == "leases" and row.user in users and row.namespace and row.namespace != NODE_LEASES
        }
    )
    rule = {
        "verbs": list(LEASE_VERBS),
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "namespaces": namespaces,
        "clusterScope": False,
    }
    precedence = min(150, matched.precedence - 1)
    subjects = [user_subject(user) for user in users]
    text = f"schema {name} (precedence {precedence}) for leases of {len(users)} clients, to level {LEADER_ELECTION}"
    change = created(
        text, api_version(scene), a_schema(name, LEADER_ELECTION, precedence, subjects, resource_rules=[rule])
    )
    return (f"take their leases to the level that is there for them: {text}",), change


def _is_the_crowd(spot: Spot, users: Sequence[str]) -> bool:
    """Whether leases of these users are most of what waits in a level."""
    mine = [
        row
        for row in spot.replica.requests or ()
        if row.level == spot.level and row.resource == "leases" and row.user in users and not row.executing
    ]
    level = spot.replica.levels.get(spot.level)
    waiting = (level.waiting if level is not None else None) or len(mine)
    return len(mine) >= rules().findings.load.dominant_share * waiting


def _again(schema: FlowSchema) -> dict[str, Any]:
    """A built-in schema as an object to create; those in question have one rule."""
    (rule,) = schema.rules
    return a_schema(
        schema.name,
        schema.priority_level,
        schema.precedence,
        [_subject(one) for one in rule.subjects],
        distinguisher=schema.distinguisher,
        resource_rules=[_resource_rule(asdict(one)) for one in rule.resource_rules],
        non_resource_rules=[
            {"verbs": list(one.verbs), "nonResourceURLs": list(one.urls)} for one in rule.non_resource_rules
        ],
    )


def _subject(subject: Subject) -> dict[str, Any]:
    match subject.kind:
        case "ServiceAccount":
            who = {"namespace": subject.namespace, "name": subject.name}
            return {"kind": subject.kind, "serviceAccount": who}
        case "Group":
            return {"kind": subject.kind, "group": {"name": subject.name}}
        case "User":
            return {"kind": subject.kind, "user": {"name": subject.name}}


def _resource_rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "verbs": list(rule["verbs"]),
        "apiGroups": list(rule["api_groups"]),
        "resources": list(rule["resources"]),
        "namespaces": list(rule["namespaces"]),
        "clusterScope": rule["cluster_scope"],
    }


FINDERS: tuple[Finder, ...] = (node_leases, leader_election_outside, probes_refused)
