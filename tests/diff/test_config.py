"""Objects field by field: all that their specs mean, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.objects import FlowSchema, Meta, PriorityLevelConfiguration
from apftop.demo.objects import level_json, schema_json
from apftop.diff.config import spec_changes
from apftop.parse.objects import parse_objects

FEW = st.sampled_from(["get", "list", "watch", "*"])
LISTS = st.lists(FEW, min_size=1, max_size=3)
SUBJECTS = st.one_of(
    st.builds(lambda name: {"kind": "User", "user": {"name": name}}, FEW),
    st.builds(lambda name: {"kind": "Group", "group": {"name": name}}, FEW),
    st.builds(
        lambda space, name: {"kind": "ServiceAccount", "serviceAccount": {"namespace": space, "name": name}}, FEW, FEW
    ),
)
RESOURCES = st.fixed_dictionaries(
    {"verbs": LISTS, "apiGroups": LISTS, "resources": LISTS, "namespaces": LISTS, "clusterScope": st.booleans()}
)
URLS = st.fixed_dictionaries({"verbs": LISTS, "nonResourceURLs": LISTS})
RULES = st.fixed_dictionaries(
    {
        "subjects": st.lists(SUBJECTS, min_size=1, max_size=2),
        "resourceRules": st.lists(RESOURCES, max_size=2),
        "nonResourceRules": st.lists(URLS, max_size=2),
    }
)
SCHEMAS = st.fixed_dictionaries(
    {
        "priorityLevelConfiguration": st.fixed_dictionaries({"name": FEW}),
        "matchingPrecedence": st.sampled_from([1, 1000, 9000]),
        "distinguisherMethod": st.sampled_from([None, {"type": "ByUser"}, {"type": "ByNamespace"}]),
        "rules": st.lists(RULES, max_size=2),
    }
)
QUEUING = st.fixed_dictionaries(
    {"queues": st.integers(1, 3), "handSize": st.integers(1, 2), "queueLengthLimit": st.integers(1, 2)}
)
RESPONSES = st.one_of(
    st.just({"type": "Reject"}), st.builds(lambda queuing: {"type": "Queue", "queuing": queuing}, QUEUING)
)
SEATS = {"nominalConcurrencyShares": st.integers(0, 2), "lendablePercent": st.integers(0, 2)}
LEVELS = st.one_of(
    st.builds(lambda exempt: {"type": "Exempt", "exempt": exempt}, st.fixed_dictionaries(SEATS)),
    st.builds(
        lambda limited: {"type": "Limited", "limited": limited},
        st.fixed_dictionaries(
            SEATS | {"borrowingLimitPercent": st.sampled_from([None, 0, 1]), "limitResponse": RESPONSES},
        ),
    ),
)


def parsed(kind: str, spec: dict[str, Any], **metadata: Any) -> FlowSchema | PriorityLevelConfiguration:
    body = {
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "one", **metadata},
        "spec": spec,
    }
    found = parse_objects(json.dumps(body).encode())
    assert not found.problems
    return found.schemas[0] if found.schemas else found.configs[0]


def canonical(value: Any) -> Any:
    """Lists as sets, and what is null left out."""
    if isinstance(value, dict):
        return json.dumps({key: canonical(one) for key, one in sorted(value.items()) if one is not None})
    return sorted({str(canonical(one)) for one in value}) if isinstance(value, list) else value


def changed(kind: str, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    found = spec_changes("one", parsed(kind, old), parsed(kind, new, resourceVersion="7", generation=3))
    return [one.field for one in found if one.how != "equal"]


@given(SCHEMAS, SCHEMAS)
def test_schemas_differ_exactly_where_their_specs_do(old: dict[str, Any], new: dict[str, Any]) -> None:
    found = changed("FlowSchema", old, new)

    for field, name in (
        ("spec.priorityLevelConfiguration.name", "priorityLevelConfiguration"),
        ("spec.matchingPrecedence", "matchingPrecedence"),
        ("spec.distinguisherMethod.type", "distinguisherMethod"),
    ):
        assert (field in found) == (canonical(old[name]) != canonical(new[name]))
    assert any(one.startswith("spec.rules") for one in found) == (canonical(old["rules"]) != canonical(new["rules"]))


@given(LEVELS, LEVELS)
def test_levels_differ_exactly_where_their_specs_do(old: dict[str, Any], new: dict[str, Any]) -> None:
    was, now = leaves(old), leaves(new)

    assert set(changed("PriorityLevelConfiguration", old, new)) == {
        path for path in {*was, *now} if was.get(path) != now.get(path)
    }


def leaves(value: Any, path: str = "spec") -> dict[str, Any]:
    """Every field that is set, by its path."""
    if not isinstance(value, dict):
        return {} if value is None else {path: value}
    return {at: one for key, inner in value.items() for at, one in leaves(inner, f"{path}.{key}").items()}


def test_the_order_of_rules_and_what_servers_write_is_no_change() -> None:
    one = {"kind": "User", "user": {"name": "a"}}
    first = {"subjects": [one], "nonResourceRules": [{"verbs": ["get", "put"], "nonResourceURLs": ["*"]}]}
    second = {"subjects": [one], "nonResourceRules": [{"verbs": ["post"], "nonResourceURLs": ["/x"]}]}
    turned = {"subjects": [one, one], "nonResourceRules": [{"verbs": ["put", "get"], "nonResourceURLs": ["*"]}]}
    spec = {"priorityLevelConfiguration": {"name": "x"}}

    assert not changed("FlowSchema", spec | {"rules": [first, second]}, spec | {"rules": [second, turned]})


def test_a_default_that_is_spelled_out_is_no_change() -> None:
    short = {"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": {}}}}
    long = {
        "type": "Limited",
        "limited": {
            "nominalConcurrencyShares": 30,
            "lendablePercent": 0,
            "limitResponse": {"type": "Queue", "queuing": {"queues": 64, "handSize": 8, "queueLengthLimit": 50}},
        },
    }

    assert not changed("PriorityLevelConfiguration", short, long)


def test_a_changed_rule_names_the_part_that_changed() -> None:
    def spec(user: str) -> dict[str, Any]:
        rule = {
            "subjects": [{"kind": "User", "user": {"name": user}}],
            "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["*"]}],
        }
        return {"priorityLevelConfiguration": {"name": "x"}, "rules": [rule]}

    assert changed("FlowSchema", spec("a"), spec("b")) == ["spec.rules[0].subjects"]


def test_what_the_demo_serves_reads_as_it_was_meant() -> None:
    level = PriorityLevelConfiguration(Meta("one"), exempt=False, shares=30)
    schema = FlowSchema(Meta("one"), "one")
    served = parse_objects(
        json.dumps({"kind": "List", "items": [level_json(level, False), schema_json(schema, False)]}).encode()
    )

    assert not [one for one in spec_changes("", level, served.configs[0]) if one.beyond]
    assert not [one for one in spec_changes("", schema, served.schemas[0]) if one.beyond]
    assert [one.field for one in spec_changes("", level, replace(level, shares=50)) if one.beyond] == [
        "spec.limited.nominalConcurrencyShares"
    ]
