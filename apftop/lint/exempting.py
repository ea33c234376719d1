"""Schemas that take whole kinds of clients out of flow control."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.apf.objects import EXEMPT, FlowSchema, Subject
from apftop.findings.policies.exempt import broad
from apftop.findings.policies.owners import as_built
from apftop.lint.policy import Policy
from apftop.present import plain
from apftop.records.linting import Fault, Gravity
from apftop.rules import rules


def exempting(policy: Policy) -> Iterator[Fault]:
    """Given schemas that send groups of everybody to the exempt level; paths such as /healthz alone are no fault."""
    for document in policy.given:
        schema = document.object
        if not isinstance(schema, FlowSchema) or schema.priority_level != EXEMPT or as_built(schema):
            continue
        meant = [one for rule in schema.rules if rule.resource_rules for one in rule.subjects if _is_broad(one)]
        if not meant:
            continue
        who = ", ".join(dict.fromkeys(plain(one.name) if one.name != "*" else "everybody" for one in meant))
        groups, verbs = broad(schema)
        gravity: Gravity = "error" if groups else "warning"
        text = f"it sends some requests of {who} to the exempt level: nothing limits these"
        if groups:
            text = f"it sends {who} to the exempt level: nothing limits their {', '.join(verbs)} requests"
        advice = "name single accounts, or use a level with a limit"
        yield document.fault("broad-exempt", gravity, text, advice, "spec.rules")


def _is_broad(subject: Subject) -> bool:
    return subject.kind != "ServiceAccount" and (subject.name == "*" or subject.name in rules().findings.exempt.broad)
