"""Changes as kubectl and the API take them: streams of new objects, rules of schemas, and names."""

from __future__ import annotations

import pytest

from apftop.findings.changes.apart import free_name, kinds_apart
from apftop.findings.changes.patches import a_level, a_schema, created, user_subject
from apftop.findings.scene import Scene, by_level, rows
from tests.findings.cluster import Of, Row, a_cluster, busier, made, quiet

V1 = "flowcontrol.apiserver.k8s.io/v1"
LOW, SCHEMA, USER = "workload-low", "service-accounts", "system:serviceaccount:tools:crawler"


def url_rules(*asked: tuple[str, str]) -> list[dict[str, list[str]]]:
    """The rules for URLs of a schema for requests with these verbs and paths; empty where there is no change."""
    server, *others = quiet()
    scene: Scene = a_cluster(
        busier(server, LOW, Of(), *(Row(LOW, SCHEMA, USER, verb, "", path=path) for verb, path in asked)), *others
    )
    seen = rows(by_level(scene)[LOW][0])
    assert len(seen) == len(asked)
    change = kinds_apart(scene, "apart", "apart", seen, 5)
    found: list[dict[str, list[str]]] = []
    if change is not None:
        found = made(change.command)[1]["spec"]["rules"][0]["nonResourceRules"]
    return found


def test_several_new_objects_are_a_stream_of_json_and_are_deleted_in_the_other_order() -> None:
    schema = a_schema("own", "own", 700, [user_subject("o'brien $(reboot) \U0001f600")])
    change = created("text", V1, a_level("own", 5), schema)

    assert made(change.command) == [{"apiVersion": V1, **a_level("own", 5)}, {"apiVersion": V1, **schema}]
    assert "---" not in change.command
    assert change.rollback == (
        "kubectl delete flowschemas.flowcontrol.apiserver.k8s.io/own"
        " prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/own"
    )


def test_verbs_that_no_rule_may_list_are_a_star() -> None:
    assert url_rules(("post", "/apis/hooks"), ("get", "/version")) == [
        {"verbs": ["*"], "nonResourceURLs": ["/apis/hooks"]},
        {"verbs": ["get"], "nonResourceURLs": ["/version"]},
    ]


def test_paths_that_no_rule_may_have_are_left_out() -> None:
    assert url_rules(("get", "/a//b"), ("get", "/a*b"), ("get", "/version")) == [
        {"verbs": ["get"], "nonResourceURLs": ["/version"]}
    ]
    assert url_rules(("get", "/a//b")) == []


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        ("wide-Jane@Example.com", "wide-jane-example.com"),
        ("a..-b.", "a.b"),
        ("x" * 199 + "-y", "x" * 199),
        ("'; reboot", "reboot"),
        ("''", "apart"),
    ],
)
def test_names_are_such_as_objects_may_have(wish: str, name: str) -> None:
    assert free_name(a_cluster(*quiet()), wish) == name
