"""Schemas, rules and subjects that no request can match, though the API takes them."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.apf.identity import account_of
from apftop.apf.objects import FlowSchema, NonResourceRule, ResourceRule, Subject
from apftop.apf.request_path import path_parts
from apftop.classifying.resources import of_plural
from apftop.lint.policy import Document, Policy
from apftop.present import plain
from apftop.records.linting import Fault

UNSEEN = frozenset({"attach", "exec", "proxy", "log", "portforward"})
"""Subresources whose requests last: flow control never sees them, unless they are watches (1.26 to 1.37)."""

GROUPS = ("system:serviceaccounts", "system:authenticated", "system:unauthenticated", "system:masters", "system:nodes")
"""Beginnings of names that only groups have."""

METHODS = frozenset({"get", "head", "post", "put", "patch", "delete", "options", "connect", "trace"})
"""The verb of a request that is for no resource is its HTTP method."""


def reach(policy: Policy) -> Iterator[Fault]:
    """Parts of the given schemas that match nothing."""
    for document in policy.given:
        if not isinstance(document.object, FlowSchema):
            continue
        for number, rule in enumerate(document.object.rules):
            at = f"spec.rules[{number}]"
            for index, subject in enumerate(rule.subjects):
                yield from _subject(document, subject, f"{at}.subjects[{index}]")
            for index, one in enumerate(rule.resource_rules):
                yield from _resources(document, one, f"{at}.resourceRules[{index}]")
            for index, other in enumerate(rule.non_resource_rules):
                yield from _urls(document, other, f"{at}.nonResourceRules[{index}]")


def _subject(document: Document, subject: Subject, at: str) -> Iterator[Fault]:
    name = plain(subject.name)
    if subject.kind == "Group" and account_of(subject.name) is not None:
        text, advice = (
            f"{name} is the name of a user, not of a group",
            "use kind ServiceAccount, with namespace and name",
        )
    elif subject.kind == "User" and subject.name.startswith(GROUPS):
        text, advice = f"{name} is the name of a group, not of a user", "use kind Group"
    elif subject.kind != "ServiceAccount" and subject.name != "*" and "*" in subject.name:
        text, advice = f"{name} is no pattern: * stands for everybody only where it is all of the name", "name each"
    else:
        return
    yield document.fault("matches-nobody", "warning", text, advice, at)


def _resources(document: Document, rule: ResourceRule, at: str) -> Iterator[Fault]:
    for name in rule.resources:
        subresource = name.partition("/")[2]
        if subresource in UNSEEN and rule.verbs != ("watch",):
            text = f"flow control never sees requests for {plain(name)}: they last, and take no seats"
            yield document.fault("never-seen", "warning", text, "leave it out", f"{at}.resources")
        if "*" in name and name != "*":
            text = f"{plain(name)} is no pattern here, as it is in RBAC: it matches nothing"
            yield document.fault("matches-nothing", "warning", text, "name each, or * alone", f"{at}.resources")
    known = {name: of_plural(name.partition("/")[0]) for name in rule.resources}
    for name, groups in known.items():
        if groups and rule.api_groups != ("*",) and not groups.keys() & set(rule.api_groups):
            its = " or ".join(sorted(plain(group) or '"" (core)' for group in groups))
            text = f"{plain(name)} is not in the API groups of the rule: it is in {its}"
            yield document.fault("matches-nothing", "warning", text, f"name the group {its}", f"{at}.apiGroups")
    scopes = {scope for groups in known.values() for scope in groups.values()}
    whole = rule.resources != ("*",) and all(known.values()) and known
    if whole and scopes == {False} and not rule.cluster_scope and set(rule.resources) != {"namespaces"}:
        text = f"{plain(', '.join(rule.resources))} have no namespace, and the rule is for requests in namespaces only"
        yield document.fault("matches-nothing", "warning", text, "set clusterScope: true", at)
    elif whole and scopes == {True} and not rule.namespaces:
        if set(rule.verbs) <= {"list", "watch", "deletecollection", "*"}:
            return
        text = "without namespaces it matches lists and watches over all namespaces only, and nothing within one"
        yield document.fault("only-across", "note", text, "name namespaces, or * for all", at)


def _urls(document: Document, rule: NonResourceRule, at: str) -> Iterator[Fault]:
    if rule.verbs != ("*",) and not set(rule.verbs) & METHODS:
        text = f"the verb of such a request is its HTTP method, so {plain(', '.join(rule.verbs))} matches nothing"
        yield document.fault("matches-nothing", "warning", text, "use get, patch, delete or *", f"{at}.verbs")
    for url in rule.urls:
        if path_parts(url.removesuffix("*")).resource:
            text = f"{plain(url)} is the path of a resource, which resourceRules match and this does not"
            yield document.fault("matches-nothing", "warning", text, "write a resource rule", f"{at}.nonResourceURLs")
