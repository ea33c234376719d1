"""Schemas whose level is missing, and levels that no schema leads to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from apftop.apf.objects import MANDATORY
from apftop.lint.nominal import nominal_seats
from apftop.lint.policy import Objects, Policy
from apftop.present import plain
from apftop.records.linting import Fault, Gravity


def dangling(objects: Objects) -> tuple[str, ...]:
    """Schemas that servers ignore because their level has no object, mandatory levels among them, by name."""
    return tuple(sorted(name for name, one in objects.schemas.items() if one.priority_level not in objects.levels))


def near_names(objects: Objects) -> Mapping[str, str]:
    """For each level that is missing the one that was probably meant, where one is near."""
    found: dict[str, str] = {}
    for name in dangling(objects):
        level = objects.schemas[name].priority_level
        near = get_close_matches(level.lower(), sorted(objects.levels), n=1, cutoff=0.75)
        if near:
            found[level] = near[0]
    return found


def unreferenced(objects: Objects, policy: Policy) -> Mapping[str, int]:
    """Levels that no schema leads to, with the nominal seats that they take; without mandatory ones."""
    used = {one.priority_level for one in objects.schemas.values()}
    nominal = nominal_seats(objects, policy)
    return {name: nominal.get(name, 0) for name in objects.levels if name not in used and name not in MANDATORY}


def references(policy: Policy) -> Iterator[Fault]:
    """Faults of schemas and levels that do not lead to one another."""
    near = near_names(policy.after)
    for name in dangling(policy.after):
        level = policy.after.schemas[name].priority_level
        meant = f"; {near[level]} was probably meant" if level in near else ""
        text = f"its level {plain(level)} does not exist, so servers ignore it{meant}"
        advice = f"name the level {near[level]}" if level in near else f"make a level {plain(level)}, or name another"
        yield policy.fault(
            "FlowSchema", name, "dangling-schema", "error", text, advice, "spec.priorityLevelConfiguration.name"
        )
    for name, seats in unreferenced(policy.after, policy).items():
        text = f"no FlowSchema leads to it, and it takes {seats} of {policy.concurrency} nominal seats"
        gravity: Gravity = "warning" if seats else "note"
        advice = "make a schema that leads to it, or delete it"
        yield policy.fault("PriorityLevelConfiguration", name, "unreferenced-level", gravity, text, advice)
