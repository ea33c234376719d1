"""The order in which schemas are tried: which never get a request, and which share a precedence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from apftop.apf.builtins import builtin_schemas
from apftop.apf.containment import overlap, shadowed
from apftop.apf.objects import FlowSchema
from apftop.lint.policy import Policy
from apftop.present import plain
from apftop.records.linting import Fault

AT = "spec.matchingPrecedence"


def order(policy: Policy) -> Iterator[Fault]:
    """Faults of the order by (precedence, name); schemas whose level is missing are not tried."""
    tried = [one for one in _ordered(policy) if one.priority_level in policy.after.levels]
    builtin = builtin_schemas(policy.target)
    for at, schema in enumerate(tried):
        by = shadowed(schema, tried[:at])
        if by and not _is_as_built(schema, builtin):
            names = ", ".join(f"{plain(one.name)} ({one.precedence})" for one in by)
            text = f"it is never reached: by their rules {names} match each of its requests before"
            advice = f"give it a precedence below {min(one.precedence for one in by)}, or delete it"
            yield policy.fault("FlowSchema", schema.name, "shadowed-schema", "error", text, advice, AT)
    for one, other in combinations(tried, 2):
        if one.precedence != other.precedence or one.priority_level == other.priority_level:
            continue
        if _is_as_built(one, builtin) and _is_as_built(other, builtin):
            continue
        if overlap(one.rules, other.rules):
            text = f"it and {plain(one.name)} have precedence {one.precedence} and share requests: the name decides"
            advice = "give each a precedence of its own"
            yield policy.fault("FlowSchema", other.name, "precedence-tie", "warning", text, advice, AT)


def _ordered(policy: Policy) -> Sequence[FlowSchema]:
    return sorted(policy.after.schemas.values(), key=lambda one: (one.precedence, one.name.encode()))


def _is_as_built(schema: FlowSchema, builtin: dict[str, FlowSchema]) -> bool:
    its = builtin.get(schema.name)
    return its is not None and (its.rules, its.precedence) == (schema.rules, schema.precedence)
