"""FlowSchemas and PriorityLevelConfigurations from JSON and YAML of every version."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apftop.apf.objects import (
    Condition,
    FieldManager,
    FlowSchema,
    Meta,
    NonResourceRule,
    PriorityLevelConfiguration,
    Queuing,
    ResourceRule,
    Rule,
    Subject,
)
from apftop.parse.objects import PRESERVE_ZERO, configs_of, parse_objects, schemas_of
from apftop.records.parsed import ParseError


def parse_schemas(body: bytes) -> tuple[FlowSchema, ...]:
    return schemas_of(parse_objects(body))


def parse_configs(body: bytes) -> tuple[PriorityLevelConfiguration, ...]:
    return configs_of(parse_objects(body))


GROUP = "flowcontrol.apiserver.k8s.io"
SCHEMA_YAML = b"""\
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata:
  name: service-accounts
  uid: 7aaa6e46-9e33-4a52-a0a1-8b9c3f0c1d2e
  generation: 3
  resourceVersion: "812"
  creationTimestamp: 2026-04-12T10:03:20Z
  annotations:
    apf.kubernetes.io/autoupdate-spec: "true"
  managedFields:
  - apiVersion: flowcontrol.apiserver.k8s.io/v1
    fieldsType: FieldsV1
    fieldsV1: {"f:spec": {}}
    manager: api-priority-and-fairness-config-producer-v1
    operation: Apply
    time: "2026-04-12T10:03:21Z"
  - manager: api-priority-and-fairness-config-consumer-v1
    operation: Apply
    subresource: status
spec:
  distinguisherMethod:
    type: ByUser
  matchingPrecedence: 9000
  priorityLevelConfiguration:
    name: workload-low
  rules:
  - subjects:
    - kind: Group
      group: {name: "system:serviceaccounts"}
    - kind: User
      user: {name: "*"}
    - kind: ServiceAccount
      serviceAccount: {namespace: kube-system, name: "*"}
    resourceRules:
    - verbs: ["*"]
      apiGroups: [""]
      resources: [pods, pods/log]
      namespaces: ["*"]
      clusterScope: true
    nonResourceRules:
    - verbs: [get]
      nonResourceURLs: [/healthz/*]
status:
  conditions:
  - type: Dangling
    status: "False"
    reason: Found
    message: refers to workload-low
    lastTransitionTime: "2026-04-12T10:03:22Z"
"""


def schema(name: str = "s", version: str = "v1", **spec: Any) -> dict[str, Any]:
    spec = {"priorityLevelConfiguration": {"name": "workload-low"}} | spec
    return {"apiVersion": f"{GROUP}/{version}", "kind": "FlowSchema", "metadata": {"name": name}, "spec": spec}


def level(name: str = "l", version: str = "v1", **limited: Any) -> dict[str, Any]:
    limited = {"limitResponse": {"type": "Reject"}} | limited
    spec = {"type": "Limited", "limited": limited}
    kind = "PriorityLevelConfiguration"
    return {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": {"name": name}, "spec": spec}


def exempt(version: str = "v1", **settings: Any) -> dict[str, Any]:
    return level("exempt", version) | {"spec": {"type": "Exempt", **settings}}


def dump(value: object) -> bytes:
    return json.dumps(value).encode()


def one(value: object) -> PriorityLevelConfiguration:
    (config,) = parse_configs(dump(value))
    return config


# What is read


def test_a_schema_is_read_whole() -> None:
    (read,) = parse_schemas(SCHEMA_YAML)
    assert read == FlowSchema(
        meta=Meta(
            name="service-accounts",
            uid="7aaa6e46-9e33-4a52-a0a1-8b9c3f0c1d2e",
            generation=3,
            resource_version="812",
            creation="2026-04-12T10:03:20Z",
            annotations=(("apf.kubernetes.io/autoupdate-spec", "true"),),
            managers=(
                FieldManager("api-priority-and-fairness-config-producer-v1", "Apply", "2026-04-12T10:03:21Z", "", True),
                FieldManager("api-priority-and-fairness-config-consumer-v1", "Apply", "", "status"),
            ),
            api_version=f"{GROUP}/v1",
        ),
        priority_level="workload-low",
        precedence=9000,
        distinguisher="ByUser",
        rules=(
            Rule(
                subjects=(
                    Subject("Group", "system:serviceaccounts"),
                    Subject("User", "*"),
                    Subject("ServiceAccount", "*", "kube-system"),
                ),
                resource_rules=(ResourceRule(("*",), ("",), ("pods", "pods/log"), ("*",), True),),
                non_resource_rules=(NonResourceRule(("get",), ("/healthz/*",)),),
            ),
        ),
        conditions=(Condition("Dangling", "False", "Found", "refers to workload-low", "2026-04-12T10:03:22Z"),),
    )
    assert read.dangling is False


@pytest.mark.parametrize(
    ("fields", "spec"), [({"f:spec": {"f:limited": {}}}, True), ({"f:metadata": {}}, False), ({}, False), (None, None)]
)
def test_who_wrote_the_spec_is_told_by_the_fields_that_they_wrote(
    fields: dict[str, Any] | None, spec: bool | None
) -> None:
    value = level("jail")
    entry = {"manager": "kubectl-edit", "operation": "Update"} | ({} if fields is None else {"fieldsV1": fields})
    value["metadata"] |= {"managedFields": [entry]}

    (writer,) = one(value).meta.managers
    assert writer.spec is spec


def test_an_object_without_managed_fields_as_kubectl_prints_it_has_no_writers() -> None:
    assert one(level("jail")).meta.managers == ()


def test_a_schema_has_defaults() -> None:
    (read,) = parse_schemas(dump(schema()))
    assert (read.precedence, read.distinguisher, read.rules, read.dangling) == (1000, None, (), None)


def test_a_level_is_read_whole() -> None:
    queuing = {"queues": 128, "handSize": 6, "queueLengthLimit": 20}
    response = {"type": "Queue", "queuing": queuing}
    read = one(level(nominalConcurrencyShares=7, lendablePercent=90, borrowingLimitPercent=0, limitResponse=response))
    meta = Meta("l", api_version=f"{GROUP}/v1")
    assert read == PriorityLevelConfiguration(meta, False, 7, 90, 0, Queuing(128, 6, 20))


def test_a_level_has_defaults() -> None:
    read = one(level(limitResponse={"type": "Queue", "queuing": {}}, borrowingLimitPercent=None))
    assert (read.shares, read.lendable_percent, read.borrowing_limit_percent) == (30, 0, None)
    assert read.queuing == Queuing(64, 8, 50)


def test_a_rejecting_level_has_no_queues() -> None:
    assert one(level()).queuing is None


@pytest.mark.parametrize(
    ("version", "field", "shares", "read"),
    [
        ("v1", "nominalConcurrencyShares", 0, 0),
        ("v1", "nominalConcurrencyShares", None, 30),
        ("v1", "assuredConcurrencyShares", 5, 30),
        ("v1beta3", "nominalConcurrencyShares", 0, 30),
        ("v1beta3", "nominalConcurrencyShares", 12, 12),
        ("v1beta2", "assuredConcurrencyShares", 12, 12),
        ("v1beta2", "assuredConcurrencyShares", 0, 30),
        ("v1beta2", "assuredConcurrencyShares", None, 30),
        ("v1beta1", "assuredConcurrencyShares", 12, 12),
    ],
)
def test_shares_of_each_version(version: str, field: str, shares: Any, read: int) -> None:
    assert one(level(version=version, **{field: shares})).shares == read


@pytest.mark.parametrize("value", ["", "false"])
def test_an_annotation_preserves_zero_shares_in_v1beta3(value: str) -> None:
    config = level(version="v1beta3", nominalConcurrencyShares=0)
    config["metadata"]["annotations"] = {PRESERVE_ZERO: value}
    assert one(config).shares == 0


@pytest.mark.parametrize("settings", [{}, {"exempt": None}, {"exempt": {}}])
def test_an_exempt_level_has_no_shares_unless_given(settings: dict[str, Any]) -> None:
    read = one(exempt(**settings))
    assert (read.exempt, read.shares, read.lendable_percent, read.queuing) == (True, 0, 0, None)


def test_shares_of_an_exempt_level() -> None:
    read = one(exempt(exempt={"nominalConcurrencyShares": 30, "lendablePercent": 50}))
    assert (read.shares, read.lendable_percent) == (30, 50)


# Forms of files


def test_items_of_a_typed_list_take_its_kind_and_version() -> None:
    items = [{key: value for key, value in level(name).items() if key not in ("kind", "apiVersion")} for name in "ab"]
    body = {"kind": "PriorityLevelConfigurationList", "apiVersion": f"{GROUP}/v1beta3", "items": items}
    configs = parse_configs(dump(body))
    assert [(config.name, config.meta.api_version) for config in configs] == [
        ("a", f"{GROUP}/v1beta3"),
        ("b", f"{GROUP}/v1beta3"),
    ]


def test_a_list_of_kubectl_may_be_mixed() -> None:
    webhook = {"kind": "ValidatingWebhookConfiguration", "apiVersion": "x/v1", "metadata": {"name": "w"}}
    body = dump({"kind": "List", "apiVersion": "v1", "items": [schema("a"), level("b"), webhook]})
    read = parse_objects(body)
    assert [found.name for found in read.schemas] == ["a"]
    assert [found.name for found in read.configs] == ["b"]
    assert read.others == (("ValidatingWebhookConfiguration", "w"),)
    assert read.problems == ()


def test_a_stream_of_yaml_documents() -> None:
    body = b"---\n" + SCHEMA_YAML + b"---\n# nothing here\n---\n" + dump(level()) + b"\n...\n"
    read = parse_objects(body)
    assert (len(read.schemas), len(read.configs), read.problems) == (1, 1, ())


def test_yaml_in_braces_is_not_json() -> None:
    assert parse_schemas(dump(schema()).replace(b'"', b""))[0].name == "s"


def test_lists_inside_a_list() -> None:
    inner = {"kind": "FlowSchemaList", "apiVersion": f"{GROUP}/v1", "items": [schema("a"), schema("b")]}
    assert len(parse_schemas(dump({"kind": "List", "items": [inner]}))) == 2


@pytest.mark.parametrize("items", [[], None])
def test_an_empty_list_holds_nothing(items: list[object] | None) -> None:
    assert parse_schemas(dump({"kind": "FlowSchemaList", "apiVersion": f"{GROUP}/v1", "items": items})) == ()


def test_a_kind_of_the_same_name_in_another_group_is_another_kind() -> None:
    assert parse_objects(dump(schema() | {"apiVersion": "x.io/v1"})).others == (("FlowSchema", "s"),)


def test_of_two_objects_of_one_name_the_later_counts() -> None:
    read = parse_objects(dump([schema("a", matchingPrecedence=1), schema("a", matchingPrecedence=2)]))
    assert [found.precedence for found in read.schemas] == [2]
    assert read.problems == ("FlowSchema/a: given twice, the later one counts",)


# What is left out


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (schema(rules=[{"resourceRules": []}]), "FlowSchema/s: spec.rules[0].subjects is missing"),
        (schema(priorityLevelConfiguration={}), "FlowSchema/s: spec.priorityLevelConfiguration.name is missing"),
        (schema(priorityLevelConfiguration=None), "FlowSchema/s: spec.priorityLevelConfiguration is missing"),
        (schema(matchingPrecedence="9"), "FlowSchema/s: spec.matchingPrecedence is '9', not an integer"),
        (schema(matchingPrecedence=True), "FlowSchema/s: spec.matchingPrecedence is true, not an integer"),
        (schema(rules={"subjects": []}), "FlowSchema/s: spec.rules is an object, not a list"),
        (schema(rules=["x"]), "FlowSchema/s: spec.rules[0] is 'x', not an object"),
        (
            schema(distinguisherMethod={"type": "ByMood"}),
            "FlowSchema/s: spec.distinguisherMethod.type is 'ByMood', neither ByUser nor ByNamespace",
        ),
        (
            schema(rules=[{"subjects": [{"kind": "Robot"}]}]),
            "FlowSchema/s: spec.rules[0].subjects[0].kind is 'Robot', not User, Group or ServiceAccount",
        ),
        (
            schema(rules=[{"subjects": [{"kind": "User"}]}]),
            "FlowSchema/s: spec.rules[0].subjects[0].user is missing",
        ),
        (
            schema(rules=[{"subjects": [], "resourceRules": [{"verbs": ["get", 1]}]}]),
            "FlowSchema/s: spec.rules[0].resourceRules[0].verbs[1] is 1, not a string",
        ),
        (
            schema(rules=[{"subjects": [], "nonResourceRules": [{"verbs": ["get"]}]}]),
            "FlowSchema/s: spec.rules[0].nonResourceRules[0].nonResourceURLs is missing",
        ),
        (level(limitResponse=None), "PriorityLevelConfiguration/l: spec.limited.limitResponse is missing"),
        (
            level(limitResponse={"type": "Queue"}),
            "PriorityLevelConfiguration/l: spec.limited.limitResponse.queuing is missing",
        ),
        (
            level(limitResponse={"type": "Reject", "queuing": {}}),
            "PriorityLevelConfiguration/l: spec.limited.limitResponse.queuing is set though "
            "spec.limited.limitResponse.type is Reject",
        ),
        (exempt(limited={}), "PriorityLevelConfiguration/exempt: spec.limited is set though spec.type is Exempt"),
        (level() | {"spec": None}, "PriorityLevelConfiguration/l: spec is missing"),
        (level() | {"spec": {"type": "Limited"}}, "PriorityLevelConfiguration/l: spec.limited is missing"),
        (level() | {"metadata": {}}, "PriorityLevelConfiguration (item 1): metadata.name is missing"),
        (level() | {"apiVersion": None}, "PriorityLevelConfiguration/l: apiVersion is missing"),
        (
            level() | {"metadata": {"name": "l", "annotations": {"a": True}}},
            "PriorityLevelConfiguration/l: metadata.annotations[a] is true, not a string",
        ),
        ({"metadata": {}}, "item 1: kind is missing"),
        ("text", "item 1: 'text' is not an object"),
    ],
)
def test_a_broken_object_is_left_out_and_named(value: object, says: str) -> None:
    read = parse_objects(dump({"kind": "List", "items": [schema("good"), value]}))
    assert [found.name for found in read.schemas] == ["good"]
    assert read.configs == ()
    assert read.problems == (says,)


# What is refused


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "an empty body"),
        (b"# only a remark\n", "text: '# only a remark'"),
        (b"404 page not found\n", "text: '404 page not found', neither JSON nor YAML objects"),
        (b"<!DOCTYPE html><title>Sign in</title>", "an HTML page: 'Sign in'"),
        (dump({"kind": "Status", "message": "flowschemas is forbidden"}), "a Status: flowschemas is forbidden"),
        (b"kind: Status\nreason: Forbidden\ncode: 403\n", "a Status: Forbidden 403"),
        (b"kind: List\nitems:\n- a: [1\n- b\n", "broken YAML at line 5, column 1: did not find"),
        (b'{"kind": "FlowSchemaList", "items": [{"kind', "broken JSON"),
        (b"\x1f\x8b\x08\x00\x00", "gzip data"),
        (dump({"items": 3}), "kind is missing"),
        (b"PriorityLevelName, ActiveQueues\nsystem,            0\n", "a table of a debug dump"),
        (b"[" * 100_000, "nested too deep"),
    ],
)
def test_a_body_without_objects_is_refused(body: bytes, says: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_objects(body)
    assert says in str(caught.value)


def test_a_file_of_other_kinds_is_refused() -> None:
    body = dump([level(), {"kind": "Pod", "metadata": {"name": "p"}}])
    with pytest.raises(ParseError, match="no FlowSchema but Pod, PriorityLevelConfiguration"):
        parse_schemas(body)
    assert len(parse_configs(body)) == 1


def test_a_file_of_broken_schemas_only_is_refused() -> None:
    with pytest.raises(ParseError, match="no FlowSchema can be read: FlowSchema/s: spec is missing"):
        parse_schemas(dump(schema() | {"spec": None}))
