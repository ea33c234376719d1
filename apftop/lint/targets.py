"""Targets of rules that match no request which the API serves, or none that flow control sees (1.26 to 1.37).

Of resources it judges those of Kubernetes itself: any other API group may hold a resource of any name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apftop.apf.attributes import Attributes, bypasses
from apftop.apf.objects import NonResourceRule, ResourceRule
from apftop.apf.request_path import path_parts
from apftop.classifying import by_path
from apftop.classifying.resources import of_plural, own_groups, resource
from apftop.lint.policy import Document
from apftop.present import plain
from apftop.records.linting import Fault

METHODS = frozenset(map(str.lower, by_path.METHODS))
"""The verb of a request that is for no resource is its HTTP method."""

ACROSS = frozenset({"list", "watch", "*"})
"""Verbs of the requests for namespaced resources that the API serves without a namespace."""

OF_ALL_NAMESPACES = frozenset({"list", "create", "deletecollection"})
OF_ONE_NAMESPACE = frozenset({"get", "update", "patch", "delete"})
"""Verbs of requests for namespaces as such: one that names a namespace is in it."""

_VERSION = re.compile(r"v\d+((alpha|beta)\d+)?")


@dataclass(frozen=True, slots=True)
class Judged:
    """What is wrong with a part of a schema, and whether that leaves nothing which it matches."""

    faults: tuple[Fault, ...] = ()
    nothing: bool = False


def of_resources(document: Document, rule: ResourceRule, at: str) -> Judged:
    """Names, groups, verbs and scope that leave a resource rule, or some of its resources, without a request."""
    if rule.verbs == ("proxy",):
        text = "flow control never sees requests with the verb proxy: they last, and take no seats"
        fault = document.fault("never-seen", "warning", text, "leave it out", f"{at}.verbs")
        return Judged((fault,), nothing=True)
    faults = [
        document.fault("matches-nothing", "warning", *why, f"{at}.apiGroups")
        for group in rule.api_groups
        if (why := _group_fault(group))
    ]
    groups = [group for group in rule.api_groups if not _group_fault(group)]
    if faults and not groups:
        return Judged(tuple(faults), nothing=True)
    dead = 0
    for name in rule.resources:
        one = _unseen(document, rule, name, at) or _unmatched(document, rule, groups, name, at)
        faults += [one] if one else []
        dead += one is not None
    if not dead and _only_across(rule, groups):
        text = "without namespaces it matches lists and watches over all namespaces only, and nothing within one"
        faults.append(document.fault("only-across", "note", text, "name namespaces, or * for all", at))
    return Judged(tuple(faults), nothing=bool(rule.resources) and dead == len(rule.resources))


def of_urls(document: Document, rule: NonResourceRule, at: str) -> Judged:
    """Verbs and URLs that leave a non-resource rule, or some of its URLs, without a request."""
    if rule.verbs and rule.verbs != ("*",) and not set(rule.verbs) & METHODS:
        text = f"the verb of such a request is its HTTP method, so {plain(', '.join(rule.verbs))} matches nothing"
        fault = document.fault("matches-nothing", "warning", text, "use get, patch, delete or *", f"{at}.verbs")
        return Judged((fault,), nothing=True)
    faults = tuple(_url_faults(document, rule, f"{at}.nonResourceURLs"))
    return Judged(faults, nothing=bool(faults) and len(faults) == len(rule.urls))


def _url_faults(document: Document, rule: NonResourceRule, at: str) -> Iterator[Fault]:
    """One fault for each URL that matches nothing."""
    for url in rule.urls:
        prefix = url.removesuffix("*")
        if path_parts(prefix).resource_request:
            text = f"{plain(url)} is the path of a resource, which resourceRules match and this does not"
            yield document.fault("matches-nothing", "warning", text, "write a resource rule", at)
        elif bypasses(Attributes("", (), "get", prefix, resource_request=False)):
            text = f"flow control never sees requests for {plain(url)}: profiles last, and take no seats"
            yield document.fault("never-seen", "warning", text, "leave it out", at)


def _group_fault(group: str) -> tuple[str, str] | None:
    """Why no resource is in an API group, and what to do; None for any other group."""
    name = plain(group)
    if "/" in group:
        return f"{name} is a group with its version, and matches nothing", f"write {plain(group.partition('/')[0])}"
    if group == "core" or _VERSION.fullmatch(group):
        return f"{name} is no API group: that of pods, services and nodes has an empty name", 'write ""'
    if "*" in group and group != "*":
        return f"{name} is no pattern: it matches nothing", "name each group, or * alone"
    return None


def _unseen(document: Document, rule: ResourceRule, name: str, at: str) -> Fault | None:
    subresource = name.partition("/")[2]
    # A watch is seen whatever it is for.
    last = bypasses(Attributes("", (), "get", "", resource_request=True, subresource=subresource))
    if not last or rule.verbs == ("watch",):
        return None
    text = f"flow control never sees requests for {plain(name)}: they last, and take no seats"
    return document.fault("never-seen", "warning", text, "leave it out", f"{at}.resources")


def _unmatched(document: Document, rule: ResourceRule, groups: Sequence[str], name: str, at: str) -> Fault | None:
    """The fault of a resource that the rule names for which it matches no request."""
    plural = name.partition("/")[0]
    right, scopes = _plural(plural, groups), _scopes(plural, groups)
    if "*" in name and name != "*":
        text, advice = (
            f"{plain(name)} is no pattern here, as it is in RBAC: it matches nothing",
            "name each, or * alone",
        )
    elif right:
        text, advice = f"{plain(name)} matches nothing: requests name the resource {right}", f"write {right}"
    elif scopes is None:
        return None
    elif not scopes:
        its = " or ".join(sorted(group or '"" (core)' for group in of_plural(plural)))
        text = f"{plain(name)} is not in the API groups of the rule: it is in {its}"
        return document.fault("matches-nothing", "warning", text, f"name the group {its}", f"{at}.apiGroups")
    elif why := _scope_fault(rule, name, scopes):
        return document.fault("matches-nothing", "warning", *why, at)
    else:
        return None
    return document.fault("matches-nothing", "warning", text, advice, f"{at}.resources")


def _plural(name: str, groups: Sequence[str]) -> str:
    """How requests name a resource that is named by its kind, in the singular, in short or with its group; else empty.

    Only of groups of Kubernetes itself; a name in capitals or with a dot is that of no custom resource either.
    """
    known = None if of_plural(name) else resource(name)
    if known is None or not of_plural(known.name):
        return ""
    bare, _, group = name.lower().partition(".")
    if group:
        return known.name if group in of_plural(bare) else ""
    ours = all(one in own_groups() for one in groups) and any(one in of_plural(known.name) for one in groups)
    return known.name if ours or (name != name.lower() and list(groups) == ["*"]) else ""


def _scopes(plural: str, groups: Sequence[str]) -> set[bool] | None:
    """Whether a resource is namespaced, in those of the groups that have it; None if another one may be meant."""
    known = of_plural(plural)
    if not known or not all(group in own_groups() for group in groups):
        return None
    return {known[group] for group in groups if group in known}


def _scope_fault(rule: ResourceRule, name: str, scopes: set[bool]) -> tuple[str, str] | None:
    """Why no request for a resource has the scope of the rule, and what to do; None where some have."""
    verbs, (plural, _, subresource) = set(rule.verbs), name.partition("/")
    shown = plain(name)
    if plural == "namespaces":
        if not rule.cluster_scope and not subresource and verbs <= OF_ALL_NAMESPACES:
            return (
                "lists and creations of namespaces have no namespace, and the rule is for one",
                "set clusterScope: true",
            )
        if not rule.namespaces and (subresource or verbs <= OF_ONE_NAMESPACE):
            return (
                f"requests for {shown} that name one are in that namespace, and the rule is for none",
                'set namespaces: ["*"]',
            )
        return None
    if scopes == {False} and not rule.cluster_scope:
        text = f"{shown} have no namespace, and the rule is for requests in namespaces only"
        return text, "set clusterScope: true"
    if scopes == {True} and not rule.namespaces and (subresource or not verbs & ACROSS):
        return (
            f"such requests for {shown} are in a namespace, and the rule is for none",
            "name namespaces, or * for all",
        )
    return None


def _only_across(rule: ResourceRule, groups: Sequence[str]) -> bool:
    """Whether it is for resources in namespaces, names none, and has verbs that need one."""
    if rule.namespaces or not rule.resources or set(rule.verbs) <= ACROSS | {"deletecollection"}:
        return False
    return all(_scopes(name.partition("/")[0], groups) == {True} for name in rule.resources)
