"""Rules of matching one by one, and the explanations that go with them."""

from __future__ import annotations

import pytest

from apftop.apf.attributes import Attributes, attributes
from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.classify import Classifier, classify, explain
from apftop.apf.matching import Miss, rule_misses, target_matches
from apftop.apf.objects import FlowSchema, Meta, NonResourceRule, ResourceRule, Rule, Subject
from apftop.apf.release import Release

ANYONE = (Subject("User", "*"),)
PODS = attributes("GET", "/api/v1/namespaces/a/pods", user="u", groups=("g",))
NODES = attributes("GET", "/api/v1/nodes", user="u")


def resources(
    verbs: tuple[str, ...] = ("*",),
    api_groups: tuple[str, ...] = ("*",),
    names: tuple[str, ...] = ("*",),
    namespaces: tuple[str, ...] = ("*",),
    cluster_scope: bool = False,
) -> Rule:
    return Rule(ANYONE, (ResourceRule(verbs, api_groups, names, namespaces, cluster_scope),))


@pytest.mark.parametrize(
    ("rule", "request_", "miss"),
    [
        (resources(), PODS, None),
        (resources(verbs=("get", "watch")), PODS, Miss(0, 0, "verbs", ("get", "watch"), "list")),
        (resources(names=("pods/log",)), PODS, Miss(0, 0, "resources", ("pods/log",), "pods")),
        (resources(names=("*", "nodes")), PODS, Miss(0, 0, "resources", ("*", "nodes"), "pods")),
        (resources(api_groups=("apps",)), PODS, Miss(0, 0, "apiGroups", ("apps",), "")),
        (resources(namespaces=("b",)), PODS, Miss(0, 0, "namespaces", ("b",), "a")),
        (resources(cluster_scope=True, namespaces=()), PODS, Miss(0, 0, "namespaces", (), "a")),
        (resources(), NODES, Miss(0, 0, "clusterScope", ("false",), "")),
        (resources(cluster_scope=True, namespaces=()), NODES, None),
        (Rule(ANYONE), NODES, Miss(0, None, "resourceRules", (), "nodes")),
        (resources(), attributes("GET", "/version"), Miss(0, None, "nonResourceRules", (), "/version")),
        (Rule((Subject("Group", "h"),)), PODS, Miss(0, None, "subjects", ("Group h",), "u")),
        (
            Rule((Subject("ServiceAccount", "*", "ns"),)),
            PODS,
            Miss(0, None, "subjects", ("ServiceAccount ns/*",), "u"),
        ),
    ],
)
def test_the_first_part_that_fails_is_named(rule: Rule, request_: Attributes, miss: Miss | None) -> None:
    assert rule_misses(0, rule, request_) == ([] if miss is None else [miss])
    if rule.subjects == ANYONE:
        assert target_matches(rule, request_) == (miss is None)


@pytest.mark.parametrize(
    ("url", "path", "matches"),
    [
        ("/healthz", "/healthz/etcd", True),
        ("/healthz", "/healthzz", False),
        ("/healthz/*", "/healthz/etcd", True),
        ("/healthz/*", "/healthz", False),
        ("/x*", "/xy", False),
        ("/x*", "/x/y", True),
        ("/", "/anything", True),
        ("*", "/anything", True),
    ],
)
def test_urls_match_wider_than_they_look(url: str, path: str, matches: bool) -> None:
    rule = Rule(ANYONE, (), (NonResourceRule(("get",), (url,)),))

    assert target_matches(rule, attributes("GET", path)) == matches
    assert not target_matches(rule, attributes("POST", path))


def test_a_miss_of_a_url_names_it() -> None:
    rule = Rule(ANYONE, (), (NonResourceRule(("get",), ("/a",)), NonResourceRule(("post",), ("*",))))

    assert rule_misses(3, rule, attributes("GET", "/b")) == [
        Miss(3, 0, "nonResourceURLs", ("/a",), "/b"),
        Miss(3, 1, "verbs", ("post",), "get"),
    ]


def test_a_request_of_a_service_account_is_explained() -> None:
    schemas = builtin_schemas(Release(1, 37, 2))
    missing = FlowSchema(Meta("lost"), priority_level="nowhere", precedence=5)
    classifier = Classifier([*schemas.values(), missing], builtin_levels().values())
    request = attributes(
        "GET",
        "/api/v1/namespaces/a/pods",
        user="system:serviceaccount:a:b",
        groups=("system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"),
    )

    found = classify(classifier, request)
    told = {one.schema.name: one for one in explain(classifier, request)}

    assert (found.schema.name, found.level.name, found.distinguisher) == (
        "service-accounts",
        "workload-low",
        request.user,
    )
    assert told["lost"].outcome == "dangling"
    assert told["exempt"].misses == (Miss(0, None, "subjects", ("Group system:masters",), request.user),)
    assert told["probes"].misses == (Miss(0, None, "resourceRules", (), "pods"),)
    assert (told["service-accounts"].outcome, told["service-accounts"].rule) == ("matched", 0)
    assert told["global-default"].outcome == "after"


def test_what_matches_nothing_is_caught() -> None:
    classifier = Classifier([], [])
    request = attributes("GET", "/api/v1/pods", user="nobody")

    assert classify(classifier, request).schema.name == "catch-all"
    assert [one.outcome for one in explain(classifier, request)] == ["missed", "missed"]


def test_equal_precedence_goes_by_the_bytes_of_the_name() -> None:
    levels = builtin_levels().values()
    rule = resources(cluster_scope=True)
    names = ["b", "a", "a.b", "a-b", "a0"]
    schemas = [FlowSchema(Meta(name), "system", 100, None, (rule,)) for name in names]

    assert [one.name for one in Classifier(schemas, levels).schemas[1:-1]] == ["a", "a-b", "a.b", "a0", "b"]
