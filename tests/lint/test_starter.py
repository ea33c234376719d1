"""The policy to start from: narrow, of the right precedence and version, in order by lint itself, and explained."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.test_bad_input import apftop

RUNNER = "system:serviceaccount:ci:runner"


def starter(*options: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    run = apftop("lint", "--starter", *options)
    assert (run.returncode, run.stderr) == (0, "")
    level, schema = yaml.safe_load_all(run.stdout)
    return level, schema, run.stdout


def refused(*options: str) -> str:
    run = apftop("lint", "--starter", *options)
    assert run.returncode == 2
    return run.stderr


def test_a_service_account_gets_a_small_level_that_lends_and_borrows_nothing() -> None:
    level, schema, _ = starter(RUNNER)

    assert level["spec"]["limited"] == {
        "nominalConcurrencyShares": 5,
        "lendablePercent": 0,
        "borrowingLimitPercent": 0,
        "limitResponse": {"type": "Queue", "queuing": {"queues": 32, "handSize": 4, "queueLengthLimit": 10}},
    }
    assert schema["spec"]["priorityLevelConfiguration"] == level["metadata"]
    assert schema["spec"]["matchingPrecedence"] == 1000
    assert schema["spec"]["distinguisherMethod"] == {"type": "ByUser"}


def test_only_lists_within_the_namespace_are_matched() -> None:
    _, schema, _ = starter(RUNNER)

    [rule] = schema["spec"]["rules"]
    assert rule["subjects"] == [{"kind": "ServiceAccount", "serviceAccount": {"namespace": "ci", "name": "runner"}}]
    assert [(one["apiGroups"], one["resources"]) for one in rule["resourceRules"]] == [
        ([""], ["pods"]),
        (["apps"], ["deployments"]),
    ]
    for one in rule["resourceRules"]:
        assert (one["verbs"], one["namespaces"], one["clusterScope"]) == (["list"], ["ci"], False)


def test_a_plain_user_needs_a_namespace() -> None:
    _, schema, text = starter("jane@example.com", "--namespace", "web", "--name", "jane-reads")

    [rule] = schema["spec"]["rules"]
    assert rule["subjects"] == [{"kind": "User", "user": {"name": "jane@example.com"}}]
    assert rule["resourceRules"][0]["namespaces"] == ["web"]
    assert "--user jane@example.com --expect jane-reads" in text
    assert "--namespace" in refused("jane")


def test_resources_may_be_named_and_are_put_together_by_group() -> None:
    _, schema, _ = starter(
        RUNNER, "--resource", "replicasets", "--resource", "deployments.apps", "--resource", "x.example.com"
    )

    assert [(one["apiGroups"], one["resources"]) for one in schema["spec"]["rules"][0]["resourceRules"]] == [
        (["apps"], ["replicasets", "deployments"]),
        (["example.com"], ["x"]),
    ]


@pytest.mark.parametrize(
    ("resource", "why"),
    [("nodes", "no namespace"), ("widgets", "say its API group"), ("pods/log", "not 'pods/log'"), ("*", "not '*'")],
)
def test_resources_that_make_no_narrow_rule_are_refused(resource: str, why: str) -> None:
    assert why in refused(RUNNER, "--resource", resource)


@pytest.mark.parametrize(
    ("target", "version"), [("1.26", "v1beta3"), ("1.28", "v1beta3"), ("1.29", "v1"), ("1.37", "v1")]
)
def test_the_version_is_the_newest_that_the_target_serves(target: str, version: str) -> None:
    level, schema, _ = starter(RUNNER, "--target", target)

    assert {level["apiVersion"], schema["apiVersion"]} == {f"flowcontrol.apiserver.k8s.io/{version}"}


def test_accounts_of_kube_system_come_before_the_schema_that_has_them_all() -> None:
    _, schema, text = starter("system:serviceaccount:kube-system:reader")

    assert schema["spec"]["matchingPrecedence"] == 890
    assert "Tried before kube-system-service-accounts (900)" in text


@pytest.mark.parametrize(
    "options",
    [
        ("system:authenticated", "-n", "ci"),
        ("system:kube-scheduler", "-n", "ci"),
        ("system:serviceaccount:ci", "-n", "ci"),
        ("*", "-n", "ci"),
        (RUNNER, "--name", "Batch_Reads"),
        (RUNNER, "--name", "workload-low"),
        (RUNNER, "--namespace", "*"),
        (RUNNER, "--target", "1.25"),
    ],
)
def test_what_would_be_no_narrow_policy_is_refused(options: tuple[str, ...]) -> None:
    assert "Error: " in refused(*options)


@pytest.mark.parametrize("user", [RUNNER, "system:serviceaccount:kube-system:reader"])
@pytest.mark.parametrize("target", ["1.26", "1.30", "1.37"])
def test_lint_has_at_most_a_note_to_say_of_it(user: str, target: str, tmp_path: Any) -> None:
    file = tmp_path / "starter.yaml"
    file.write_text(starter(user, "--target", target)[2])

    run = apftop("lint", str(file), "--target", target, "--fail-on", "warning")
    assert (run.returncode, run.stderr) == (0, "")
    assert "error" not in run.stdout and "warning" not in run.stdout


def test_each_number_is_explained_with_the_seats_that_it_is() -> None:
    text = starter(RUNNER, "--seats", "1200")[2]

    assert "# 24 of 1200 seats on each API server" in text
    for field in (
        "nominalConcurrencyShares",
        "lendablePercent",
        "borrowingLimitPercent",
        "queues",
        "matchingPrecedence",
    ):
        lines = text.splitlines()
        line = next(number for number, one in enumerate(lines) if one.strip().startswith(f"{field}:"))
        assert lines[line - 1].strip().startswith("# "), field


def test_a_name_cannot_break_out_of_a_comment() -> None:
    run = apftop("lint", "--starter", "jane\nspec: {}\x1b", "--namespace", "web")

    assert run.returncode == 0
    assert "\nspec: {}" not in run.stdout and "\x1b" not in run.stdout
    assert (
        list(yaml.safe_load_all(run.stdout))[1]["spec"]["rules"][0]["subjects"][0]["user"]["name"]
        == "jane\nspec: {}\x1b"
    )
