"""The order of schemas: which are never reached, which take what built-in ones are for, and which are tied."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lint.policies import cluster, codes, found, level, lint, resources, rule, schema, user

ALL = {
    "resourceRules": [resources(verbs=["*"], apiGroups=["*"], resources=["*"], namespaces=["*"], clusterScope=True)],
    "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
}


def group(name: str) -> dict[str, Any]:
    return {"kind": "Group", "group": {"name": name}}


def everything_of(name: str) -> list[dict[str, Any]]:
    return [rule(subjects=[group(name)], **ALL)]


def to(name: str) -> dict[str, Any]:
    return {"priorityLevelConfiguration": {"name": name}}


@pytest.mark.fires("shadowed-schema")
def test_a_schema_behind_one_that_takes_all_of_it_is_never_reached() -> None:
    text = schema("first", matchingPrecedence=500, **to("system")) + schema("mine")

    (fault,) = found(lint(text), "shadowed-schema")

    assert (fault.gravity, fault.name, fault.place) == ("error", "mine", "spec.matchingPrecedence")
    assert fault.text == "it is never reached: FlowSchema first (500) matches each of its requests before"
    assert fault.advice == "give the schema a precedence below 500, or delete it"


@pytest.mark.spares("shadowed-schema")
def test_a_schema_that_gets_one_verb_more_is_reached() -> None:
    first = schema("first", matchingPrecedence=500, **to("system"))
    mine = schema("mine", rules=[rule(resourceRules=[resources(verbs=["list", "watch"])])])

    assert "shadowed-schema" not in codes(first + mine)


@pytest.mark.spares("shadowed-schema")
def test_a_schema_whose_level_is_missing_takes_nothing() -> None:
    assert "shadowed-schema" not in codes(schema("first", matchingPrecedence=500, **to("nowhere")) + schema("mine"))


@pytest.mark.fires("shadowed-schema")
def test_the_same_requests_for_the_same_level_are_a_warning() -> None:
    (fault,) = found(lint(schema("first", matchingPrecedence=500) + schema("mine")), "shadowed-schema")

    assert fault.gravity == "warning"


@pytest.mark.fires("shadowed-schema")
def test_nobody_is_told_to_come_before_the_exempt_schema() -> None:
    (fault,) = found(lint(schema("mine", rules=[rule(subjects=[group("system:masters")])])), "shadowed-schema")

    assert "exempt (1)" in fault.text
    assert fault.advice == "delete it, or match other requests"


@pytest.mark.fires("shadowed-schema")
def test_a_schema_in_the_cluster_that_a_given_one_takes_all_of_is_told() -> None:
    text = schema("first", matchingPrecedence=500, **to("system"))

    (fault,) = found(lint(text, before=schema("theirs")), "shadowed-schema")

    assert (fault.name, fault.file) == ("theirs", "")


@pytest.mark.spares("shadowed-schema")
def test_what_was_never_reached_before_is_not_told_of_a_change_of_something_else() -> None:
    before = schema("first", matchingPrecedence=500, **to("system")) + schema("theirs")

    assert "shadowed-schema" not in codes(schema("mine", rules=[rule(subjects=[user("joe")])]), before=before)


@pytest.mark.fires("shadowed-rule")
def test_one_rule_that_gets_nothing_is_told_with_its_line() -> None:
    first = schema("first", matchingPrecedence=500, **to("system"))
    mine = schema("mine", rules=[rule(subjects=[user("joe")]), rule()])

    (fault,) = found(lint(first + mine), "shadowed-rule")

    assert (fault.gravity, fault.name, fault.place) == ("note", "mine", "spec.rules[1]")
    assert fault.line is not None
    assert fault.text.startswith("rule 2 is never reached: FlowSchema first (500) matches")


@pytest.mark.spares("shadowed-rule")
def test_a_rule_for_the_same_level_or_of_a_schema_that_gets_nothing_is_not_told() -> None:
    two = schema("mine", rules=[rule(subjects=[user("joe")]), rule()])

    assert "shadowed-rule" not in codes(schema("first", matchingPrecedence=500) + two)
    assert "shadowed-rule" not in codes(schema("first", matchingPrecedence=500, **to("system")) + schema("mine"))


@pytest.mark.fires("captures-builtin")
def test_a_schema_for_everybody_before_the_builtin_ones_takes_what_they_are_for() -> None:
    text = schema("mine", matchingPrecedence=300, rules=everything_of("system:authenticated"))

    (fault,) = found(lint(text), "captures-builtin")

    assert (fault.gravity, fault.name, fault.place) == ("error", "mine", "spec.matchingPrecedence")
    assert fault.line is not None
    # Not what was meant for the same level, nor `catch-all`, which is always behind others.
    assert fault.text == (
        "because of it these built-in schemas are never reached: system-node-high (400, for node-high), system-nodes "
        "(500, for system), kube-controller-manager (800, for workload-high), kube-scheduler (800, for workload-high), "
        "kube-system-service-accounts (900, for workload-high); their requests go to workload-low"
    )
    assert fault.advice == "give it a precedence above 900, or name fewer clients"


@pytest.mark.fires("captures-builtin")
def test_what_is_for_accounts_in_general_is_a_warning() -> None:
    text = schema("mine", matchingPrecedence=8000, rules=everything_of("system:authenticated"), **to("system"))

    (fault,) = found(lint(text), "captures-builtin")

    assert fault.gravity == "warning"
    assert "never reached: service-accounts (9000, for workload-low); their" in fault.text


@pytest.mark.fires("shadowed-schema")
def test_schemas_that_only_together_leave_nothing_are_named_together() -> None:
    one = schema("one", matchingPrecedence=500, rules=[rule(resourceRules=[resources(namespaces=["a"])])])
    two = schema("two", matchingPrecedence=600, rules=[rule(resourceRules=[resources(namespaces=["b"])])])
    both = schema("mine", rules=[rule(resourceRules=[resources(namespaces=["a", "b"])])], **to("system"))

    (fault,) = found(lint(one + two + both), "shadowed-schema")

    assert "FlowSchemas one (500) and two (600) together match each of its requests before" in fault.text


@pytest.mark.fires("captures-builtin")
def test_what_is_left_with_urls_alone_is_captured_too() -> None:
    whole = [rule(subjects=[group("system:authenticated")], resourceRules=ALL["resourceRules"])]

    (fault,) = found(lint(schema("mine", matchingPrecedence=450, rules=whole)), "captures-builtin")

    assert fault.gravity == "error"
    assert fault.text == (
        "because of it these built-in schemas get no requests for resources: system-nodes (500, for system), "
        "kube-controller-manager (800, for workload-high), kube-scheduler (800, for workload-high), "
        "kube-system-service-accounts (900, for workload-high); their requests go to workload-low"
    )
    assert fault.advice == "give it a precedence above 900, or name fewer clients"


@pytest.mark.fires("captures-builtin")
def test_all_requests_of_some_verbs_are_a_warning() -> None:
    every = {**ALL["resourceRules"][0], "verbs": ["list", "watch"]}
    lists = [rule(subjects=[group("system:authenticated")], resourceRules=[every])]

    (fault,) = found(lint(schema("mine", matchingPrecedence=850, rules=lists)), "captures-builtin")

    assert fault.gravity == "warning"
    assert "schemas get no list, watch requests for resources: kube-system-service-accounts (900, for" in fault.text


@pytest.mark.spares("captures-builtin")
def test_what_a_schema_for_the_same_clients_took_before_is_not_captured() -> None:
    ours = schema("ours", matchingPrecedence=300, rules=everything_of("system:nodes"), **to("system"))
    whole = [rule(subjects=[group("system:authenticated")], resourceRules=ALL["resourceRules"])]

    (fault,) = found(lint(ours + schema("mine", matchingPrecedence=450, rules=whole)), "captures-builtin")

    assert "system-nodes" not in fault.text


@pytest.mark.spares("captures-builtin")
def test_a_schema_that_names_the_same_clients_replaces_a_builtin_one_on_purpose() -> None:
    text = schema("mine", matchingPrecedence=450, rules=everything_of("system:nodes"))

    assert "captures-builtin" not in codes(text)


@pytest.mark.spares("captures-builtin")
def test_a_schema_that_takes_a_part_only_or_comes_behind_captures_nothing() -> None:
    events = [rule(subjects=[group("system:authenticated")], resourceRules=[resources(resources=["events"])])]

    assert "captures-builtin" not in codes(schema("mine", matchingPrecedence=300, rules=events))
    late = schema("mine", matchingPrecedence=9950, rules=everything_of("system:authenticated"))
    assert "captures-builtin" not in codes(late)


@pytest.mark.fires("precedence-tie")
def test_two_schemas_of_one_precedence_that_share_requests_are_tied() -> None:
    first = schema("first", **to("system"))
    mine = schema("mine", rules=[rule(resourceRules=[resources(verbs=["list", "watch"])])])

    (fault,) = found(lint(first + mine), "precedence-tie")

    assert (fault.gravity, fault.name) == ("warning", "mine")
    assert fault.text == "it and first have precedence 1000 and share requests: then first gets them, by its name"


@pytest.mark.fires("precedence-tie")
def test_a_tie_with_a_builtin_schema_is_told_at_the_given_one() -> None:
    rules = [rule(subjects=[group("system:serviceaccounts")])]

    (fault,) = found(lint(schema("mine", matchingPrecedence=9000, rules=rules, **to("system"))), "precedence-tie")

    assert (fault.name, fault.file) == ("mine", "policy.yaml")
    assert "then mine gets them" in fault.text


@pytest.mark.fires("precedence-tie")
def test_two_groups_are_tied_only_if_somebody_is_in_both() -> None:
    first = schema("first", rules=[rule(subjects=[group("admins")])], **to("system"))
    mine = schema("mine", rules=[rule(subjects=[group("builders")])])

    (fault,) = found(lint(first + mine), "precedence-tie")

    assert fault.gravity == "note"
    assert "share requests if somebody is meant by both" in fault.text


def test_many_that_are_tied_are_told_once_each_with_the_first_few_others() -> None:
    levels = ("system", "workload-low")
    many = "".join(
        schema(f"team-{number}", rules=[rule(subjects=[group(f"g{number}")])], **to(levels[number % 2]))
        for number in range(9)
    )

    ties = found(lint(many), "precedence-tie")

    assert [one.name for one in ties] == [f"team-{number}" for number in range(1, 9)]
    assert "it and team-0, team-2, team-4 and others have precedence 1000" in ties[6].text
    assert {one.gravity for one in ties} == {"note"}


@pytest.mark.spares("precedence-tie")
@pytest.mark.parametrize(
    "mine",
    [
        pytest.param({"rules": [rule(subjects=[user("joe")])]}, id="another user"),
        pytest.param({"rules": [rule(resourceRules=[resources(namespaces=["till"])])]}, id="another namespace"),
        pytest.param({"matchingPrecedence": 1001}, id="another precedence"),
        pytest.param(to("system"), id="the same level"),
    ],
)
def test_one_precedence_alone_is_no_tie(mine: dict[str, Any]) -> None:
    assert "precedence-tie" not in codes(schema("first", **to("system")) + schema("mine", **mine))


@pytest.mark.parametrize("target", [f"1.{minor}" for minor in range(26, 38)])
@pytest.mark.spares("shadowed-schema", "shadowed-rule", "captures-builtin", "precedence-tie")
def test_the_builtin_schemas_are_in_order(target: str) -> None:
    made = cluster(target=target)

    for code in ("shadowed-schema", "shadowed-rule", "captures-builtin", "precedence-tie"):
        assert not found(made, code)


@pytest.mark.spares("captures-builtin")
def test_a_broken_level_makes_no_schema_that_leads_to_it_capture_anything() -> None:
    mine = schema("mine", matchingPrecedence=300, rules=everything_of("system:authenticated"), **to("batch"))

    assert "captures-builtin" in codes(mine + level("batch"))
    assert "captures-builtin" not in codes(mine + level("batch", limitResponse="Queue"))
