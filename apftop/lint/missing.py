"""Objects that a release brings and that are not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.containment import covers, overlap
from apftop.apf.identity import UNAUTHENTICATED
from apftop.apf.objects import MANDATORY, FlowSchema, Subject
from apftop.apf.release import LATEST
from apftop.lint.order import tried
from apftop.lint.policy import Noun, Policy
from apftop.present import plain
from apftop.records.linting import Fault, Gravity

HURTS = {
    "probes": "liveness probes of API servers and load balancers are queued and refused like any request, and servers "
    "that are refused are restarted",
    "system-leader-election": "leases of kube-controller-manager and kube-scheduler queue behind all else that they do",
    "system-node-high": "leases and status of nodes share a level with everything else of the nodes",
    "system-nodes": "nodes share a level with all who are authenticated",
}
"""What comes of a suggested schema that is missing."""

NOBODY = Subject("Group", UNAUTHENTICATED)
"""Who probes: kubelets and load balancers send no credentials."""

AGAIN = "servers make it again within a minute: see who deletes it"


def missing(policy: Policy) -> Iterator[Fault]:
    """What is missing among the objects, where these are all that there is; what is broken is there."""
    if not policy.whole:
        return
    yield from _mandatory(policy)
    newest = builtin_schemas(LATEST)
    built = builtin_schemas(policy.target)
    for name in _gone("FlowSchema", built, policy):
        text = f"the built-in schema {name} is missing: {HURTS.get(name, 'its requests are matched by others')}"
        refused = {level: policy.refused_per_s.get(level, 0.0) for level in _heirs(built[name], policy)}
        if told := ", ".join(f"{rate:.3g} a second in {plain(level)}" for level, rate in refused.items() if rate):
            text = f"{text}; where they go now, requests are refused: {told}"
        gravity: Gravity = "error" if name in HURTS else "warning"
        advice = AGAIN
        if name not in newest:
            gravity, text = "note", f"the built-in schema {name} is missing, which later releases do not bring"
            advice = "servers of the release make it again within a minute"
        yield Fault(f"missing-{name}", gravity, text, advice)
    for name in _gone("PriorityLevelConfiguration", builtin_levels(), policy):
        text = f"the built-in level {name} is missing, and schemas that lead to it are ignored"
        yield Fault(f"missing-{name}", "error", text, AGAIN)


def _mandatory(policy: Policy) -> Iterator[Fault]:
    kinds: tuple[tuple[Noun, str], ...] = (("FlowSchema", "schema"), ("PriorityLevelConfiguration", "level"))
    for kind, word in kinds:
        for name in sorted(MANDATORY):
            if policy.gives(kind) and policy.document(kind, name) is None:
                text = f"the mandatory {word} {name} is missing: servers go on with one of their own, and make it again"
                yield Fault("mandatory-missing", "warning", text, AGAIN)


def _heirs(schema: FlowSchema, policy: Policy) -> tuple[str, ...]:
    """The levels to which the requests of a missing schema go; of probes, those of nobody."""
    if schema.name == "probes":
        schema = replace(schema, rules=tuple(replace(rule, subjects=(NOBODY,)) for rule in schema.rules))
    heirs: list[FlowSchema] = []
    for one in tried(policy):
        if one.precedence >= schema.precedence and overlap(one.rules, schema.rules):
            heirs.append(one)
            if covers([rule for heir in heirs for rule in heir.rules], schema.rules):
                break
    return tuple(dict.fromkeys(one.priority_level for one in heirs))


def _gone(kind: Noun, built: Mapping[str, object], policy: Policy) -> list[str]:
    there = policy.gives(kind)
    return [name for name in built if there and name not in MANDATORY and policy.document(kind, name) is None]
