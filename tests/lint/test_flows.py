"""Schemas whose requests are one flow."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lint.policies import cluster, codes, found, level, lint, resources, rule, schema, user

GROUP = {"kind": "Group", "group": {"name": "builders"}}
ACCOUNTS = {"kind": "ServiceAccount", "serviceAccount": {"namespace": "ci", "name": "*"}}
ACCOUNT = {"kind": "ServiceAccount", "serviceAccount": {"namespace": "ci", "name": "runner"}}
EVERYWHERE = [resources(namespaces=["*"])]


@pytest.mark.fires("no-distinguisher")
@pytest.mark.parametrize("subjects", [[GROUP], [ACCOUNTS], [user("*")], [user("jane"), user("joe")]])
def test_many_clients_without_a_distinguisher_are_one_flow(subjects: list[dict[str, Any]]) -> None:
    (fault,) = found(
        lint(schema("mine", distinguisherMethod=None, rules=[rule(subjects=subjects)])), "no-distinguisher"
    )

    assert fault.gravity == "warning"
    assert fault.text == "no distinguisherMethod: all its requests are one flow, which has 6 queues to wait in"


@pytest.mark.spares("no-distinguisher")
def test_one_user_or_a_level_without_queues_needs_no_distinguisher() -> None:
    rules = [rule(subjects=[GROUP])]
    rejects = level("batch", limitResponse={"type": "Reject"})
    to_batch: dict[str, Any] = {"priorityLevelConfiguration": {"name": "batch"}, "distinguisherMethod": None}

    assert "no-distinguisher" not in codes(schema("mine", distinguisherMethod=None))
    assert "no-distinguisher" not in codes(schema("mine", rules=rules, **to_batch) + rejects)
    assert "no-distinguisher" not in codes(schema("mine", rules=rules))


@pytest.mark.fires("one-user-by-user")
@pytest.mark.parametrize("subject", [user("jane"), ACCOUNT])
def test_one_user_in_many_namespaces_is_one_flow_by_user(subject: dict[str, Any]) -> None:
    (fault,) = found(
        lint(schema("mine", rules=[rule(subjects=[subject], resourceRules=EVERYWHERE)])), "one-user-by-user"
    )

    assert fault.gravity == "note"


@pytest.mark.spares("one-user-by-user")
def test_one_user_in_one_namespace_or_by_namespace_is_as_far_apart_as_can_be() -> None:
    by_namespace: dict[str, Any] = {"distinguisherMethod": {"type": "ByNamespace"}}

    assert "one-user-by-user" not in codes(schema("mine"))
    assert "one-user-by-user" not in codes(schema("mine", rules=[rule(resourceRules=EVERYWHERE)], **by_namespace))
    assert "one-user-by-user" not in codes(schema("mine", rules=[rule(subjects=[GROUP], resourceRules=EVERYWHERE)]))


@pytest.mark.spares("no-distinguisher", "one-user-by-user")
@pytest.mark.parametrize("target", [f"1.{minor}" for minor in range(26, 38)])
def test_the_builtin_schemas_tell_flows_apart(target: str) -> None:
    made = cluster(target=target)

    assert not found(made, "no-distinguisher")
    assert not found(made, "one-user-by-user")
