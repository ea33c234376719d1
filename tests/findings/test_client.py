"""Clients that wait for themselves, and the process that is refused most."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from apftop.findings.scene import Scene
from apftop.findings.servers.client import client_throttling, refused_caller
from apftop.logs.read import logs_of
from apftop.records.findings import Finding
from apftop.records.logs import Caller, ClientLog, Logs
from tests.findings.cluster import Did, Of, Server, a_cluster, quiet

URLS = tuple(f"GET /apis/apps/v1/namespaces/team-{number}/deployments" for number in range(5))
QUIET = a_cluster(*quiet())
ARGO = "system:serviceaccount:argo:workflow-controller"


def log(*waits: float, request: str = "", **other: object) -> ClientLog:
    named = {request or URLS[number % len(URLS)]: wait for number, wait in enumerate(waits)}
    made = ClientLog(len(waits), max(waits, default=0.0), sum(waits), dict.fromkeys(named, 1), named, seconds=26.2)
    return replace(made, **other)  # type: ignore[arg-type]


def throttled(client: ClientLog | None, scene: Scene | None = None) -> Finding | None:
    return next(client_throttling(replace(scene or QUIET, logs=Logs(client))), None)


@pytest.mark.fires("client-throttling")
def test_a_client_that_waits_for_its_own_limiter_is_told_so() -> None:
    found = throttled(log(1.091, 4.377, 9.802, 17.204, 16.988))

    assert found is not None and found.severity == "warning" and found.change is None
    assert found.title == (
        "the client's own limiter holds its requests back: 5 waits in its log, up to 17.2s; that is not APF"
    )
    assert found.evidence[0].startswith("at least 5 waits over 26.2s: 49.5s in all, the longest 17.2s")
    assert found.evidence[1] == "GET deployments: 5 of these waits, the longest 17.2s"
    assert "--kube-api-qps" in found.advice[0] and "QPS -1" in found.advice[1]
    assert found.facts["sum_wait_s"] == pytest.approx(49.462)


@pytest.mark.spares("client-throttling")
def test_a_client_without_waits_or_without_a_log_is_none() -> None:
    assert throttled(None) is None
    assert throttled(ClientLog(0, 0.0, 0.0)) is None
    assert throttled(ClientLog(0, 0.0, 0.0, retries=4, refused={"uid": 4})) is None


@pytest.mark.parametrize(
    ("client", "severity"),
    [
        (log(1.2, 1.1), "info"),
        (log(0.35, 0.2, 0.3, 0.1, 0.9), "info"),
        (log(1.2, 1.1, 1.3), "warning"),
        (log(6.0), "warning"),
        (log(given_up=3), "warning"),
        (log(given_up=1), "info"),
        (log(1.9, 1.1, 1.3, request="PUT /apis/coordination.k8s.io/v1/namespaces/a/leases/b"), "warning"),
        (log(5.5, request="PUT /apis/coordination.k8s.io/v1/namespaces/a/leases/b"), "critical"),
    ],
)
def test_severity_goes_by_how_long_and_how_often(client: ClientLog, severity: str) -> None:
    found = throttled(client)

    assert found is not None and found.severity == severity


def test_requests_that_never_left_are_told_with_why() -> None:
    found = throttled(log(given_up=3))

    assert found is not None
    assert "3 given up before they were sent" in found.title
    assert found.evidence == ("3 given up before they were sent: their deadlines would have passed in the limiter",)


def test_waits_after_a_refusal_are_told_by_the_name_of_the_schema() -> None:
    metas = {"service-accounts": {"uid": "b9cbf86d"}}
    scene = a_cluster(Server(), metas=metas)
    found = throttled(log(2.0, 2.0, 2.0, refused={"b9cbf86d": 4, "gone": 1, "": 2}, retries=7), scene)

    assert found is not None
    assert found.evidence[-1] == (
        "besides, 7 waits were for another try after a 429; schema: service-accounts 4, none, so not APF's 2, gone 1"
    )
    assert found.facts["retries_after_429"] == 7


def test_while_the_servers_are_full_too_the_limiter_is_not_to_be_switched_off() -> None:
    busy = Of((Did("service-accounts", 3000, queue_full=900, executing=39, seats=245, waiting=300),), full=1.0)
    scene = a_cluster(Server(levels={"workload-low": busy}))
    assert scene.frame.servers[0].levels["workload-low"].state == "saturated"
    found = throttled(log(2.0, 2.0, 2.0), scene)

    assert found is not None
    assert found.advice[0] == "first look at the servers: workload-low is full as well"
    assert not any("QPS -1" in line for line in found.advice)


def test_the_case_of_a_terminal_tool_is_found() -> None:
    case = Path(__file__).parent.parent / "cases" / "C01"
    found = throttled(logs_of(case).client)

    assert found is not None and found.severity == "warning"
    assert found.facts["lines"] == 5 and found.facts["max_wait_s"] == 17.204


def refused(*callers: Caller) -> Finding | None:
    return next(refused_caller(replace(QUIET, logs=Logs(callers=callers, seconds=300.0))), None)


TOP = Caller(ARGO, "argo/v3.5", "10.0.3.17", requests=5000, refused=812, kinds={"list pods": 4000, "get pods": 1000})
OTHER = Caller("somebody", "curl/8", "10.0.9.9", requests=7000, refused=118)


@pytest.mark.fires("refused-caller")
def test_the_process_behind_most_refusals_is_named() -> None:
    found = refused(TOP, OTHER)

    assert found is not None and found.severity == "info" and found.change is None
    assert found.title == "argo/v3.5 from 10.0.3.17 got 87.3% of all answers 429 in the log"
    assert found.evidence == (
        "812 of 930 answers 429 in the log over 300s (87.3%); it sent 5000 of 12000 requests",
        "it asks for: list pods 4000, get pods 1000",
        f"it is {ARGO}",
    )
    assert found.advice[1].endswith("kubectl get pods -A --field-selector status.podIP=10.0.3.17 -o wide")
    assert found.facts["of"] == 930


@pytest.mark.spares("refused-caller")
def test_few_refusals_or_many_that_are_refused_alike_name_nobody() -> None:
    assert refused() is None
    assert refused(replace(TOP, refused=19), replace(OTHER, refused=0)) is None
    assert refused(replace(TOP, refused=100), replace(OTHER, refused=101, user_agent="(others)")) is None
    alike = [replace(OTHER, user_agent=f"agent-{number}", refused=40) for number in range(3)]
    assert refused(*alike) is None


def test_a_log_of_one_caller_alone_names_nobody() -> None:
    assert refused(TOP) is None


def test_both_logs_of_the_same_requests_are_not_added_up() -> None:
    seen = [replace(one, user="", schema="service-accounts", level="workload-low") for one in (TOP, OTHER)]
    found = refused(TOP, OTHER, *seen)
    assert found is not None and found.facts["of"] == 930 and found.level == ""

    found = refused(*seen)
    assert found is not None and found.facts["of"] == 930
    assert found.level == "workload-low" and found.facts["user"] is None


def test_the_name_that_a_client_gives_itself_is_harmless() -> None:
    found = refused(replace(TOP, user_agent="\x1b[2J" + "x" * 500), OTHER)

    assert found is not None
    assert "\x1b" not in found.title and len(found.title) < 160
