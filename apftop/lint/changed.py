"""Whether a level is nothing new, so that what it always was is not told as a fault of a change."""

from __future__ import annotations

from apftop.apf.builtins import builtin_levels
from apftop.apf.objects import PriorityLevelConfiguration
from apftop.lint.fates import same_spec
from apftop.lint.policy import Policy


def is_old(level: PriorityLevelConfiguration, policy: Policy) -> bool:
    """Whether servers make it like this, or it is there like this already and the given objects are a change."""
    known = [builtin_levels().get(level.name)]
    if not policy.whole:
        known.append(policy.before.levels.get(level.name))
    return any(one is not None and same_spec(level, one) for one in known)
