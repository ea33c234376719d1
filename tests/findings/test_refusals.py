"""Refusals of the kinds that no other finding tells of: at levels without queues, and at the level of last resort."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import pytest

from apftop.findings.scene import Scene
from apftop.findings.waiting import refusals
from apftop.records.findings import Finding
from tests.findings.cluster import Did, Of, Row, a_cluster, a_level, a_schema, busier, quiet

REJECT = a_level("reports", 5, queues=None)
TO_IT = a_schema("reports", "reports")


def found(scene: Scene, code: str) -> list[Finding]:
    return [one for find in refusals.FINDERS for one in find(scene) if one.code == code]


def reports(did: Did, *rows: Row) -> Scene:
    first, *others = quiet()
    return a_cluster(busier(first, "reports", Of((did,), full=0.9), *rows), *others, levels=[REJECT], schemas=[TO_IT])


def test_a_quiet_cluster_has_nothing_to_tell() -> None:
    scene = a_cluster(*quiet())

    assert [one.title for find in refusals.FINDERS for one in find(scene)] == []


@pytest.mark.fires("refused-without-queue")
def test_a_level_without_queues_that_refuses_is_offered_some() -> None:
    did = Did("reports", 300, concurrency_limit=90, executing=12, usually=(1.0, 1.0, 0.05))
    (one,) = found(reports(did, Row("reports", "reports", "oidc:ann", executing_s=1.0)), "refused-without-queue")

    assert (one.severity, one.subject) == ("warning", "reports")
    assert one.title == "reports on kas-a refuses 3.00/s at once: it is full, and has no queues"
    assert "who executes there, by the dump: oidc:ann 1" in one.evidence
    assert one.change is not None
    queuing = {"queues": 64, "handSize": 8, "queueLengthLimit": 50}
    assert patch(one.change.command) == {"spec": {"limited": {"limitResponse": {"type": "Queue", "queuing": queuing}}}}
    assert patch(one.change.rollback) == {"spec": {"limited": {"limitResponse": {"type": "Reject", "queuing": None}}}}


def patch(command: str) -> object:
    """The body of a patch, and that it is one of the level."""
    words = shlex.split(command)
    assert words[:4] == [
        "kubectl",
        "patch",
        "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/reports",
        "--type=merge",
    ]
    return json.loads(words[-1])


@pytest.mark.spares("refused-without-queue")
@pytest.mark.parametrize(
    "did",
    [
        pytest.param(Did("reports", 300, concurrency_limit=10), id="ten"),
        pytest.param(Did("reports", 9000, concurrency_limit=60), id="under one in a hundred"),
    ],
)
def test_few_refusals_are_no_cause_for_queues(did: Did) -> None:
    assert found(reports(did), "refused-without-queue") == []


def test_refusals_of_full_queues_are_told_elsewhere() -> None:
    (server,) = quiet("kas-a")
    full = Of((Did("service-accounts", 300, queue_full=900),), full=1.0)

    assert found(a_cluster(busier(server, "workload-low", full)), "refused-without-queue") == []


def unmatched(did: Did, *rows: Row, without: tuple[str, ...] = ()) -> Scene:
    first, *others = quiet()
    return a_cluster(busier(first, "catch-all", Of((did,)), *rows), *others, without=without)


@pytest.mark.fires("catch-all-traffic")
def test_requests_that_nothing_matches_are_told_with_who_sends_them() -> None:
    rows = [
        Row("catch-all", "catch-all", "weird", executing_s=0.2),
        Row("catch-all", "catch-all", "weird", executing_s=0.1),
    ]
    (one,) = found(unmatched(Did("catch-all", 30, executing=2), *rows), "catch-all-traffic")

    assert (one.severity, one.level, one.facts["users"]) == ("info", "catch-all", {"weird": 2})
    assert one.title == "1.00/s match no flow schema and go to catch-all on kas-a"
    assert one.change is not None
    schema = json.loads(one.change.command.partition("<<'EOF'\n")[2].removesuffix("\nEOF"))
    assert schema["spec"]["matchingPrecedence"] == 9999
    assert schema["spec"]["priorityLevelConfiguration"] == {"name": "global-default"}
    assert schema["spec"]["rules"][0]["subjects"] == [{"kind": "User", "user": {"name": "weird"}}]
    assert one.change.rollback == "kubectl delete flowschemas.flowcontrol.apiserver.k8s.io/unmatched"


def test_a_missing_default_schema_is_named() -> None:
    (one,) = found(unmatched(Did("catch-all", 300), without=("global-default",)), "catch-all-traffic")

    assert "the schema global-default does not exist" in one.evidence
    assert one.change is None


def test_refusals_by_catch_all_are_a_warning() -> None:
    (one,) = found(unmatched(Did("catch-all", 300, concurrency_limit=60)), "catch-all-traffic")

    assert one.severity == "warning"
    assert one.title == "10.0/s match no flow schema and go to catch-all on kas-a, and 2.00/s are refused"


@pytest.mark.spares("catch-all-traffic")
def test_a_request_now_and_then_is_not_told() -> None:
    assert found(unmatched(Did("catch-all", 3)), "catch-all-traffic") == []


def test_a_short_window_fires_nothing() -> None:
    scene = unmatched(Did("catch-all", 300, concurrency_limit=60))
    server = scene.frame.replicas["kas-a"]
    level, schema = server.levels["catch-all"], server.schemas["catch-all"]
    assert level.window is not None
    short = replace(level.window, seconds=2.0)
    brief = replace(
        server,
        levels={**server.levels, "catch-all": replace(level, window=short)},
        schemas={**server.schemas, "catch-all": replace(schema, window=short)},
    )
    known = {**scene.frame.replicas, "kas-a": brief}

    assert found(replace(scene, frame=replace(scene.frame, replicas=known)), "catch-all-traffic") == []
