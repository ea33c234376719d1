"""Changes to the policy as kubectl commands with their rollback: printed for a person, and run by nobody else."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from apftop.apf.objects import MANDATORY, FlowSchema, Meta, PriorityLevelConfiguration
from apftop.records.findings import Change

LEVEL = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"
SCHEMA = "flowschemas.flowcontrol.apiserver.k8s.io"
KEPT = "apf.kubernetes.io/autoupdate-spec"
"""The annotation of built-in objects: while it is `true` API servers set their spec back (1.26 to 1.37)."""


def level_change(
    config: PriorityLevelConfiguration,
    text: str,
    *,
    shares: int | None = None,
    lendable_percent: int | None = None,
    borrowing_limit_percent: int | str | None = None,
    queues: int | None = None,
    hand_size: int | None = None,
    queue_length_limit: int | None = None,
) -> Change | None:
    """Other values for some fields of a level; `borrowing_limit_percent` "unset" takes the limit away.

    None for `catch-all`, whose spec every server keeps as it is, and for fields of queues where the level has none.
    """
    if config.name in MANDATORY and not config.exempt:
        return None
    kind = "exempt" if config.exempt else "limited"
    after: dict[str, Any] = {}
    before: dict[str, Any] = {}
    if shares is not None:
        after["nominalConcurrencyShares"], before["nominalConcurrencyShares"] = shares, config.shares
    if lendable_percent is not None:
        after["lendablePercent"], before["lendablePercent"] = lendable_percent, config.lendable_percent
    if borrowing_limit_percent is not None:
        after["borrowingLimitPercent"] = None if borrowing_limit_percent == "unset" else borrowing_limit_percent
        before["borrowingLimitPercent"] = config.borrowing_limit_percent
    queuing = {"queues": queues, "handSize": hand_size, "queueLengthLimit": queue_length_limit}
    wanted = {name: value for name, value in queuing.items() if value is not None}
    if wanted:
        if config.queuing is None:
            return None
        has = config.queuing
        today = {"queues": has.queues, "handSize": has.hand_size, "queueLengthLimit": has.queue_length_limit}
        after["limitResponse"] = {"queuing": wanted}
        before["limitResponse"] = {"queuing": {name: today[name] for name in wanted}}
    return _patched(LEVEL, config.meta, text, {kind: after}, {kind: before})


def schema_change(
    schema: FlowSchema,
    text: str,
    *,
    precedence: int | None = None,
    priority_level: str | None = None,
    distinguisher: str | None = None,
) -> Change | None:
    """Other values for some fields of a schema; None for the mandatory ones, which every server keeps as they are."""
    if schema.name in MANDATORY:
        return None
    after: dict[str, Any] = {}
    before: dict[str, Any] = {}
    if precedence is not None:
        after["matchingPrecedence"], before["matchingPrecedence"] = precedence, schema.precedence
    if priority_level is not None:
        after["priorityLevelConfiguration"] = {"name": priority_level}
        before["priorityLevelConfiguration"] = {"name": schema.priority_level}
    if distinguisher is not None:
        after["distinguisherMethod"] = {"type": distinguisher}
        before["distinguisherMethod"] = schema.distinguisher and {"type": schema.distinguisher}
    return _patched(SCHEMA, schema.meta, text, after, before)


def created(text: str, api_version: str, *objects: Mapping[str, Any]) -> Change:
    """New objects as JSON, one after the other: kubectl takes what begins with a brace for JSON, without any `---`."""
    objects = tuple({"apiVersion": api_version, **one} for one in objects)
    lines = "\n".join(json.dumps(one, indent=1, ensure_ascii=True) for one in objects)
    names = " ".join(shlex.quote(f"{_resource_of(one)}/{one['metadata']['name']}") for one in reversed(objects))
    return Change(text, f"kubectl create -f - <<'EOF'\n{lines}\nEOF", f"kubectl delete {names}")


def deleted(text: str, resource: str, name: str) -> Change:
    """An object that goes away; its rollback needs a copy, which the command makes first.

    `resource` may carry a version (see `in_version`).
    """
    what, copy = shlex.quote(f"{resource}/{name}"), shlex.quote(f"{name}.{resource.partition('.')[0]}.json")
    return Change(
        text,
        f"kubectl get {what} -o json > {copy} && kubectl delete {what}",
        f"kubectl create -f {copy}",
    )


def a_schema(
    name: str,
    level: str,
    precedence: int,
    subjects: list[dict[str, Any]],
    *,
    distinguisher: str | None = "ByUser",
    resource_rules: list[dict[str, Any]] | None = None,
    non_resource_rules: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """A FlowSchema for `created`, by default for all requests of its subjects."""
    if resource_rules is None and non_resource_rules is None:
        every = ["*"]
        resource_rules = [
            {"verbs": every, "apiGroups": every, "resources": every, "namespaces": every, "clusterScope": True}
        ]
    rule: dict[str, Any] = {"subjects": subjects}
    if resource_rules:
        rule["resourceRules"] = resource_rules
    if non_resource_rules:
        rule["nonResourceRules"] = non_resource_rules
    spec: dict[str, Any] = {
        "matchingPrecedence": precedence,
        "priorityLevelConfiguration": {"name": level},
        "rules": [rule],
    }
    if distinguisher:
        spec["distinguisherMethod"] = {"type": distinguisher}
    return _object("FlowSchema", name, spec)


def a_level(
    name: str,
    shares: int,
    *,
    lendable_percent: int = 0,
    borrowing_limit_percent: int | None = 0,
    queues: int = 32,
    hand_size: int = 4,
    queue_length_limit: int = 10,
) -> dict[str, Any]:
    """A PriorityLevelConfiguration with queues for `created`."""
    limited: dict[str, Any] = {
        "nominalConcurrencyShares": shares,
        "lendablePercent": lendable_percent,
        "limitResponse": {
            "type": "Queue",
            "queuing": {"queues": queues, "handSize": hand_size, "queueLengthLimit": queue_length_limit},
        },
    }
    if borrowing_limit_percent is not None:
        limited["borrowingLimitPercent"] = borrowing_limit_percent
    return _object("PriorityLevelConfiguration", name, {"type": "Limited", "limited": limited})


def user_subject(user: str) -> dict[str, Any]:
    """The subject of a rule that is this user; service accounts by namespace and name."""
    parts = user.split(":")
    if parts[:2] == ["system", "serviceaccount"] and len(parts) == 4:
        return {"kind": "ServiceAccount", "serviceAccount": {"namespace": parts[2], "name": parts[3]}}
    return {"kind": "User", "user": {"name": user}}


def _object(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name}, "spec": spec}


def _resource_of(one: Mapping[str, Any]) -> str:
    return in_version(SCHEMA if one["kind"] == "FlowSchema" else LEVEL, one["apiVersion"])


def in_version(resource: str, api_version: str) -> str:
    """A resource as kubectl names it, with its version where that is known and not v1.

    Without one kubectl asks in the version that the server prefers, which may lack fields of the one that was read.
    """
    version = api_version.rpartition("/")[2]
    name, _, group = resource.partition(".")
    return resource if version in ("", "v1") else f"{name}.{version}.{group}"


def _patched(resource: str, meta: Meta, text: str, after: dict[str, Any], before: dict[str, Any]) -> Change:
    """A merge patch each way; a built-in object is taken out of the servers' care first, and given back."""
    what = shlex.quote(f"{in_version(resource, meta.api_version)}/{meta.name}")
    command, rollback = (
        f"kubectl patch {what} --type=merge -p {shlex.quote(json.dumps({'spec': spec}))}" for spec in (after, before)
    )
    kept = dict(meta.annotations).get(KEPT)
    # Of the exempt level shares are kept whatever the annotation says.
    if kept == "true" and meta.name not in MANDATORY:
        command = f"kubectl annotate {what} {KEPT}=false --overwrite && {command}"
        rollback = f"{rollback} && kubectl annotate {what} {KEPT}=true --overwrite"
    return Change(text, command, rollback)
