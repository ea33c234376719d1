"""Changes as kubectl and the API take them: streams of new objects, rules of schemas, and names."""

from __future__ import annotations

import pytest

from apftop.apf.objects import FlowSchema, Meta, PriorityLevelConfiguration
from apftop.findings.changes.apart import free_name, kinds_apart
from apftop.findings.changes.patches import (
    KEPT,
    a_level,
    a_schema,
    created,
    in_version,
    level_change,
    schema_change,
    user_subject,
)
from apftop.findings.scene import Scene, by_level, rows
from tests.findings.cluster import Of, Row, a_cluster, busier, made, quiet

V1 = "flowcontrol.apiserver.k8s.io/v1"
SCHEMAS = "flowschemas.flowcontrol.apiserver.k8s.io"
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


def test_objects_of_another_version_are_changed_in_that_version() -> None:
    beta = f"{V1}beta3"
    level = PriorityLevelConfiguration(Meta("own", api_version=beta), exempt=False, shares=0)
    schema = FlowSchema(Meta("own", api_version=beta, annotations=((KEPT, "true"),)), "own", 700)
    changed = level_change(level, "text", shares=5), schema_change(schema, "text", precedence=600)
    made_anew = created("text", beta, a_level("own", 5))
    commands = [one for change in (*changed, made_anew) if change for one in (change.command, change.rollback)]
    named = [word for command in commands for word in command.split() if word.endswith("/own")]

    assert named == [
        *["prioritylevelconfigurations.v1beta3.flowcontrol.apiserver.k8s.io/own"] * 2,
        *["flowschemas.v1beta3.flowcontrol.apiserver.k8s.io/own"] * 4,
        "prioritylevelconfigurations.v1beta3.flowcontrol.apiserver.k8s.io/own",
    ]


@pytest.mark.parametrize("version", ["", V1])
def test_objects_of_v1_or_of_no_known_version_are_named_without_one(version: str) -> None:
    assert in_version(SCHEMAS, version) == SCHEMAS


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
