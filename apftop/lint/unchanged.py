"""Whether an object is nothing new: the same as another one, or what it always was."""

from __future__ import annotations

from dataclasses import replace

from apftop.apf.builtins import builtin_levels
from apftop.apf.objects import FlowSchema, Meta, PriorityLevelConfiguration
from apftop.lint.policy import Policy

Made = FlowSchema | PriorityLevelConfiguration


def same_spec(one: Made, other: Made) -> bool:
    """Whether two objects of one kind have the same spec, whatever their metadata and status."""
    nobody = Meta("")
    return replace(one, meta=nobody, conditions=()) == replace(other, meta=nobody, conditions=())


def is_old(level: PriorityLevelConfiguration, policy: Policy) -> bool:
    """Whether servers make a level like this, or it is there like this already and the given objects are a change.

    What it always was is no fault of a change.
    """
    known = [builtin_levels().get(level.name)]
    if not policy.whole:
        known.append(policy.before.levels.get(level.name))
    return any(one is not None and same_spec(level, one) for one in known)
