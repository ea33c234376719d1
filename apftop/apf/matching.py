"""Whether one rule of a flow schema matches a request, and which part of it decides (1.26 to 1.37).

`*` counts only as the sole element of a list. A resource rule knows no patterns: `pods` does not match `pods/log`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from apftop.apf.attributes import Attributes
from apftop.apf.identity import SERVICE_ACCOUNT_PREFIX
from apftop.apf.objects import NonResourceRule, ResourceRule, Rule, Subject

Part = Literal[
    "subjects",
    "resourceRules",
    "nonResourceRules",
    "verbs",
    "apiGroups",
    "resources",
    "namespaces",
    "clusterScope",
    "nonResourceURLs",
]
"""The parts of a rule that a request can fail on; `resourceRules` or `nonResourceRules` where there are none."""


@dataclass(frozen=True, slots=True)
class Miss:
    """Why one rule did not match: its first part that failed, what that part asks for, and what the request has.

    `rule` and `target` count from 0; `target` is None where no resource or non-resource rule was looked at.
    """

    rule: int
    target: int | None
    part: Part
    wanted: tuple[str, ...]
    got: str


def subject_matches(subject: Subject, request: Attributes) -> bool:
    """Whether a rule is about the one who asks; service accounts go by the user's name, not by its groups."""
    match subject.kind:
        case "User":
            return subject.name in ("*", request.user)
        case "Group":
            return subject.name == "*" or subject.name in request.groups
        case "ServiceAccount":
            account = f"{SERVICE_ACCOUNT_PREFIX}{subject.namespace}:"
            if subject.name == "*":
                return request.user.startswith(account)
            return request.user == account + subject.name


def target_matches(rule: Rule, request: Attributes) -> bool:
    """Whether any resource rule (for a resource request) or any non-resource rule (for others) matches."""
    if request.resource_request:
        for one in rule.resource_rules:  # noqa: SIM110 - a generator takes twice the time
            if resource_miss(one, request) is None:
                return True
        return False
    return any(url_miss(one, request) is None for one in rule.non_resource_rules)


def rule_misses(index: int, rule: Rule, request: Attributes) -> list[Miss]:
    """Why a rule does not match: one entry for the subjects, or one for each target; empty if it matches."""
    if not any(subject_matches(subject, request) for subject in rule.subjects):
        wanted = tuple(_subject_text(subject) for subject in rule.subjects)
        return [Miss(index, None, "subjects", wanted, request.user)]
    misses: list[Miss] = []
    if request.resource_request:
        for target, one in enumerate(rule.resource_rules):
            part = resource_miss(one, request)
            if part is None:
                return []
            misses.append(Miss(index, target, part, *_resource_facts(one, part, request)))
        return misses or [Miss(index, None, "resourceRules", (), request.target)]
    for target, other in enumerate(rule.non_resource_rules):
        part = url_miss(other, request)
        if part is None:
            return []
        wanted, got = (other.verbs, request.verb) if part == "verbs" else (other.urls, request.path)
        misses.append(Miss(index, target, part, wanted, got))
    return misses or [Miss(index, None, "nonResourceRules", (), request.path)]


def resource_miss(rule: ResourceRule, request: Attributes) -> Part | None:
    """The first part of a resource rule that a resource request fails on; None if it matches.

    A request without a namespace needs `clusterScope`, whatever the namespaces of the rule.
    """
    if not _has(rule.verbs, request.verb):
        return "verbs"
    if not _has(rule.resources, request.target):
        return "resources"
    if not _has(rule.api_groups, request.api_group):
        return "apiGroups"
    if not request.namespace:
        return None if rule.cluster_scope else "clusterScope"
    return None if _has(rule.namespaces, request.namespace) else "namespaces"


def url_miss(rule: NonResourceRule, request: Attributes) -> Part | None:
    """The first part of a non-resource rule that a non-resource request fails on; None if it matches."""
    if not _has(rule.verbs, request.verb):
        return "verbs"
    return None if any(_url_matches(url, request.path) for url in rule.urls) else "nonResourceURLs"


def _url_matches(url: str, path: str) -> bool:
    if url in ("*", path):
        return True
    # Wider than the API says: /healthz matches what is below it too, with or without a star.
    prefix = url.removesuffix("*")
    return path.startswith(prefix if prefix.endswith("/") else prefix + "/")


def _has(wanted: tuple[str, ...], value: str) -> bool:
    return value in wanted or wanted == ("*",)


def _resource_facts(rule: ResourceRule, part: Part, request: Attributes) -> tuple[tuple[str, ...], str]:
    match part:
        case "verbs":
            return rule.verbs, request.verb
        case "resources":
            return rule.resources, request.target
        case "apiGroups":
            return rule.api_groups, request.api_group
        case "clusterScope":
            return ("false",), ""
        case _:
            return rule.namespaces, request.namespace


def _subject_text(subject: Subject) -> str:
    name = f"{subject.namespace}/{subject.name}" if subject.kind == "ServiceAccount" else subject.name
    return f"{subject.kind} {name}"
