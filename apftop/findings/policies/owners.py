"""Whose a schema is: the servers' own as they make it, a provider's, or that of those who run the cluster."""

from __future__ import annotations

from functools import cache

from apftop.apf.builtins import builtin_schemas
from apftop.apf.containment import covers
from apftop.apf.objects import FlowSchema
from apftop.apf.release import Release
from apftop.rules import rules


def as_built(schema: FlowSchema) -> bool:
    """Whether it is one that servers make, with the requests, level and precedence that they give it."""
    made = built(schema.name)
    return (
        made is not None
        and (made.precedence, made.priority_level) == (schema.precedence, schema.priority_level)
        and (made.rules == schema.rules or (covers(made.rules, schema.rules) and covers(schema.rules, made.rules)))
    )


def provider(schema: FlowSchema) -> str:
    """The provider of a managed cluster that it is of, by its name; empty for all others."""
    known = rules().findings.policy.providers
    return next((name for prefix, name in known.items() if schema.name.startswith(prefix)), "")


def own(schema: FlowSchema) -> bool:
    """Whether those who run the cluster made it or edited it."""
    return not as_built(schema) and not provider(schema)


def guard(schema: FlowSchema) -> bool:
    """Whether a provider put it there to throttle the cluster."""
    return schema.name in rules().findings.policy.guards


def built(name: str) -> FlowSchema | None:
    """The schema of a name as servers make it, in any release from 1.26 to 1.37."""
    return _all_built().get(name)


@cache
def _all_built() -> dict[str, FlowSchema]:
    return builtin_schemas(Release(1, 26)) | builtin_schemas(Release(1, 37))
