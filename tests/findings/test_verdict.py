"""What it is all about, in one word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from apftop.findings.saturation.slow import slow_execution
from apftop.findings.scene import Scene
from apftop.findings.verdict import verdict
from apftop.records.backend import Backend
from apftop.records.findings import Finding, Whole
from apftop.records.logs import ClientLog, Logs
from apftop.records.measures import Window
from apftop.records.raw import Endpoint
from tests.findings.cluster import Did, Of, a_cluster, a_level, busier, quiet
from tests.findings.from_bundle import CASES, scene_of
from tests.findings.test_load import FULL, SLOW, etcd, full


def judged(scene: Scene, *found: Finding) -> tuple[Whole, tuple[str, ...], dict[str, Whole]]:
    """The verdict with what a scene's slow execution and these findings say."""
    whole, why, each = verdict(scene, (*found, *slow_execution(scene)))
    return whole, why, dict(each)


def behind(scene: Scene, **numbers: object) -> Scene:
    """The scene with how requests ended on kas-a."""
    one = scene.frame.replicas["kas-a"]
    backend = Backend(Window(30.0, "stamps"), **numbers)  # type: ignore[arg-type]
    return replace(scene, frame=replace(scene.frame, replicas={"kas-a": replace(one, backend=backend)}))


def test_a_quiet_cluster_is_quiet() -> None:
    whole, why, each = judged(a_cluster(*quiet("kas-a", "kas-b")))

    assert (whole, each) == ("quiet", {"kas-a": "quiet", "kas-b": "quiet"})
    assert why == ("on kas-a, kas-b flow control delays and refuses next to nothing over 30s",)


def test_requests_that_wait_and_are_refused_are_a_matter_of_flow_control_where_they_do() -> None:
    whole, why, each = judged(a_cluster(full(), *quiet("kas-b")))

    assert (whole, each) == ("apf", {"kas-a": "apf", "kas-b": "quiet"})
    assert why[0] == ("workload-low on kas-a: 160 wait, 20.0/s refused over 30s, the served waited 800ms on average")


def test_a_level_without_seats_is_a_matter_of_flow_control() -> None:
    jail = a_level("jail", 0, borrowing=0)
    of = Of((Did("jail", 0, timed_out=24, waiting=12),), current=0.0)

    assert judged(a_cluster(busier(quiet("kas-a")[0], "jail", of), levels=[jail]))[0] == "apf"


def test_queues_that_are_full_since_execution_became_slow_are_the_backend_s() -> None:
    did = replace(FULL.did[0], dispatched=600, queue_full=60, waits={9.0: 600}, execution_s=2.0)
    scene = a_cluster(full(of=replace(FULL, did=(did,)), more=etcd("update", 0.004, 1.9)), *quiet("kas-b"))
    whole, why, each = judged(scene)

    assert (whole, each) == ("backend-slow", {"kas-a": "backend-slow", "kas-b": "quiet"})
    assert why[0].startswith("execution in workload-low on kas-a takes 2s, x40 that of the 3 days before")
    assert "kas-a: etcd update takes 1.9s" in why[1]


def test_slow_execution_is_the_backend_s_before_anything_waits() -> None:
    exempt = Of((Did("exempt", 300, execution_s=1.0, usually=(10.0, 1.0, 0.01)),))

    assert judged(a_cluster(busier(full(of=SLOW), "exempt", exempt)))[0] == "backend-slow"


def test_one_level_with_slow_requests_that_hurt_nobody_is_quiet() -> None:
    assert judged(a_cluster(full(of=SLOW)))[0] == "quiet"


def test_requests_that_wait_for_those_in_the_queue_are_no_slow_backend() -> None:
    did = replace(FULL.did[0], dispatched=600, queue_full=60, waits={9.0: 600}, execution_s=2.0)
    inversion = Finding("priority-inversion", "critical", "workload-low", "", ("kas-a",), level="workload-low")

    assert judged(a_cluster(full(of=replace(FULL, did=(did,)))), inversion)[0] == "apf"


def test_a_rise_of_arrivals_is_no_slow_backend_though_execution_rose_too() -> None:
    did = replace(FULL.did[0], execution_s=0.2, dispatched=60000)

    assert judged(a_cluster(full(of=replace(FULL, did=(did,)))))[0] == "apf"


LOG = ClientLog(5, 17.2, 49.5)


def test_a_client_that_throttles_itself_is_the_matter_where_flow_control_is_calm() -> None:
    whole, why, each = judged(a_cluster(*quiet("kas-a"), logs=Logs(LOG)))

    assert (whole, each) == ("client-side", {"kas-a": "quiet"})
    assert why[0] == "the client's own limiter made it wait: 5 lines, 17.2s at most, 49.5s in all"


def test_a_client_that_throttles_itself_excuses_no_full_queue() -> None:
    whole, why, _ = judged(a_cluster(full(), logs=Logs(LOG)))

    assert whole == "apf"
    assert "the client's own limiter" in why[-1]


def test_short_waits_of_a_client_are_not_the_matter() -> None:
    assert judged(a_cluster(*quiet("kas-a"), logs=Logs(ClientLog(5, 0.3, 1.0))))[0] == "quiet"


def test_many_answers_with_429_that_flow_control_did_not_give_are_another_s() -> None:
    calm = a_cluster(*quiet("kas-a"))
    whole, why, _ = judged(behind(calm, requests={200: 1000.0, 429: 300.0}, too_many={"create pods/eviction": 290.0}))

    assert whole == "not-apf"
    assert why == (
        "kas-a: 300 of 300 answers with 429 over 30s are not of flow control; most for create pods/eviction",
    )


def test_time_outs_without_a_queue_are_another_s() -> None:
    calm = a_cluster(*quiet("kas-a"))

    assert judged(behind(calm, requests={200: 1000.0, 504: 60.0}, terminations={504: 60.0}))[0] == "not-apf"


@pytest.mark.parametrize(
    "numbers",
    [
        {"requests": {200: 1000.0, 429: 300.0}, "terminations": {429: 290.0}},
        {"requests": {200: 1000.0, 429: 8.0}},
        {"requests": {200: 100000.0, 429: 300.0}},
        {"requests": {200: 1000.0, 504: 5.0}, "terminations": {504: 5.0}},
    ],
    ids=["flow control's own", "a few", "one in three hundred", "a few time-outs"],
)
def test_few_answers_with_429_are_nobody_s_matter(numbers: dict[str, object]) -> None:
    assert judged(behind(a_cluster(*quiet("kas-a")), **numbers))[0] == "quiet"


def test_one_answer_of_metrics_judges_nothing_and_that_is_said() -> None:
    whole, why, each = judged(a_cluster(*quiet("kas-a", metrics=False, dumps=False, rows=None)))

    assert (whole, each) == ("unknown", {"kas-a": "unknown"})
    assert why == ("kas-a: neither metrics nor dumps were read",)


def test_a_server_that_may_not_be_read_does_not_hide_that_the_other_is_quiet() -> None:
    denied = dict.fromkeys((Endpoint.METRICS, Endpoint.LEVELS, Endpoint.REQUESTS), 403)
    whole, why, each = judged(a_cluster(*quiet("kas-a"), *quiet("kas-b", statuses=denied)))

    assert (whole, each) == ("quiet", {"kas-a": "quiet", "kas-b": "unknown"})
    assert why[1].startswith("kas-b: ")


def test_nothing_at_all_is_unknown() -> None:
    scene = a_cluster(*quiet("kas-a"))

    assert judged(replace(scene, frame=replace(scene.frame, replicas={})))[:2] == (
        "unknown",
        ("no API server was read",),
    )


EXPECTED: Sequence[tuple[str, Whole]] = (
    ("C01", "quiet"),
    ("C03", "apf"),
    ("C05", "apf"),
    ("C07", "unknown"),
    ("C13", "apf"),
    ("C21", "apf"),
    ("C23", "apf"),
    ("C27", "apf"),
    ("C29", "apf"),
    ("C33", "quiet"),
    ("C37", "apf"),
    ("C39", "apf"),
    ("C43", "apf"),
    ("C45", "unknown"),
)
"""Of C01 the log of the client is left out here: without it there is nothing wrong."""


@pytest.mark.parametrize(("case", "expected"), EXPECTED, ids=[case for case, _ in EXPECTED])
def test_cases_have_their_verdicts(case: str, expected: Whole) -> None:
    assert judged(scene_of(CASES / case))[0] == expected
