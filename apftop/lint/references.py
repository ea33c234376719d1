"""Schemas whose level is missing, and levels that no schema leads to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from apftop.apf.objects import MANDATORY
from apftop.findings.policies.policy import near_name
from apftop.lint.nominal import nominal_seats
from apftop.lint.policy import Document, Noun, Objects, Policy
from apftop.lint.raw_fields import text_at
from apftop.present import plain
from apftop.records.linting import Fault, Gravity

LEVEL: Noun = "PriorityLevelConfiguration"
AT = "spec.priorityLevelConfiguration.name"


def dangling(objects: Objects) -> tuple[str, ...]:
    """Schemas that servers ignore because their level has no object, mandatory levels among them, by name."""
    return tuple(sorted(name for name, one in objects.schemas.items() if one.priority_level not in objects.levels))


def near_names(objects: Objects) -> Mapping[str, str]:
    """For each level that is missing the one that was probably meant, where one is near."""
    found: dict[str, str] = {}
    for name in dangling(objects):
        level = objects.schemas[name].priority_level
        near = near_name(level, sorted(objects.levels))
        if near is not None:
            found[level] = near
    return found


def unreferenced(objects: Objects, policy: Policy) -> Mapping[str, int]:
    """Levels that no schema leads to, with the nominal seats that they take; without mandatory ones."""
    used = {one.priority_level for one in objects.schemas.values()}
    nominal = nominal_seats(objects, policy)
    return {name: nominal.get(name, 0) for name in objects.levels if name not in used and name not in MANDATORY}


def references(policy: Policy) -> Iterator[Fault]:
    """Faults of schemas and levels that do not lead to one another."""
    yield from _dangling(policy)
    yield from _unreferenced(policy)


def _dangling(policy: Policy) -> Iterator[Fault]:
    near = near_names(policy.after)
    for name in dangling(policy.after):
        level = policy.after.schemas[name].priority_level
        shown, broken = plain(level), policy.document(LEVEL, level)
        gravity: Gravity = "error"
        if broken is not None:
            text = f"its level {shown} is broken{_at(broken)}, and servers ignore a schema whose level is not there"
            advice = "mend the level"
        elif policy.knows(LEVEL):
            text = f"its level {shown} does not exist, so servers ignore it"
            advice = f"make a level {shown}, or name another"
        else:
            text = f"its level {shown} is neither given nor built in: servers ignore it unless that is there already"
            advice = f"give {shown} too, make it, or name another level"
            gravity = "error" if policy.gives(LEVEL) else "warning"
        if level in near and broken is None:
            text, advice, gravity = (
                f"{text}; {near[level]} was probably meant",
                f"name the level {near[level]}",
                "error",
            )
        yield policy.fault("FlowSchema", name, "dangling-schema", gravity, text, advice, AT)


def _unreferenced(policy: Policy) -> Iterator[Fault]:
    broken = [one for one in policy.given if one.kind == "FlowSchema" and one.object is None]
    for name, seats in unreferenced(policy.after, policy).items():
        who = "no FlowSchema leads to it" if policy.knows("FlowSchema") else "no FlowSchema here leads to it"
        advice = "make a schema that leads to it, or delete it"
        if meant := [one for one in broken if text_at(one.fields, *AT.split(".")) == name]:
            who = f"only FlowSchema {plain(meant[0].name)} leads to it, which is broken{_at(meant[0])}"
            advice = "mend the schema"
        text = f"{who}, and it takes {seats} of {policy.concurrency} nominal seats"
        known = policy.knows("FlowSchema") or policy.gives("FlowSchema")
        gravity: Gravity = "warning" if seats and known else "note"
        yield policy.fault(LEVEL, name, "unreferenced-level", gravity, text, advice)


def _at(document: Document) -> str:
    return f" ({plain(document.file)}:{document.line('')})" if document.file else ""
