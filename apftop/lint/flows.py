"""Schemas whose requests are one flow, though they could be told apart."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.apf.objects import FlowSchema
from apftop.lint.policy import Policy
from apftop.records.linting import Fault

AT = "spec.distinguisherMethod"


def flows(policy: Policy) -> Iterator[Fault]:
    """Faults of how the given schemas tell flows apart; only levels with two queues or more do (1.26 to 1.37)."""
    for document in policy.given:
        schema = document.object
        if not isinstance(schema, FlowSchema):
            continue
        level = policy.after.levels.get(schema.priority_level)
        if level is None or level.queuing is None or level.queuing.queues < 2:
            continue
        if schema.distinguisher is None and not is_one_user(schema):
            hand = level.queuing.hand_size
            text = f"no distinguisherMethod: all its requests are one flow, which has {_queues(hand)} to wait in"
            advice = "set distinguisherMethod.type to ByUser, or to ByNamespace"
            yield document.fault("no-distinguisher", "warning", text, advice, AT)
        elif schema.distinguisher == "ByUser" and is_one_user(schema) and _in_many_namespaces(schema):
            text = "by user, and it matches one user: all its requests are one flow, whatever their namespaces"
            advice = "set distinguisherMethod.type to ByNamespace, if the account works for several"
            yield document.fault("one-user-by-user", "note", text, advice, AT)


def is_one_user(schema: FlowSchema) -> bool:
    """Whether all requests of a schema are of one user."""
    subjects = {subject for rule in schema.rules for subject in rule.subjects}
    return len(subjects) == 1 and all(one.kind != "Group" and one.name != "*" for one in subjects)


def _in_many_namespaces(schema: FlowSchema) -> bool:
    names = {name for rule in schema.rules for one in rule.resource_rules for name in one.namespaces}
    return "*" in names or len(names) > 1


def _queues(number: int) -> str:
    return "1 queue" if number == 1 else f"{number} queues"
