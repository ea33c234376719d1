"""Schemas that take whole kinds of clients out of flow control."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lint.policies import cluster, codes, found, lint, resources, rule, schema, user

TO_EXEMPT: dict[str, Any] = {"priorityLevelConfiguration": {"name": "exempt"}, "distinguisherMethod": None}
ALL = [resources(verbs=["*"], apiGroups=["*"], resources=["*"], namespaces=["*"], clusterScope=True)]
HEALTH = [{"verbs": ["get"], "nonResourceURLs": ["/healthz"]}]


def group(name: str) -> dict[str, Any]:
    return {"kind": "Group", "group": {"name": name}}


@pytest.mark.fires("broad-exempt")
@pytest.mark.parametrize(
    ("subject", "who"),
    [
        (group("system:authenticated"), "system:authenticated"),
        (group("system:serviceaccounts"), "system:serviceaccounts"),
        (user("*"), "everybody"),
    ],
)
def test_all_requests_of_everybody_exempt_are_an_error(subject: dict[str, Any], who: str) -> None:
    (fault,) = found(
        lint(schema("mine", rules=[rule(subjects=[subject], resourceRules=ALL)], **TO_EXEMPT)), "broad-exempt"
    )

    assert fault.gravity == "error"
    assert fault.text.startswith(f"it sends {who} to the exempt level: nothing limits their get, list, watch")


@pytest.mark.fires("broad-exempt")
def test_some_requests_of_everybody_exempt_are_a_warning() -> None:
    (fault,) = found(lint(schema("mine", rules=[rule(subjects=[group("system:nodes")])], **TO_EXEMPT)), "broad-exempt")

    assert fault.gravity == "warning"
    assert fault.text == "it sends some requests of system:nodes to the exempt level: nothing limits these"


@pytest.mark.fires("broad-exempt")
def test_the_name_of_a_builtin_schema_is_no_excuse() -> None:
    edited = schema("probes", rules=[rule(subjects=[group("system:authenticated")], resourceRules=ALL)], **TO_EXEMPT)

    assert "broad-exempt" in codes(edited)


@pytest.mark.spares("broad-exempt")
@pytest.mark.parametrize(
    "one",
    [
        pytest.param(rule(subjects=[user("jane")], resourceRules=ALL), id="one user"),
        pytest.param(rule(subjects=[group("admins")], resourceRules=ALL), id="a group of one's own"),
        pytest.param(
            rule(subjects=[group("system:authenticated")], resourceRules=None, nonResourceRules=HEALTH), id="health"
        ),
    ],
)
def test_single_clients_and_health_checks_may_be_exempt(one: dict[str, Any]) -> None:
    assert "broad-exempt" not in codes(schema("mine", rules=[one], **TO_EXEMPT))


@pytest.mark.spares("broad-exempt")
def test_everybody_at_a_level_with_a_limit_and_the_builtin_schemas_are_not_told() -> None:
    assert "broad-exempt" not in codes(schema("mine", rules=[rule(subjects=[group("system:authenticated")])]))
    assert not found(cluster(), "broad-exempt")
