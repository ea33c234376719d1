"""Requests apart: a new schema ahead of those by which they come now, to a level of their own or to another one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from apftop.apf.objects import FlowSchema, Subject
from apftop.findings.changes.patches import a_level, a_schema, created, user_subject
from apftop.findings.scene import Scene, api_version, levels, schemas
from apftop.records.findings import Change
from apftop.records.frame import Request

EVENTS = "events"
EVENT_WRITES = ("create", "patch", "update")
EVENT_GROUPS = ("", "events.k8s.io")
"""Events are written in both groups, and a repeated one is patched: a rule for some of these leaves the rest behind."""

STEPS = (1000, 500, 100, 50, 10, 5, 1)
VERBS = ("get", "list", "create", "update", "delete", "deletecollection", "patch", "watch", "proxy")
"""What rules may list (1.26 to 1.37); requests to URLs have others too, such as `post`, which only `*` stands for."""


def ahead(order: Sequence[FlowSchema], names: Collection[str]) -> int | None:
    """A round precedence before the first of the named schemas, and behind whatever stands before that one.

    `order` are all schemas in matching order. None where none of them is named, or there is no room between.
    """
    first = next((one.precedence for one in order if one.name in names), None)
    if first is None:
        return None
    before = max((one.precedence for one in order if one.precedence < first), default=1)
    middle = (before + first) / 2
    return next((near for step in STEPS if before < (near := round(middle / step) * step) < first), None)


def kinds_apart(
    scene: Scene, text: str, name: str, rows: Sequence[Request], shares: int, user: str | None = None
) -> Change | None:
    """A schema for requests of the same kinds and callers as `rows`, and a level of its own, with `shares`.

    The callers are `user`, or the subjects of the schemas by which the requests come. None where these cannot be read,
    or there is no room ahead of them.
    """
    free = free_name(scene, name)
    schema = _schema(scene, free, free, rows, user)
    if schema is None:
        return None
    return created(_with_precedence(text, schema), api_version(scene), a_level(free, shares), schema)


def kinds_moved(scene: Scene, text: str, name: str, rows: Sequence[Request], level: str) -> Change | None:
    """The same schema, to a level that there is already; None where there is none of that name."""
    schema = _schema(scene, free_name(scene, name), level, rows)
    if schema is None or level not in levels(scene):
        return None
    return created(_with_precedence(text, schema), api_version(scene), schema)


def _schema(
    scene: Scene, name: str, level: str, rows: Sequence[Request], user: str | None = None
) -> dict[str, Any] | None:
    order = schemas(scene)
    carriers = [one for one in order if one.name in {row.schema for row in rows}]
    precedence = ahead(order, {one.name for one in carriers})
    every = unique(_subject(one) for schema in carriers for rule in schema.rules for one in rule.subjects)
    subjects = every if user is None else [user_subject(user)]
    rules, others = _rules(rows), _url_rules(rows)
    if precedence is None or not subjects or not (rules or others):
        return None
    return a_schema(name, level, precedence, subjects, resource_rules=rules, non_resource_rules=others)


def _with_precedence(text: str, schema: dict[str, Any]) -> str:
    return f"{text}, at precedence {schema['spec']['matchingPrecedence']}"


def free_name(scene: Scene, wish: str) -> str:
    """A name that no schema and no level has; characters that names of objects may not have become dashes."""
    taken = {*levels(scene), *(one.name for one in schemas(scene))}
    parts = re.sub(r"[^a-z0-9.-]+", "-", wish.lower())[:200].split(".")
    base = ".".join(part.strip("-") for part in parts if part.strip("-")) or "apart"
    tries = (base if number == 1 else f"{base}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in tries if name not in taken)


def unique(many: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each of some objects once, in order."""
    found: list[dict[str, Any]] = []
    for one in many:
        if one not in found:
            found.append(one)
    return found


def _subject(one: Subject) -> dict[str, Any]:
    if one.kind == "ServiceAccount":
        return {"kind": one.kind, "serviceAccount": {"namespace": one.namespace, "name": one.name}}
    return {"kind": one.kind, one.kind.lower(): {"name": one.name}}


def _rules(rows: Sequence[Request]) -> list[dict[str, Any]]:
    """A rule a verb, with all that is asked for with it; all namespaces, and none."""
    asked: dict[tuple[str, ...], tuple[set[str], set[str]]] = {}
    for row in rows:
        if not row.verb or not row.resource:
            continue
        events = row.resource == EVENTS and row.verb in EVENT_WRITES
        groups, names = asked.setdefault(EVENT_WRITES if events else (row.verb,), (set(), set()))
        groups |= set(EVENT_GROUPS) if events else {(row.api_version or "").rpartition("/")[0]}
        names.add(f"{row.resource}/{row.subresource}" if row.subresource else row.resource)
    return [
        {
            "verbs": list(verbs),
            "apiGroups": sorted(groups),
            "resources": sorted(names),
            "namespaces": ["*"],
            "clusterScope": True,
        }
        for verbs, (groups, names) in sorted(asked.items())
    ]


def _url_rules(rows: Sequence[Request]) -> list[dict[str, Any]]:
    """A rule a verb and path; none for paths that no rule may have."""
    asked = sorted(
        {
            (row.verb if row.verb in VERBS else "*", row.path)
            for row in rows
            if row.verb and row.path and not row.resource and not re.search(r"^[^/]|\s|//|\*", row.path)
        }
    )
    return [{"verbs": [verb], "nonResourceURLs": [path]} for verb, path in asked]
