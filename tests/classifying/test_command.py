"""The command `apftop classify` as a person or a pipeline runs it: what it prints, and its exit codes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.test_bad_input import apftop

CASES = Path(__file__).parents[1] / "cases"
JANE = ("--user", "jane", "--verb", "list", "--resource", "pods")
SCHEMA = """
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: janes}
spec:
  matchingPrecedence: 700
  priorityLevelConfiguration: {name: LEVEL}
  distinguisherMethod: {type: ByUser}
  rules:
  - subjects:
    - {kind: User, user: {name: jane}}
    resourceRules:
    - {verbs: [VERBS], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true}
"""


def classify(*arguments: str) -> subprocess.CompletedProcess[str]:
    return apftop("classify", *arguments)


def made(*arguments: str, code: int = 0) -> dict[str, Any]:
    """The JSON, which has to be there."""
    run = classify(*arguments, "-o", "json")
    assert run.returncode == code, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def policy(folder: Path, level: str = "workload-low", verbs: str = "'*'") -> str:
    file = folder / "janes.yaml"
    file.write_text(SCHEMA.replace("LEVEL", level).replace("VERBS", verbs))
    return str(file)


def refused(*arguments: str) -> str:
    """What is said of a wrong question."""
    run = classify(*arguments)
    assert (run.returncode, run.stdout) == (2, "")
    return run.stderr.rpartition("Error: ")[2]


def failed(*arguments: str) -> str:
    """What is said of something that cannot be read."""
    run = classify(*arguments)
    assert (run.returncode, run.stdout) == (3, "")
    return run.stderr


def test_the_first_line_is_the_answer() -> None:
    run = classify(*JANE)

    assert run.returncode == 0
    assert run.stdout.startswith("flow schema global-default -> priority level global-default, flow jane\n")
    assert run.stderr == ""


def test_the_hand_is_the_one_that_the_servers_dealt() -> None:
    of_the_account = ("--as", "stackable-operators/secret-operator")
    pvc = ("--verb", "get", "--resource", "persistentvolumeclaims", "-n", "a")
    (request,) = made(str(CASES / "C03"), *of_the_account, *pvc)["requests"]

    assert sorted(request["hand"]) == [18, 20, 39, 44, 120, 125]


def test_another_schema_than_the_expected_one_is_exit_code_1() -> None:
    assert classify(*JANE, "--expect", "global-default").returncode == 0
    assert classify(*JANE, "--expect", "catch-all").returncode == 1
    run = classify(*JANE, "--expect", "global")
    assert run.returncode == 1
    assert "not global: there is no such flow schema; did you mean global-default?" in run.stdout


def test_of_several_requests_those_that_differ_are_named() -> None:
    found = made("--user", "jane", "--kubectl", "kubectl logs web-0", "--expect", "global-default", code=1)

    assert found["not_as_expected"] == ["GET /api/v1/namespaces/default/pods/web-0/log"]
    assert found["requests"][0]["expected"]["met"]
    assert found["requests"][1]["expected"]["outcome"] == "unseen"
    assert found["classify"]["GET /api/v1/namespaces/default/pods/web-0/log"] == ["", "", ""]


def test_files_change_what_kubernetes_brings(tmp_path: Path) -> None:
    file = policy(tmp_path)

    assert classify(*JANE, "--objects", file, "--expect", "janes").returncode == 0
    assert classify(file, *JANE, "--expect", "janes").returncode == 0
    other = classify("--objects", file, "--user", "joe", *JANE[2:])
    assert other.stdout.startswith("flow schema global-default")
    assert "policy     the built-in one, with 1 FlowSchema from the files" in other.stdout


def test_the_objects_of_a_whole_cluster_are_all_that_there_is() -> None:
    found = made(str(CASES / "C03"), *JANE)

    assert found["policy"] == "13 FlowSchemas and 8 PriorityLevelConfigurations, as given"
    assert (found["release"], found["server_seats"]) == ("1.30.4", 60)


def test_why_not_mine_names_the_field(tmp_path: Path) -> None:
    file = policy(tmp_path, verbs="get, watch")
    (request,) = made(*JANE, "--objects", file, "--expect", "janes", code=1)["requests"]

    assert request["expected"]["why"] == [
        "it is tried (precedence 700), but no rule matches:",
        "rules[0].resourceRules[0].verbs: only get, watch; not list",
    ]
    (tried,) = [one for one in request["tried"] if one["flow_schema"] == "janes"]
    assert tried["misses"] == [
        {"field": "rules[0].resourceRules[0].verbs", "wanted": ["get", "watch"], "got": "list"},
    ]


def test_a_schema_without_its_level_is_dangling(tmp_path: Path) -> None:
    file = policy(tmp_path, level="batch")
    (request,) = made(*JANE, "--objects", file, "--expect", "janes", code=1)["requests"]

    assert request["flow_schema"] == "global-default"
    assert request["expected"]["outcome"] == "dangling"
    assert request["expected"]["why"][0] == "its level batch does not exist, so servers leave it out"


def test_no_request_is_none_that_is_as_expected(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("[]")

    assert "there is no request" in failed("--requests", str(tmp_path / "none.json"), "--expect", "batch")


def test_objects_that_are_given_twice_are_said(tmp_path: Path) -> None:
    for name, verbs in (("a", "get"), ("b", "list")):
        (tmp_path / name).mkdir()
        policy(tmp_path / name, verbs=verbs)
    run = classify(*JANE, "--objects", str(tmp_path))

    assert run.stdout.startswith("flow schema janes ")
    assert "given more than once, and the last of each counts: FlowSchema janes" in run.stderr
    assert "with 1 FlowSchema from the files" in run.stdout


def test_an_empty_expectation_is_no_expectation_that_is_met() -> None:
    assert refused(*JANE, "--expect", "") == "--expect is empty: name a flow schema, or leave it out\n"


def test_what_server_was_taken_for_granted_is_said() -> None:
    assert "taken for granted without" in classify(*JANE).stdout
    assert "taken for granted" not in classify(*JANE, "--target", "1.34", "--seats", "100").stdout
    assert "by the rules of the nearest release" in " ".join(classify(*JANE, "--target", "1.40").stdout.split())


@pytest.mark.parametrize(
    ("target", "flags", "limit_s"),
    [
        ("1.26", (), 15.0),
        ("1.28.4", ("--timeout", "8s"), 15.0),
        ("1.28.5", ("--timeout", "8s"), 2.0),
        ("1.37", ("--timeout", "8s"), 2.0),
        ("1.37", ("--timeout", "8s", "--request-timeout", "4"), 1.0),
        ("1.28.4", ("--request-timeout", "600"), 150.0),
        ("1.37", ("--request-timeout", "600"), 60.0),
    ],
)
def test_the_wait_limit_goes_by_release_and_timeouts(target: str, flags: tuple[str, ...], limit_s: float) -> None:
    assert made(*JANE, "--target", target, *flags)["requests"][0]["wait_limit"]["seconds"] == limit_s


@pytest.mark.parametrize(
    ("target", "flags", "low", "high"),
    [
        ("1.30", (), 1, 8),
        ("1.26.7", (), 1, 10),
        ("1.26", (), 1, 8),
        ("1.33", ("--stored", "450"), 5, 5),
        ("1.30", ("--stored", "450"), 8, 8),
        ("1.34", ("--stored", "450"), 1, 8),
        ("1.34", ("--stored", "450", "--bytes-each", "1000"), 5, 5),
        ("1.34", ("--stored", "450", "--bytes-each", "1000", "--seats", "60"), 1, 1),
    ],
)
def test_seats_go_by_release_and_by_what_is_stored(target: str, flags: tuple[str, ...], low: int, high: int) -> None:
    seats = made(*JANE, "--target", target, *flags)["requests"][0]["seats"]

    assert (seats["low"], seats["high"]) == (low, high)


def test_a_change_costs_by_its_watchers() -> None:
    change = ("--user", "jane", "--verb", "update", "--resource", "cm", "-n", "a", "--name", "b")

    assert made(*change, "--watchers", "9")["requests"][0]["seats"]["high"] == 1
    assert made(*change, "--watchers", "35")["requests"][0]["seats"]["low"] == 4
    assert made(*change)["requests"][0]["seats"]["high"] == 8


def test_a_list_of_requests_is_read_from_a_file_or_a_bundle(tmp_path: Path) -> None:
    file = tmp_path / "requests.yaml"
    file.write_text("- {id: one, user: jane, verb: list, path: '/api/v1/pods?limit=5'}\n")
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "requests.json").write_text('[{"id": "two", "user": "jane", "verb": "get", "path": "/"}]')

    assert made("--requests", str(file))["classify"] == {"one": ["global-default", "global-default", "jane"]}
    assert list(made(str(tmp_path / "bundle"))["classify"]) == ["two"]


def test_questions_that_are_wrong_are_refused_in_a_line() -> None:
    assert refused().strip() == "name a request: --verb and --resource, --path, --kubectl, or --requests FILE"
    assert "--user and --as both say who asks" in refused("--as", "a/b", *JANE)
    assert "what `kubectl run` sends depends on" in refused("--kubectl", "kubectl run x --image y")
    assert "--target is a release such as 1.34" in refused(*JANE, "--target", "new")
    assert "does not exist" in refused(*JANE, "--objects", "nowhere.yaml")


def test_a_broken_object_is_said_and_nothing_is_guessed(tmp_path: Path) -> None:
    file = Path(policy(tmp_path))
    file.write_text(file.read_text().replace("700", "high"))
    said = failed(*JANE, "--objects", str(file))

    assert said.startswith(f"apftop: an object of the policy is broken: {file}:6: FlowSchema/janes: spec.matching")
    assert said.count("\n") == 1


def test_files_that_cannot_be_read_are_said_and_nothing_is_guessed(tmp_path: Path) -> None:
    good, bad, other = policy(tmp_path), tmp_path / "bad.yaml", tmp_path / "other.yaml"
    bad.write_text("a: [")
    other.write_text("kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n")

    assert f"the policy cannot be read: {bad}: broken YAML" in failed(*JANE, "--objects", good, "--objects", str(bad))
    assert "no FlowSchema and no PriorityLevelConfiguration" in failed(*JANE, "--objects", str(other))
    assert "the requests cannot be read" in failed("--requests", str(tmp_path / "none.json"))
    bad.write_text('[{"user": 1}]')
    assert "request 1: user is" in failed("--requests", str(bad))


def test_all_tells_each_schema_that_was_tried() -> None:
    run = classify(*JANE, "--all")

    assert "    900  kube-system-service-accounts -> workload-high: does not match\n" in run.stdout
    assert "  9900  global-default -> global-default: matches\n" in run.stdout
