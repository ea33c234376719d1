"""Policies for lint from the text of files."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from typing import Any

import yaml

from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.release import Release, holds, parse_release
from apftop.demo.objects import level_json, schema_json
from apftop.lint.all import linted
from apftop.lint.files import read_file
from apftop.lint.gather import objects_of, policy_of
from apftop.lint.policy import Document, Objects, Policy
from apftop.records.linting import Fault, Linted

GROUP = "flowcontrol.apiserver.k8s.io"
SEATS = 600


def policy(text: str, target: str = "1.34", *, before: str = "", seats: int = SEATS, whole: bool = False) -> Policy:
    """The policy of a file, over the objects of another file or else the built-in ones."""
    release = parse_release(target)
    assert release is not None
    there = objects_of(read_file("before.yaml", before.encode())[0]) if before else Objects()
    return policy_of(read_file("policy.yaml", text.encode())[0], there, release, seats, whole=whole)


def lint(text: str, target: str = "1.34", *, before: str = "", seats: int = SEATS, whole: bool = False) -> Linted:
    """All that lint says of a file."""
    unread = read_file("policy.yaml", text.encode())[1]
    return linted(policy(text, target, before=before, seats=seats, whole=whole), unread)


def codes(text: str, target: str = "1.34", *, before: str = "", whole: bool = False) -> set[str]:
    """The codes of all faults of a file."""
    return {fault.code for fault in lint(text, target, before=before, whole=whole).faults}


def cluster(
    text: str = "", target: str = "1.34", *, without: Container[str] = (), refused: Mapping[str, float] | None = None
) -> Policy:
    """All objects of a cluster: the built-in ones, but for those named `KIND/NAME`, and those of a file."""
    release = parse_release(target)
    assert release is not None
    own = read_file("", text.encode())[0] if text else ()
    there = {f"{one.kind}/{one.name}": one for one in own}
    built = [one for one in builtin(release) if f"{one.kind}/{one.name}" not in there]
    given = [one for one in built if f"{one.kind}/{one.name}" not in without]
    given += own
    return policy_of(given, objects_of(given), release, SEATS, whole=True, refused_per_s=refused)


def builtin(release: Release) -> tuple[Document, ...]:
    """The built-in objects as a server gives them out."""
    items = [schema_json(one, True) for one in builtin_schemas(release).values()]
    items += [level_json(one, True) for one in builtin_levels().values()]
    version = "v1" if holds(release, (">=1.29",)) else "v1beta3"
    for item in items:
        item["apiVersion"] = f"{GROUP}/{version}"
        if not holds(release, (">=1.28",)):
            item["spec"].pop("exempt", None)
    return read_file("", json.dumps({"kind": "List", "apiVersion": "v1", "items": items}).encode())[0]


def found(of: Linted | Policy, code: str) -> tuple[Fault, ...]:
    """The faults of one code."""
    return tuple(one for one in (of if isinstance(of, Linted) else linted(of)).faults if one.code == code)


def schema(name: str = "mine", version: str = "v1", metadata: dict[str, Any] | None = None, **spec: Any) -> str:
    """A FlowSchema as YAML; a valid one but for the fields that are given, where None leaves one out."""
    whole = {
        "priorityLevelConfiguration": {"name": "workload-low"},
        "matchingPrecedence": 1000,
        "distinguisherMethod": {"type": "ByUser"},
        "rules": [rule()],
        **spec,
    }
    return _text("FlowSchema", name, version, metadata, whole)


def rule(**fields: Any) -> dict[str, Any]:
    """A rule for lists of pods by one user, but for the fields that are given."""
    whole = {"subjects": [user("jane")], "resourceRules": [resources()], **fields}
    return {key: value for key, value in whole.items() if value is not None}


def user(name: str) -> dict[str, Any]:
    return {"kind": "User", "user": {"name": name}}


def resources(**fields: Any) -> dict[str, Any]:
    """A resource rule for lists of pods in one namespace, but for the fields that are given."""
    whole = {"verbs": ["list"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["shop"], **fields}
    return {key: value for key, value in whole.items() if value is not None}


def level(
    name: str = "mine",
    version: str = "v1",
    metadata: dict[str, Any] | None = None,
    queuing: dict[str, Any] | None = None,
    **limited: Any,
) -> str:
    """A limited level with queues as YAML; a valid one but for the fields that are given, None leaves one out."""
    whole = {
        "nominalConcurrencyShares": 5,
        "lendablePercent": 0,
        "borrowingLimitPercent": 0,
        "limitResponse": {
            "type": "Queue",
            "queuing": {"queues": 16, "handSize": 4, "queueLengthLimit": 10, **(queuing or {})},
        },
        **limited,
    }
    inner = {key: value for key, value in whole.items() if value is not None}
    return _text("PriorityLevelConfiguration", name, version, metadata, {"type": "Limited", "limited": inner})


def exempt(version: str = "v1", **fields: Any) -> str:
    """The level `exempt` with these fields of `spec.exempt`."""
    spec = {"type": "Exempt", "exempt": fields or None}
    return _text("PriorityLevelConfiguration", "exempt", version, None, spec)


def _text(kind: str, name: str, version: str, metadata: dict[str, Any] | None, spec: dict[str, Any]) -> str:
    whole = {
        "apiVersion": f"{GROUP}/{version}",
        "kind": kind,
        "metadata": {"name": name, **(metadata or {})},
        "spec": {key: value for key, value in spec.items() if value is not None},
    }
    return "---\n" + yaml.safe_dump(whole, sort_keys=False)
