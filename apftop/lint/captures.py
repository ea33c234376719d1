"""Schemas that take what built-in ones are for, by meaning far more clients than these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from apftop.apf.containment import Order, covers, subject_covers
from apftop.apf.objects import EXEMPT, MANDATORY, FlowSchema, Rule
from apftop.findings.policies.capturing import wider
from apftop.findings.policies.owners import as_built, own
from apftop.lint.policy import Policy
from apftop.present import plain
from apftop.records.linting import Fault, Gravity
from apftop.rules import rules

CONTROL_PLANE = 1000
"""Built-in schemas of smaller precedence are for nodes and the control plane (1.26 to 1.37)."""

WHOLE, RESOURCES = "are never reached", "get no requests for resources"


@dataclass(frozen=True, slots=True)
class _Captured:
    """A built-in schema, and of which of its requests none is left to it, in words."""

    schema: FlowSchema
    what: str


def captures(policy: Policy, order: Sequence[FlowSchema], tries: Order) -> Iterator[Fault]:
    """For each schema all built-in ones from which it takes everything, or all requests for resources of some verbs."""
    found: dict[str, list[_Captured]] = {}
    for at, schema in enumerate(order):
        if not as_built(schema) or schema.name in MANDATORY:
            continue
        if by := tries.shadowed(at):
            if (taker := _taker(policy, schema, by)) is not None:
                found.setdefault(taker.name, []).append(_Captured(schema, WHOLE))
            continue
        for name, what in _takers(schema, order[:at]).items():
            found.setdefault(name, []).append(_Captured(schema, what))
    for name, taken in found.items():
        yield _fault(policy, policy.after.schemas[name], taken)


def _taker(policy: Policy, schema: FlowSchema, by: Sequence[FlowSchema]) -> FlowSchema | None:
    """Of the schemas that leave nothing to a built-in one, the one to blame, given ones first; None if it is meant.

    One that means exactly the same clients replaces it on purpose, built-in ones shadow one another (`catch-all`), and
    what goes to the level `exempt` is another fault.
    """
    takers = [one for one in by if own(one) and one.priority_level not in (schema.priority_level, EXEMPT)]
    if not any(wider(one, schema) for one in takers):
        return None
    return next((one for one in takers if policy.document("FlowSchema", one.name)), takers[0])


def _takers(schema: FlowSchema, before: Sequence[FlowSchema]) -> dict[str, str]:
    """By the schema to blame, which requests it takes of those that came so far: all for resources, or some verbs."""
    found: dict[str, str] = {}
    clients = {subject for rule in schema.rules for subject in rule.subjects}
    every = _for_resources(schema.rules)
    left = {verb: its for verb in rules().findings.exempt.verbs if (its := _for_resources(schema.rules, verb))}
    for one in before:
        meant = [subject for rule in one.rules for subject in rule.subjects]
        if not left or not all(any(subject_covers(mine, its) for mine in meant) for its in clients):
            continue
        taken = [verb for verb, its in left.items() if covers(one.rules, its)]
        left = {verb: its for verb, its in left.items() if verb not in taken}
        if taken and own(one) and one.priority_level not in (schema.priority_level, EXEMPT) and wider(one, schema):
            all_of_them = covers(one.rules, every)
            found[one.name] = RESOURCES if all_of_them else f"get no {', '.join(taken)} requests for resources"
    return found


def _for_resources(its: Sequence[Rule], verb: str = "*") -> list[Rule]:
    """What rules match for resources, of one verb alone if it is given."""
    found = []
    for rule in its:
        targets = rule.resource_rules
        if verb != "*":
            targets = tuple(replace(one, verbs=(verb,)) for one in targets if {verb, "*"} & {*one.verbs})
        if targets:
            found.append(Rule(rule.subjects, targets))
    return found


def _fault(policy: Policy, taker: FlowSchema, captured: Sequence[_Captured]) -> Fault:
    """An error where nodes or the control plane lose their seats altogether."""
    last = max(one.schema.precedence for one in captured)
    parts = []
    gravity: Gravity = "warning"
    for what in dict.fromkeys(one.what for one in captured):
        same = [one.schema for one in captured if one.what == what]
        told = ", ".join(f"{one.name} ({one.precedence}, for {plain(one.priority_level)})" for one in same)
        parts.append(f"these built-in schemas {what}: {told}")
        if what in (WHOLE, RESOURCES) and any(one.precedence < CONTROL_PLANE for one in same):
            gravity = "error"
    text = f"because of it {'; '.join(parts)}; their requests go to {plain(taker.priority_level)}"
    advice = f"give it a precedence above {last}, or name fewer clients"
    return policy.fault("FlowSchema", taker.name, "captures-builtin", gravity, text, advice, "spec.matchingPrecedence")
