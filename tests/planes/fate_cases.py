"""Objects as they were, as they are given, and what servers are to make of that by the annotation and generation."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from apftop.apf.builtins import builtin_schemas
from apftop.apf.release import Release
from apftop.demo.objects import schema_json
from apftop.findings.changes.patches import KEPT
from apftop.lint.policy import Noun
from apftop.records.linting import Outcome
from tests.planes.client import Json
from tests.planes.flow import VERSION, flow_schema, priority_level


class State(NamedTuple):
    """The annotation, None for none, and whether the spec is another one than the built-in."""

    annotation: str | None
    edited: bool = False


@dataclass(frozen=True)
class Case:
    """One object. `before` is None where it is not there, `given` where it is deleted.

    `touched` raises its generation before, by an edit that is taken back. `written` is the annotation that is there in
    the end.
    """

    kind: Noun
    name: str
    before: State | None
    given: State | None
    outcome: Outcome
    written: str | None = None
    touched: bool = False

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.name}"


SCHEMA: Noun = "FlowSchema"
LEVEL: Noun = "PriorityLevelConfiguration"
BUILT, EDIT = State("true"), State(None, edited=True)
OLD_SCHEMAS = builtin_schemas(Release(1, 33))
GONE = ("endpoint-controller", "workload-leader-election")
"""Schemas that 1.33 brings and 1.34 does not."""


def cases(minor: int) -> tuple[Case, ...]:
    """The annotation matrix for a release of 1."""
    brought = minor <= 33
    return (
        # Suggested objects: edits under each annotation, in the cluster or in the file.
        Case(LEVEL, "workload-low", BUILT, EDIT, "reverted", "true"),
        Case(SCHEMA, "service-accounts", BUILT, State("true", True), "reverted", "true"),
        Case(SCHEMA, "system-node-high", BUILT, State("T", True), "reverted", "T"),
        Case(LEVEL, "system", BUILT, State("false", True), "kept", "false"),
        Case(SCHEMA, "probes", BUILT, State("0", True), "kept", "0"),
        Case(LEVEL, "node-high", BUILT, State("maybe", True), "kept", "false"),
        Case(LEVEL, "leader-election", State(None), EDIT, "kept", "false"),
        # Made anew: generation 1.
        Case(LEVEL, "workload-high", None, EDIT, "reverted", "true"),
        Case(SCHEMA, "kube-scheduler", None, State("maybe", True), "reverted", "true"),
        Case(LEVEL, "global-default", None, State("false", True), "kept", "false"),
        # Only the annotation is changed.
        Case(SCHEMA, "global-default", BUILT, State("false"), "kept", "false"),
        Case(SCHEMA, "kube-controller-manager", BUILT, State("maybe"), "kept", "true"),
        Case(SCHEMA, "system-leader-election", State(None), State("maybe"), "kept", "false", touched=True),
        Case(SCHEMA, "system-nodes", State("false", True), State("true", True), "reverted", "true"),
        Case(SCHEMA, "kube-system-service-accounts", BUILT, None, "recreated", "true"),
        # Mandatory objects.
        Case(SCHEMA, "exempt", BUILT, State("false", True), "refused", "true"),
        Case(LEVEL, "catch-all", BUILT, State("false", True), "refused", "true"),
        Case(LEVEL, "exempt", BUILT, State("false", True), "kept", "true"),
        Case(SCHEMA, "catch-all", BUILT, None, "recreated", "true"),
        # Objects of one's own, copies of built-in ones among them.
        Case(LEVEL, "lint-bare", None, State(None), "kept", None),
        Case(LEVEL, "lint-false", None, State("false"), "kept", "false"),
        Case(SCHEMA, "lint-maybe", None, State("maybe"), "kept", "maybe"),
        Case(LEVEL, "lint-true", None, State("true"), "deleted"),
        Case(SCHEMA, "lint-1", None, State("1"), "deleted"),
        Case(SCHEMA, "lint-was-true", BUILT, State(None), "deleted"),
        Case(SCHEMA, "service-accounts-copy", None, State("true"), "deleted"),
        Case(SCHEMA, "probes-copy", None, State(None), "kept", None),
        # Built-in objects of older releases.
        Case(SCHEMA, "endpoint-controller", BUILT, BUILT, "kept" if brought else "deleted", "true"),
        Case(SCHEMA, "workload-leader-election", BUILT, EDIT, "reverted" if brought else "deleted", "true"),
    )


def spec_of(case: Case, built: Mapping[str, Json]) -> Json:
    """The spec before any edit; `built` are those of the objects that the plane came with."""
    if case.key in built:
        return built[case.key]
    if case.name in GONE:
        return _spec(schema_json(OLD_SCHEMAS[case.name], built_in=True))
    if case.name.endswith("-copy"):
        return spec_of(Case(case.kind, case.name.removesuffix("-copy"), None, None, "kept"), built)
    if case.kind == LEVEL:
        return _spec(priority_level(case.name, shares=1))
    return _spec(flow_schema(case.name, "global-default", users=["nobody-of-lint"]))


def _spec(item: Json) -> Json:
    spec: Json = item["spec"]
    return spec


def item_of(case: Case, state: State, spec: Json) -> Json:
    """The object in a state, from its spec before any edit."""
    spec = copy.deepcopy(spec)
    if state.edited:
        *above, last = place_of(case)
        inner = spec
        for key in above:
            inner = inner[key]
        inner[last] += 1
    metadata: Json = {"name": case.name}
    if state.annotation is not None:
        metadata["annotations"] = {KEPT: state.annotation}
    return {"apiVersion": VERSION, "kind": case.kind, "metadata": metadata, "spec": spec}


def place_of(case: Case) -> tuple[str, ...]:
    """The field that an edit raises by one."""
    if case.kind == SCHEMA:
        return ("matchingPrecedence",)
    return ("exempt", "nominalConcurrencyShares") if case.name == "exempt" else ("limited", "lendablePercent")


def value_of(case: Case, item: Json) -> int:
    """What that field is."""
    found = item["spec"]
    for key in place_of(case):
        found = found[key]
    return int(found)
