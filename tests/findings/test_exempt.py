"""Schemas that exempt too many, and exempt requests that take the server."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import Any

import pytest

from apftop.apf.builtins import builtin_schemas
from apftop.apf.objects import NonResourceRule, ResourceRule, Subject
from apftop.apf.release import Release
from apftop.findings.policies.exempt import FINDERS
from apftop.findings.scene import Scene
from apftop.records.findings import Change, Finding
from tests.findings.cluster import EVERYTHING, Did, Of, Row, Server, a_cluster, a_schema, busier, quiet

ACCOUNTS = Subject("Group", "system:serviceaccounts")
ROBOTS = Subject("ServiceAccount", "*", "ci")
ROBOT = "system:serviceaccount:ci:robot"
ADMIN = "kubernetes-admin"


def found(scene: Scene) -> list[Finding]:
    return [one for find in FINDERS for one in find(scene)]


def patches(change: Change | None) -> tuple[Any, Any]:
    assert change is not None
    return tuple(json.loads(shlex.split(one)[-1])["spec"] for one in (change.command, change.rollback))


def exempting(*dids: Did, rows: tuple[Row, ...] = (), name: str = "kas-a", **more: Any) -> Server:
    (calm,) = quiet(name, **more)
    return busier(calm, "exempt", Of((*dids, Did("exempt", 60))), *rows)


@pytest.mark.fires("broad-exempt")
def test_a_schema_that_exempts_all_accounts_leaves_them_without_a_limit() -> None:
    wide = a_schema("fast-lane", "exempt", 500, ACCOUNTS)
    rows = tuple(Row("exempt", "fast-lane", ROBOT, "list", executing_s=0.5, queue=-1) for _ in range(4))

    (one,) = found(a_cluster(exempting(Did("fast-lane", 600, executing=4), rows=rows), schemas=[wide]))

    assert (one.code, one.severity, one.subject) == ("broad-exempt", "warning", "fast-lane")
    assert one.title.startswith("flow schema fast-lane exempts system:serviceaccounts: nothing limits their get, list")
    assert one.facts["per_s"] == {"kas-a": 20.0}
    assert f"now on kas-a: 4 of its requests execute on 4 seats, for up to 500ms, by {ROBOT}" in one.evidence
    assert patches(one.change) == ({"matchingPrecedence": 9001}, {"matchingPrecedence": 500})


@pytest.mark.fires("broad-exempt")
def test_a_built_in_schema_that_was_pointed_to_exempt_gets_its_level_back() -> None:
    edited = replace(builtin_schemas(Release(1, 30))["service-accounts"], priority_level="exempt")

    (one,) = found(a_cluster(*quiet(), schemas=[edited]))

    assert (one.code, one.subject) == ("broad-exempt", "service-accounts")
    assert patches(one.change) == (
        {"priorityLevelConfiguration": {"name": "workload-low"}},
        {"priorityLevelConfiguration": {"name": "exempt"}},
    )


@pytest.mark.fires("broad-exempt")
def test_exempting_all_reads_of_everybody_is_broad_too() -> None:
    everybody = (Subject("Group", "system:authenticated"), Subject("Group", "system:unauthenticated"))
    reads = a_schema("reads", "exempt", 8000, *everybody, rules=(replace(EVERYTHING, verbs=("get", "list")),))

    (one,) = found(a_cluster(*quiet(), schemas=[reads]))

    assert one.facts["verbs"] == ["get", "list"]
    assert patches(one.change)[0] == {"matchingPrecedence": 9901}


@pytest.mark.spares("broad-exempt", "exempt-traffic")
def test_one_account_or_single_paths_or_a_schema_that_nobody_reaches_are_not_broad() -> None:
    anybody = (Subject("Group", "system:unauthenticated"), Subject("Group", "system:authenticated"))
    pods = (ResourceRule(("list",), ("",), ("pods",), ("*",)),)
    harmless = [
        a_schema("monitoring", "exempt", 500, Subject("ServiceAccount", "prometheus", "monitoring")),
        a_schema("health", "exempt", 1000, *anybody, rules=(), others=(NonResourceRule(("get",), ("/healthz",)),)),
        a_schema("pods", "exempt", 1100, ACCOUNTS, rules=pods),
        a_schema("too-late", "exempt", 9500, ACCOUNTS),
        a_schema("eks-exempt", "exempt", 2, ACCOUNTS),
    ]

    assert found(a_cluster(*quiet(), schemas=harmless)) == []


@pytest.mark.fires("exempt-traffic")
def test_a_steady_stream_through_a_narrow_schema_is_worth_knowing() -> None:
    narrow = a_schema("ci-robots", "exempt", 500, ROBOTS)

    (one,) = found(a_cluster(exempting(Did("ci-robots", 60)), schemas=[narrow]))

    assert (one.code, one.severity, one.facts["per_s"]) == ("exempt-traffic", "info", {"kas-a": 2.0})
    assert patches(one.change) == ({"matchingPrecedence": 9001}, {"matchingPrecedence": 500})


@pytest.mark.spares("exempt-traffic")
def test_less_than_one_request_a_second_is_no_stream() -> None:
    narrow = a_schema("ci-robots", "exempt", 500, ROBOTS)

    assert found(a_cluster(exempting(Did("ci-robots", 30)), schemas=[narrow])) == []


def admins(count: int, executing_s: float = 4.0) -> tuple[Row, ...]:
    return tuple(
        Row("exempt", "exempt", ADMIN, "list", age_s=executing_s, executing_s=executing_s, queue=-1, width=10)
        for _ in range(count)
    )


def flood(count: int, dispatched: int = 0, **more: Any) -> Server:
    (calm,) = quiet("kas-a")
    did = Did("exempt", dispatched, executing=count, width=10, **more)
    return busier(calm, "exempt", Of((did,)), *admins(count))


@pytest.mark.fires("exempt-dominates")
def test_an_administrator_who_takes_a_third_of_the_server_is_named() -> None:
    (one,) = found(a_cluster(flood(20, 90, execution_s=5.0)))

    assert (one.code, one.severity, one.schema) == ("exempt-dominates", "warning", "exempt")
    assert one.title == f"exempt requests hold 33.2% of the seats of kas-a, most of them {ADMIN}"
    assert one.evidence[0].startswith("exempt on kas-a: 200 seats now, 150 on average over 30s")
    assert f"{ADMIN} holds 200 seats" in one.evidence
    assert one.change is None
    assert "outside group system:masters" in one.advice[0]


@pytest.mark.fires("exempt-dominates")
def test_of_a_schema_of_ones_own_that_takes_the_server_the_patch_is_printed() -> None:
    narrow = a_schema("ci-robots", "exempt", 500, ROBOTS)
    rows = tuple(Row("exempt", "ci-robots", ROBOT, "list", executing_s=3.0, queue=-1, width=10) for _ in range(20))
    server = exempting(Did("ci-robots", 240, executing=20, width=10, execution_s=2.5), rows=rows)

    one = next(one for one in found(a_cluster(server, schemas=[narrow])) if one.code == "exempt-dominates")

    assert one.schema == "ci-robots"
    assert patches(one.change) == ({"matchingPrecedence": 9001}, {"matchingPrecedence": 500})


@pytest.mark.spares("exempt-dominates")
def test_a_burst_of_a_moment_or_less_than_a_fourth_is_no_domination() -> None:
    (calm,) = quiet("kas-a")
    burst = busier(calm, "exempt", Of((Did("exempt", 300, executing=20, width=10),)), *admins(20, 0.05))

    assert found(a_cluster(burst)) == []
    assert found(a_cluster(flood(15, 40, execution_s=5.0))) == []
    assert found(a_cluster(*quiet())) == []
