"""Schemas and parts of them that match nothing, against the requests that a cluster serves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.attributes import Attributes, attributes, bypasses
from apftop.apf.builtins import builtin_schemas
from apftop.apf.identity import groups_by_name
from apftop.apf.matching import subject_matches, target_matches
from apftop.apf.objects import FlowSchema, Meta, NonResourceRule, ResourceRule, Rule, Subject
from apftop.apf.release import Release
from apftop.classifying.resources import Resource, resource
from apftop.lint.gather import policy_of, untouched
from apftop.lint.policy import Document
from apftop.lint.reach import reach
from apftop.records.linting import Fault
from tests.lint.policies import codes, found, lint, resources, rule, schema, user

RELEASE = Release(1, 34, 0)
ADMIN = Subject("User", "jane")
HEALTH = Rule((ADMIN,), (), (NonResourceRule(("get",), ("/healthz",)),))
"""Matches something, so that of other rules their parts are told."""


def faults(*rules: Rule) -> list[Fault]:
    """What `reach` says of a schema with these rules."""
    made = FlowSchema(Meta("mine"), "workload-low", 1000, None, rules)
    document = Document("FlowSchema", "mine", "flowcontrol.apiserver.k8s.io/v1", {}, object=made)
    return list(reach(policy_of([document], untouched(RELEASE), RELEASE, 600)))


def served() -> Iterator[Attributes]:
    """Requests that a cluster answers: all verbs of some resources of its own and of others, and of URLs."""
    known = [resource(name) for name in ("pods", "deployments", "nodes", "namespaces", "leases")]
    custom = [
        Resource("pods", "metrics.k8s.io/v1beta1", namespaced=True),
        Resource("nodes", "metrics.k8s.io/v1beta1", namespaced=False),
        Resource("deployment", "example.com/v1", namespaced=False),
        Resource("widgets", "example.com/v1", namespaced=True),
    ]
    for one in (*(each for each in known if each), *custom):
        spaces = ("shop",) if one.namespaced else ("",)
        yield from (attributes("GET", one.path(), query) for query in ("", "watch=1"))
        for space in spaces:
            yield from (attributes("GET", one.path(space), query) for query in ("", "watch=1"))
            yield from (attributes(method, one.path(space)) for method in ("POST", "DELETE"))
            names = ("status", "log", "exec") if one.name == "pods" else ("", "status")
            for method, subresource in product(("GET", "PUT", "PATCH", "DELETE", "POST"), ("", *names)):
                yield attributes(method, one.path(space, "shop", subresource))
    for method, path in product(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"), PATHS):
        yield attributes(method, path)


PATHS = ("/healthz", "/metrics", "/api", "/api/v1", "/api/v1/", "/apis/apps/v1", "/debug/pprof", "/debug/pprof/heap")
SERVED = [one for one in served() if not bypasses(one)]
USERS = ("jane", "system:anonymous", "system:node:n1", "system:serviceaccount:ci:runner", "system:kube-scheduler")
PEOPLE = [
    *(Attributes(name, groups_by_name(name), "", "", False) for name in USERS),
    Attributes("admin", ("system:masters", "team", "system:authenticated"), "", "", False),
]

VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy")


def lists(*values: str, most: int = 2) -> st.SearchStrategy[tuple[str, ...]]:
    return st.just(("*",)) | st.lists(st.sampled_from(values), min_size=1, max_size=most, unique=True).map(tuple)


resource_rules = st.builds(
    ResourceRule,
    lists(*VERBS),
    lists("", "apps", "core", "v1", "apps/v1", "metrics.k8s.io", "example.com", "*.k8s.io", "coordination.k8s.io"),
    lists(
        *("pods", "pod", "po", "Pods", "pods/log", "pods/exec", "pods/status", "pods/*", "nodes", "nodes/status"),
        *("deployments", "deployment", "Deployment", "deployments.apps", "namespaces", "namespaces/status", "widgets"),
        *("leases", "leases.coordination.k8s.io"),
    ),
    st.sampled_from(((), ("shop",), ("*",))),
    st.booleans(),
).filter(lambda one: one.namespaces or one.cluster_scope)
url_rules = st.builds(
    NonResourceRule,
    lists(*VERBS),
    lists(
        *("/", "/healthz", "/metrics/*", "/api/*", "/api/v1", "/api/v1/*", "/api/v1/pods", "/apis/apps/v1/*"),
        *("/api/v1/namespaces/*", "/debug/pprof", "/debug/pprof/*", "/debug/*"),
    ),
)


def matched(rule: Rule) -> bool:
    """Whether any request that is served matches a rule's targets."""
    return any(target_matches(rule, one) for one in SERVED)


@given(resource_rules)
def test_what_is_said_to_match_nothing_matches_no_request_for_a_resource(one: ResourceRule) -> None:
    if any(fault.code == "matches-no-request" for fault in faults(Rule((ADMIN,), (one,)))):
        assert not matched(Rule((ADMIN,), (one,)))
    for fault in faults(Rule((ADMIN,), (one,)), HEALTH):
        words = fault.text.replace(":", " ").split()
        name = next((word for word in words if word in one.resources), "")
        if fault.code == "only-across":
            assert not any(target_matches(Rule((ADMIN,), (one,)), each) for each in SERVED if each.namespace)
        elif fault.place.endswith(".apiGroups") and words[0] in one.api_groups:
            assert not matched(Rule((ADMIN,), (replace(one, api_groups=(words[0],)),)))
        else:
            alone = replace(one, resources=(name,)) if name else one
            assert not matched(Rule((ADMIN,), (alone,)))


@given(url_rules)
def test_what_is_said_to_match_nothing_matches_no_request_for_a_url(one: NonResourceRule) -> None:
    for fault in faults(Rule((ADMIN,), (), (one,)), HEALTH):
        if fault.place.endswith(".verbs"):
            assert not matched(Rule((ADMIN,), (), (one,)))
        else:
            url = next(url for url in one.urls if url in fault.text.replace(":", " ").split())
            assert not matched(Rule((ADMIN,), (), (replace(one, urls=(url,)),)))


@given(
    st.sampled_from(("User", "Group")),
    st.sampled_from(USERS)
    | st.sampled_from(("*", "team", "ci-*", "system:masters", "system:nodes", "system:nodes-x", "system:authenticated"))
    | st.sampled_from(("system:serviceaccounts", "system:serviceaccounts:ci", "system:serviceaccounts:ci:runner"))
    | st.sampled_from(("system:serviceaccount:ci", "system:serviceaccount:ci:*", "system:serviceaccount:")),
)
def test_who_is_said_to_be_nobody_is_none_of_those_who_ask(kind: Any, name: str) -> None:
    subject = Subject(kind, name)
    told = faults(Rule((subject, ADMIN), (ResourceRule(("*",), ("*",), ("*",), ("*",)),)))

    assert not told or not any(subject_matches(subject, one) for one in PEOPLE)


@pytest.mark.spares("matches-no-request", "matches-nobody", "matches-nothing", "only-across", "never-seen")
@pytest.mark.parametrize("minor", range(26, 38))
def test_all_parts_of_the_builtin_schemas_match_something(minor: int) -> None:
    assert [faults(*one.rules) for one in builtin_schemas(Release(1, minor, 0)).values()].count([]) == len(
        builtin_schemas(Release(1, minor, 0))
    )


@pytest.mark.fires("matches-nobody")
@pytest.mark.parametrize(
    ("kind", "name", "word"),
    [
        ("Group", "system:serviceaccount:ci:runner", "a user"),
        ("Group", "system:serviceaccount:ci", "no group"),
        ("Group", "system:serviceaccounts:ci:runner", "no group"),
        ("Group", "system:node:n1", "a user"),
        ("Group", "team-*", "no pattern"),
        ("User", "system:serviceaccounts:ci", "a group"),
        ("User", "system:nodes", "a group"),
        ("User", "system:serviceaccount:ci", "no service account"),
        ("User", "system:serviceaccount:ci:*", "no service account"),
        ("User", "ci-*", "no pattern"),
    ],
)
def test_a_name_that_nobody_of_its_kind_has_means_nobody(kind: str, name: str, word: str) -> None:
    subject = {"kind": kind, kind.lower(): {"name": name}}
    (fault,) = found(lint(schema(rules=[rule(subjects=[user("jane"), subject])])), "matches-nobody")

    assert (fault.gravity, fault.place) == ("warning", "spec.rules[0].subjects[1]")
    assert word in fault.text


@pytest.mark.spares("matches-nobody", "matches-no-request")
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("User", "system:serviceaccount:ci:runner"),
        ("User", "system:nodes-bootstrapper"),
        ("User", "*"),
        ("Group", "*"),
        ("Group", "system:serviceaccounts:ci"),
        ("Group", "oidc:team"),
    ],
)
def test_a_name_that_somebody_may_have_is_no_fault(kind: str, name: str) -> None:
    told = codes(schema(rules=[rule(subjects=[{"kind": kind, kind.lower(): {"name": name}}])]))

    assert not told & {"matches-nobody", "matches-no-request"}


NOTHING: list[tuple[dict[str, Any], str]] = [
    ({"resources": ["pod"]}, "pods"),
    ({"resources": ["po"]}, "pods"),
    ({"resources": ["Pods"]}, "pods"),
    ({"resources": ["deployments.apps"], "apiGroups": ["*"]}, "deployments"),
    ({"resources": ["Deployment"], "apiGroups": ["*"]}, "deployments"),
    ({"resources": ["pods/*"]}, "no pattern"),
    ({"resources": ["deployments"]}, "it is in apps"),
    ({"resources": ["deployments"], "apiGroups": ["apps/v1"]}, "write apps"),
    ({"apiGroups": ["v1"]}, 'write ""'),
    ({"apiGroups": ["core"]}, 'write ""'),
    ({"apiGroups": ["*.k8s.io"]}, "no pattern"),
    ({"resources": ["nodes"], "namespaces": ["*"]}, "clusterScope: true"),
    ({"resources": ["namespaces"], "namespaces": ["*"], "verbs": ["list"]}, "clusterScope: true"),
    ({"resources": ["namespaces"], "namespaces": None, "clusterScope": True, "verbs": ["get"]}, "namespaces"),
    ({"namespaces": None, "clusterScope": True, "verbs": ["get", "update"]}, "in a namespace"),
    ({"resources": ["pods/status"], "namespaces": None, "clusterScope": True, "verbs": ["*"]}, "in a namespace"),
]


@pytest.mark.fires("matches-nothing")
@pytest.mark.parametrize(("fields", "word"), NOTHING)
def test_a_resource_rule_that_is_not_as_requests_are_matches_nothing(fields: dict[str, Any], word: str) -> None:
    (fault,) = found(lint(schema(rules=[rule(), rule(resourceRules=[resources(**fields)])])), "matches-nothing")

    assert fault.gravity == "warning"
    assert fault.place.startswith("spec.rules[1].resourceRules[0]")
    assert word in f"{fault.text} {fault.advice}"


@pytest.mark.spares("matches-nothing", "matches-no-request")
@pytest.mark.parametrize(
    "fields",
    [
        {"apiGroups": ["metrics.k8s.io"]},
        {"apiGroups": ["", "metrics.k8s.io"], "resources": ["nodes"]},
        {"apiGroups": ["example.com"], "resources": ["deployment"]},
        {"apiGroups": ["example.com"], "resources": ["Widget"]},
        {"apiGroups": ["*"], "resources": ["deployment"]},
        {"apiGroups": ["*"], "resources": ["nodes"]},
        {"apiGroups": ["", "apps"], "resources": ["pods", "deployments"]},
        {"resources": ["pods/eviction"], "verbs": ["create"]},
        {"resources": ["namespaces"], "verbs": ["get"]},
        {"resources": ["namespaces"], "verbs": ["list"], "namespaces": None, "clusterScope": True},
        {"resources": ["unheardof"]},
    ],
)
def test_what_requests_may_match_here_or_in_some_cluster_is_no_fault(fields: dict[str, Any]) -> None:
    told = codes(schema(rules=[rule(resourceRules=[resources(**fields)])]))

    assert not told & {"matches-nothing", "matches-no-request"}


@pytest.mark.fires("matches-nothing")
@pytest.mark.parametrize(
    ("verbs", "url", "place"),
    [
        (["list"], "/metrics", "verbs"),
        (["get"], "/api/v1/pods", "nonResourceURLs"),
        (["*"], "/apis/apps/v1/deployments/*", "nonResourceURLs"),
    ],
)
def test_a_url_rule_for_resources_or_with_their_verbs_matches_nothing(verbs: list[str], url: str, place: str) -> None:
    urls = rule(resourceRules=None, nonResourceRules=[{"verbs": verbs, "nonResourceURLs": [url]}])
    (fault,) = found(lint(schema(rules=[rule(), urls])), "matches-nothing")

    assert fault.place == f"spec.rules[1].nonResourceRules[0].{place}"


@pytest.mark.spares("matches-nothing", "never-seen")
@pytest.mark.parametrize("url", ["/api/*", "/apis/apps/*", "/healthz/*", "/debug/*", "/debug/pprof", "*"])
def test_a_url_that_some_other_path_has_is_no_fault(url: str) -> None:
    urls = rule(resourceRules=None, nonResourceRules=[{"verbs": ["get"], "nonResourceURLs": [url]}])

    assert not codes(schema(rules=[rule(), urls])) & {"matches-nothing", "never-seen"}


@pytest.mark.fires("never-seen")
@pytest.mark.parametrize("fields", [{"resources": ["pods", "pods/exec"]}, {"resources": ["pods/log"]}])
def test_subresources_whose_requests_last_are_never_seen(fields: dict[str, Any]) -> None:
    (fault,) = found(
        lint(schema(rules=[rule(), rule(resourceRules=[resources(**fields, verbs=["get"])])])), "never-seen"
    )

    assert fault.text.startswith(f"flow control never sees requests for {fields['resources'][-1]}")


@pytest.mark.fires("never-seen")
def test_the_verb_proxy_and_profiles_are_never_seen() -> None:
    proxy = rule(resourceRules=[resources(verbs=["proxy"])])
    urls = rule(resourceRules=None, nonResourceRules=[{"verbs": ["get"], "nonResourceURLs": ["/debug/pprof/*"]}])

    assert len(found(lint(schema(rules=[rule(), proxy, urls])), "never-seen")) == 2


@pytest.mark.spares("never-seen")
def test_other_subresources_are_seen() -> None:
    assert "never-seen" not in codes(schema(rules=[rule(resourceRules=[resources(resources=["pods/status"])])]))


@pytest.mark.fires("only-across")
def test_reads_without_namespaces_are_those_of_all_namespaces_only() -> None:
    one = resources(namespaces=None, clusterScope=True, verbs=["get", "list"])
    (fault,) = found(lint(schema(rules=[rule(resourceRules=[one])])), "only-across")

    assert fault.gravity == "note"


@pytest.mark.spares("only-across")
@pytest.mark.parametrize(
    "fields", [{"verbs": ["list", "watch"]}, {"verbs": ["get", "list"], "apiGroups": ["*"]}, {"namespaces": ["shop"]}]
)
def test_lists_over_all_namespaces_and_what_may_be_of_others_are_meant(fields: dict[str, Any]) -> None:
    one = resources(**{"namespaces": None, "clusterScope": True, **fields})

    assert "only-across" not in codes(schema(rules=[rule(resourceRules=[one])]))


@pytest.mark.fires("matches-no-request")
def test_of_a_schema_that_matches_nothing_that_is_said_once_with_the_reasons() -> None:
    nobody = rule(subjects=[user("system:nodes"), user("ci-*")])
    rules = [nobody, rule(resourceRules=[resources(resources=["pod", "pods/exec"])])]
    told = lint(schema(rules=rules))
    (fault,) = found(told, "matches-no-request")

    assert (fault.gravity, fault.place) == ("warning", "spec.rules[0].subjects[0]")
    assert fault.text == (
        "no request matches it: system:nodes is the name of a group, not of a user; "
        "ci-* is no pattern: * stands for everybody only where it is all of the name; "
        "pod matches nothing: requests name the resource pods; and 1 more"
    )
    assert not {one.code for one in told.faults} & {"matches-nobody", "matches-nothing", "never-seen"}


@pytest.mark.spares("matches-no-request")
def test_a_schema_with_one_rule_that_matches_something_is_told_of_the_others_only() -> None:
    told = codes(schema(rules=[rule(subjects=[user("ci-*")]), rule(subjects=[user("ci-*"), user("jane")])]))

    assert "matches-nobody" in told
    assert "matches-no-request" not in told


def test_a_rule_that_the_api_refuses_is_not_said_to_match_nothing_as_well() -> None:
    assert not faults(Rule((), (ResourceRule(("*",), ("*",), ("*",), ("*",)),)), Rule((ADMIN,)))
    assert not faults()
