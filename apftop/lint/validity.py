"""What the API refuses of an object's own spec, by the rules of the target release (1.26 to 1.37).

Compared with servers of 1.30 and 1.37, object by object. Not seen: `finalizers` and `ownerReferences` of a wrong form,
a `resourceVersion` on an object that is new. Called broken though servers take it: an object with `generateName` alone,
which can be created and not applied; a null in a list of texts, which is an empty text there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from apftop.apf.objects import (
    EXEMPT,
    FlowSchema,
    NonResourceRule,
    PriorityLevelConfiguration,
    ResourceRule,
    Rule,
    Subject,
)
from apftop.apf.release import holds
from apftop.apf.shards import hand_fault
from apftop.lint.policy import Document, Policy
from apftop.present import plain
from apftop.records.linting import Fault

VERBS = frozenset(["get", "list", "create", "update", "delete", "deletecollection", "patch", "watch", "proxy"])
MOST_PRECEDENCE = 10_000
ZERO_REFUSED = (">=1.29 <1.30",)
"""Releases whose API refuses 0 shares in a limited level, unless the object had 0 before; up to 1.28 0 means 30."""

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def validity(policy: Policy) -> Iterator[Fault]:
    """What is refused of each given object, whatever else there is."""
    for document in policy.given:
        yield from spec_faults(document, policy)


def spec_faults(document: Document, policy: Policy) -> Iterator[Fault]:
    """What is refused of one object; a fault that is no error is only of no use."""
    # Where there is no name, the object is broken.
    if document.name and not _is_subdomain(document.name):
        text = f"the name {plain(document.name)!r} is no DNS subdomain"
        yield _refused(document, "invalid-name", text, "metadata.name")
    made = document.object
    if isinstance(made, FlowSchema):
        yield from _of_schema(document, made)
    elif isinstance(made, PriorityLevelConfiguration):
        yield from _of_level(document, made, policy)


def _refused(document: Document, code: str, text: str, place: str) -> Fault:
    return document.fault(code, "error", text, "servers refuse it", place)


def _of_schema(document: Document, schema: FlowSchema) -> Iterator[Fault]:
    at = "spec.matchingPrecedence"
    if not 1 <= schema.precedence <= MOST_PRECEDENCE:
        yield _refused(document, "invalid-precedence", f"precedence {schema.precedence} is not from 1 to 10000", at)
    elif schema.precedence == 1 and schema.name != EXEMPT:
        yield _refused(document, "invalid-precedence", "only the schema `exempt` may have precedence 1", at)
    if not _is_subdomain(schema.priority_level):
        at = "spec.priorityLevelConfiguration.name"
        text = f"the level's name {plain(schema.priority_level)!r} is no DNS subdomain"
        yield _refused(document, "invalid-reference", text, at)
    if not schema.rules:
        yield document.fault(
            "no-rules", "warning", "it has no rules, and so matches nothing", "give it rules, or delete it", "spec"
        )
    for number, rule in enumerate(schema.rules):
        at = f"spec.rules[{number}]"
        if not rule.subjects:
            yield _refused(document, "invalid-rule", f"rule {number + 1} has no subjects", at)
        for index, subject in enumerate(rule.subjects):
            yield from _of_subject(document, subject, f"{at}.subjects[{index}]")
        yield from _unions(document, rule, number)
        if not rule.resource_rules and not rule.non_resource_rules:
            text = f"rule {number + 1} has neither resourceRules nor nonResourceRules"
            yield _refused(document, "invalid-rule", text, at)
        for index, one in enumerate(rule.resource_rules):
            yield from _of_resource_rule(document, one, f"{at}.resourceRules[{index}]")
        for index, other in enumerate(rule.non_resource_rules):
            yield from _of_url_rule(document, other, f"{at}.nonResourceRules[{index}]")


def _of_subject(document: Document, subject: Subject, at: str) -> Iterator[Fault]:
    if not subject.name:
        yield _refused(document, "invalid-subject", f"the {subject.kind} has no name", at)
    if subject.kind != "ServiceAccount":
        return
    if not _is_label(subject.namespace):
        text = (
            f"{plain(subject.namespace)!r} is no namespace: all namespaces at once are the group system:serviceaccounts"
        )
        yield _refused(document, "invalid-subject", text, f"{at}.serviceAccount.namespace")
    if subject.name not in ("", "*") and not _is_subdomain(subject.name):
        text = f"{plain(subject.name)!r} is no name of a service account"
        yield _refused(document, "invalid-subject", text, f"{at}.serviceAccount.name")


def _unions(document: Document, rule: Rule, number: int) -> Iterator[Fault]:
    """Subjects that say who they are twice; the model keeps only what their kind tells."""
    spec: Any = document.fields["spec"]
    for index, (subject, raw) in enumerate(zip(rule.subjects, spec["rules"][number]["subjects"], strict=True)):
        for part, kind in (("user", "User"), ("group", "Group"), ("serviceAccount", "ServiceAccount")):
            if kind != subject.kind and raw.get(part) is not None:
                at = f"spec.rules[{number}].subjects[{index}].{part}"
                yield _refused(document, "invalid-subject", f"{part} is given though its kind is {subject.kind}", at)


def _of_resource_rule(document: Document, rule: ResourceRule, at: str) -> Iterator[Fault]:
    yield from _verbs(document, rule.verbs, at)
    for name, values in (("apiGroups", rule.api_groups), ("resources", rule.resources)):
        yield from _listed(document, values, f"{at}.{name}", name)
    if not rule.namespaces and not rule.cluster_scope:
        text = "it names no namespaces and is not for cluster-scoped requests (clusterScope)"
        yield _refused(document, "invalid-rule", text, at)
    elif rule.namespaces:
        yield from _listed(document, rule.namespaces, f"{at}.namespaces", "namespaces")
        for name in rule.namespaces:
            if name != "*" and not _is_label(name):
                text = f"{plain(name)!r} is no namespace"
                yield _refused(document, "invalid-rule", text, f"{at}.namespaces")


def _of_url_rule(document: Document, rule: NonResourceRule, at: str) -> Iterator[Fault]:
    yield from _verbs(document, rule.verbs, at)
    yield from _listed(document, rule.urls, f"{at}.nonResourceURLs", "nonResourceURLs")
    for url in rule.urls:
        if url != "*" and (why := _url_fault(url)):
            yield _refused(document, "invalid-url", f"{plain(url)!r} {why}", f"{at}.nonResourceURLs")


def _url_fault(url: str) -> str:
    if not url.startswith("/"):
        return "does not begin with /"
    if " " in url:
        return "has a blank"
    if "//" in url:
        return "has //"
    if url.count("*") > 1 or ("*" in url and not url.endswith("/*")):
        return "has a * that is not a last /*"
    return ""


def _verbs(document: Document, verbs: Sequence[str], at: str) -> Iterator[Fault]:
    yield from _listed(document, verbs, f"{at}.verbs", "verbs")
    if unknown := sorted(set(verbs) - VERBS - {"*"}):
        text = f"{plain(unknown[0])!r} is no verb of the API: {', '.join(sorted(VERBS))}, or * alone"
        yield _refused(document, "invalid-verb", text, f"{at}.verbs")


def _listed(document: Document, values: Sequence[str], at: str, name: str) -> Iterator[Fault]:
    if not values:
        yield _refused(document, "invalid-rule", f"{name} is empty", at)
    elif "*" in values and len(values) > 1:
        yield _refused(document, "invalid-rule", f"{name} has * beside others; it must stand alone", at)


def _of_level(document: Document, level: PriorityLevelConfiguration, policy: Policy) -> Iterator[Fault]:
    if level.exempt != (level.name == EXEMPT):
        text = "type is Exempt if and only if the name is `exempt`"
        yield _refused(document, "invalid-type", text, "spec.type")
    inner = "spec.exempt" if level.exempt else "spec.limited"
    at = f"{inner}.nominalConcurrencyShares"
    if level.shares < 0:
        yield _refused(document, "invalid-shares", f"{level.shares} shares are fewer than none", at)
    elif level.shares == 0 and not level.exempt and holds(policy.target, ZERO_REFUSED) and not _had_none(level, policy):
        text = "0 shares are refused by 1.29, unless the object had 0 before"
        yield _refused(document, "invalid-shares", text, at)
    if not 0 <= level.lendable_percent <= 100:
        text = f"lendablePercent {level.lendable_percent} is not from 0 to 100"
        yield _refused(document, "invalid-percent", text, f"{inner}.lendablePercent")
    if level.borrowing_limit_percent is not None and level.borrowing_limit_percent < 0:
        text = f"borrowingLimitPercent {level.borrowing_limit_percent} is below 0"
        yield _refused(document, "invalid-percent", text, f"{inner}.borrowingLimitPercent")
    if level.queuing is None:
        return
    at = f"{inner}.limitResponse.queuing"
    if why := hand_fault(level.queuing.queues, level.queuing.hand_size):
        yield _refused(document, "invalid-hand", why, at)
    if level.queuing.queue_length_limit < 1:
        text = f"queueLengthLimit {level.queuing.queue_length_limit} is below 1"
        yield _refused(document, "invalid-queues", text, f"{at}.queueLengthLimit")


def _had_none(level: PriorityLevelConfiguration, policy: Policy) -> bool:
    before = policy.before.levels.get(level.name)
    return before is not None and before.shares == 0


def _is_subdomain(name: str) -> bool:
    return len(name) <= 253 and _SUBDOMAIN.fullmatch(name) is not None


def _is_label(name: str) -> bool:
    return len(name) <= 63 and _LABEL.fullmatch(name) is not None
