"""A small world of requests, each tried by the real matcher: what rules cover and share there, without any proof."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

from hypothesis import strategies as st

from apftop.apf.attributes import Attributes, attributes
from apftop.apf.identity import ACCOUNTS, ANONYMOUS, AUTHENTICATED, MASTERS, NODES, UNAUTHENTICATED, groups_by_name
from apftop.apf.matching import subject_matches, target_matches
from apftop.apf.objects import NonResourceRule, ResourceRule, Rule, Subject

STAR = "*"
ACCOUNT = "system:serviceaccount:"
NAMED = ("u", "v", ANONYMOUS, "system:node:n1", f"{ACCOUNT}a:x", f"{ACCOUNT}a:y", f"{ACCOUNT}kube-system:x")
UNNAMED = ("nobody", "system:node:n9", f"{ACCOUNT}a:z", f"{ACCOUNT}b:z", f"{ACCOUNT}kube-system:z")
ODD = (f"{ACCOUNT}a:b:c", f"{ACCOUNT}a:", f"{ACCOUNT}A:x", "system:node:", ACCOUNTS)
"""Names that only look like those of service accounts and nodes: no server gives them out, a certificate may."""

TEAMS = (MASTERS, NODES, "g", "h")

Person = tuple[str, tuple[str, ...]]


def _people() -> list[Person]:
    """Users with their groups as servers give them; some whom no rule names, and some in several groups."""
    found = [(name, groups_by_name(name)) for name in (*NAMED, *UNNAMED)]
    free = ("u", "v", "nobody", "system:node:n1", "system:node:n9")
    found += [(name, (*groups_by_name(name), *teams)) for name in free for teams in ((MASTERS,), (NODES,), ("g",))]
    return [*found, ("w", (*groups_by_name("w"), *TEAMS[:3])), ("w", (AUTHENTICATED, "other"))]


def _targets() -> list[Attributes]:
    """Requests with a verb, API group, resource and namespace of each kind, and one of each that no rule lists."""
    found = [
        Attributes("", (), verb, "/api", True, group, "v1", namespace, resource, subresource)
        for verb in ("get", "list", "")
        for group in ("", "apps", "example.com")
        for namespace in ("", "a", "kube-system", "c")
        for resource, subresource in (("pods", ""), ("pods", "log"), ("nodes", ""), ("widgets", ""))
    ]
    return found + [attributes(method, path) for method in ("GET", "POST", "PROPFIND") for path in PATHS]


PATHS = (
    *("", "*", "/", "/x", "/x/y", "/x/y/", "/a", "/a/", "/a/*", "/a/b", "/metrics"),
    *("/healthz", "/healthz/", "/healthz/etcd", "/healthz/etcd/", "/healthz/etcd/x", "/healthz/x", "/healthzfoo"),
    *("/api", "/api/", "/api/v1", "/api/v1/", "/api/v1/pods", "/apis/apps/v1/deployments"),
)
URLS = (
    *("/", "/healthz", "/healthz/", "/healthz/*", "/healthz/etcd", "/x", "/x/*", "/a/*"),
    *("/api", "/api/*", "/api/v1/*", "/api/v1/pods", "/apis/apps/v1/deployments/*"),
)
PEOPLE = _people()
ODD_PEOPLE: list[Person] = [
    (name, (AUTHENTICATED, *teams)) for name in ODD for teams in ((), (MASTERS,), (NODES,), ("g",))
]
TARGETS = _targets()

SUBJECTS = (
    *(Subject("User", name) for name in (*NAMED, *ODD, STAR)),
    *(Subject("Group", name) for name in (*TEAMS[:3], AUTHENTICATED, UNAUTHENTICATED, ACCOUNTS, f"{ACCOUNTS}:a", STAR)),
    *(Subject("ServiceAccount", *name) for name in (("x", "a"), (STAR, "a"), ("x", "kube-system"), (STAR, "b"))),
)


def asked(person: Person, target: Attributes) -> Attributes:
    """One request of the world."""
    user, groups = person
    return Attributes(
        user,
        groups,
        target.verb,
        target.path,
        target.resource_request,
        target.api_group,
        target.api_version,
        target.namespace,
        target.resource,
        target.subresource,
    )


def requests(
    rules: Iterable[Rule], people: Sequence[Person] = PEOPLE, targets: Sequence[Attributes] = TARGETS
) -> set[tuple[int, int]]:
    """The requests that any of the rules matches, by the places of who asks and of what for."""
    found: set[tuple[int, int]] = set()
    for rule in rules:
        who = [
            at
            for at, (user, groups) in enumerate(people)
            if any(subject_matches(one, Attributes(user, groups, "", "", False)) for one in rule.subjects)
        ]
        found |= set(product(who, (at for at, target in enumerate(targets) if target_matches(rule, target))))
    return found


def by_name(rules: Iterable[Rule]) -> list[Rule]:
    """The rules without subjects that mean all whose names begin like those of service accounts of a namespace."""
    found = [replace(rule, subjects=tuple(one for one in rule.subjects if not means_prefix(one))) for rule in rules]
    return [rule for rule in found if rule.subjects]


def means_prefix(subject: Subject) -> bool:
    return subject.kind == "ServiceAccount" and subject.name == STAR


def tried(some: Sequence[Rule], others: Sequence[Rule]) -> bool:
    """Whether `some` match all requests that `others` match; odd names count for those whom `others` name."""
    odd = requests(by_name(others), ODD_PEOPLE) <= requests(some, ODD_PEOPLE)
    return odd and requests(others) <= requests(some)


def _lists(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.just((STAR,)) | st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True).map(tuple)


resource_rules = st.builds(
    ResourceRule,
    _lists("get", "list"),
    _lists("", "apps"),
    _lists("pods", "pods/log", "nodes"),
    _lists("a", "kube-system") | st.just(()),
    st.booleans(),
)
url_rules = st.builds(NonResourceRule, _lists("get", "post"), _lists(*URLS))
rules = st.builds(
    Rule,
    st.lists(st.sampled_from(SUBJECTS), min_size=1, max_size=3).map(tuple),
    st.lists(resource_rules, max_size=2).map(tuple),
    st.lists(url_rules, max_size=2).map(tuple),
)
many = st.lists(rules, min_size=1, max_size=3).map(tuple)
