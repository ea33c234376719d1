"""Waits near their limit or beyond the last bucket; time-outs, and deadlines too short for the wait."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.findings.scene import Scene
from apftop.findings.waiting import waits
from apftop.records.findings import Finding
from apftop.records.measures import WaitLimit
from tests.findings.cluster import Did, Of, Row, a_cluster, a_level, a_schema, busier, quiet

LOW, SCHEMA = "workload-low", "service-accounts"


def found(scene: Scene, code: str) -> list[Finding]:
    return [one for find in waits.FINDERS for one in find(scene) if one.code == code]


def waiting(did: Did, *rows: Row, level: str = LOW) -> Scene:
    """Three servers, one of which does this in a level that is full."""
    first, *others = quiet()
    return a_cluster(busier(first, level, Of((did,), full=0.98), *rows), *others)


def test_a_quiet_cluster_has_nothing_to_tell() -> None:
    scene = a_cluster(*quiet())

    assert [one.title for find in waits.FINDERS for one in find(scene)] == []


@pytest.mark.fires("waits-near-limit")
def test_waits_beyond_two_thirds_of_the_limit_are_near_it() -> None:
    (one,) = found(waiting(Did(SCHEMA, 1000, waits={12.0: 20})), "waits-near-limit")

    assert (one.severity, one.subject, one.replicas) == ("warning", LOW, ("kas-a",))
    assert one.title == "workload-low on kas-a: requests wait for more than 10s, near the limit of 15s"
    assert one.evidence[0] == (
        "kas-a: at least 20 of 1000 served over 30s waited more than 10s (2.0%); wait p99 10s-15s"
    )


def test_old_requests_in_the_dump_are_near_the_limit_too() -> None:
    rows = [Row(LOW, SCHEMA, "oidc:batch", age_s=12.0, index=n) for n in range(3)]
    (one,) = found(waiting(Did(SCHEMA, 1000, waiting=3), *rows), "waits-near-limit")

    assert one.facts["waiting_over"] == {"kas-a": 3}
    assert "3 wait for longer than that now, the oldest 12s" in one.evidence[0]


@pytest.mark.spares("waits-near-limit")
@pytest.mark.parametrize("tolerance_s", [None, 3.0])
def test_ages_that_the_clock_does_not_bear_out_are_not_near_the_limit(tolerance_s: float | None) -> None:
    rows = [Row(LOW, SCHEMA, "oidc:batch", age_s=12.0, index=n) for n in range(3)]
    scene = waiting(Did(SCHEMA, 1000, waiting=3), *rows)
    known = {
        name: replace(one, clock=replace(one.clock, tolerance_s=tolerance_s))
        for name, one in scene.frame.replicas.items()
    }

    assert found(replace(scene, frame=replace(scene.frame, replicas=known)), "waits-near-limit") == []


def test_a_level_that_keeps_the_cluster_alive_is_critical() -> None:
    did = Did("system-node-high", 1000, waits={12.0: 20})
    (one,) = found(waiting(did, level="node-high"), "waits-near-limit")

    assert one.severity == "critical"


@pytest.mark.spares("waits-near-limit")
@pytest.mark.parametrize(
    "did",
    [
        pytest.param(Did(SCHEMA, 1000, waits={8.0: 300}), id="under two thirds"),
        pytest.param(Did(SCHEMA, 1000, waits={12.0: 9}), id="under one in a hundred"),
        pytest.param(Did(SCHEMA, 100, waits={12.0: 2}), id="two requests"),
        pytest.param(Did(SCHEMA, 1000, timed_out=40), id="those that timed out"),
    ],
)
def test_waits_are_not_near_the_limit(did: Did) -> None:
    rows = [Row(LOW, SCHEMA, "oidc:batch", age_s=12.0, index=n) for n in range(2)]

    assert found(waiting(did, *rows), "waits-near-limit") == []


def test_a_level_that_never_dispatches_is_told_elsewhere() -> None:
    jail = a_level("jail", 0, borrowing=0, queues=1, hand_size=1)
    did = Did("jail", timed_out=24, waiting=12, usually=(0.0, 1.0, 0.05))
    rows = [Row("jail", "jail", "oidc:x", age_s=14.0, index=n) for n in range(12)]
    (server,) = quiet("kas-a")
    scene = a_cluster(busier(server, "jail", Of((did,)), *rows), levels=[jail], schemas=[a_schema("jail", "jail")])

    assert [one.code for find in waits.FINDERS for one in find(scene)] == []


@pytest.mark.fires("waits-past-last-bucket")
def test_quantiles_beyond_the_last_bound_are_open() -> None:
    did = Did(SCHEMA, 1000, waits={41.7: 300, 22.0: 200, 4.0: 500}, waiting=3)
    scene = waiting(did, Row(LOW, SCHEMA, "oidc:batch", age_s=44.0))
    (one,) = found(scene, "waits-past-last-bucket")

    assert one.title == (
        "workload-low on kas-a: 30.0% of the served waited more than 30s, the last bound of the histogram"
    )
    assert one.evidence == (
        "kas-a: 30.0% of 1000 served over 30s waited more than 30s; wait p50 2s-5s, p99 >30s",
        "kas-a: mean of all waits 18.9s; of those beyond the bound 34.7s to 49.7s",
        "kas-a: the oldest that waits now has done so for 44s",
    )
    assert one.facts["overflow_mean_bounds_s"] == pytest.approx((34.7, 49.7), abs=0.05)
    assert found(scene, "waits-near-limit") == []


@pytest.mark.spares("waits-past-last-bucket")
@pytest.mark.parametrize(
    "did",
    [
        pytest.param(Did(SCHEMA, 1000, waits={29.0: 300}), id="within the last bound"),
        pytest.param(Did(SCHEMA, 1000, waits={41.0: 2}), id="two requests"),
        pytest.param(Did(SCHEMA, 1000, timed_out=40, limit_s=45.0), id="those that timed out"),
    ],
)
def test_quantiles_within_the_buckets_are_told_by_them(did: Did) -> None:
    assert found(waiting(did), "waits-past-last-bucket") == []


@pytest.mark.fires("queue-time-outs")
def test_requests_that_leave_their_queue_unserved_are_told() -> None:
    (one,) = found(waiting(Did(SCHEMA, 900, timed_out=60)), "queue-time-outs")

    assert (one.severity, one.subject) == ("warning", LOW)
    assert one.title == "workload-low on kas-a: 2.00/s leave the queue unserved (time-out)"
    assert one.evidence[0] == "kas-a: 60 of 960 that came over 30s (2.00/s), after 10s to 15s"
    assert one.facts["timed_out"] == {"kas-a": 60}


@pytest.mark.spares("queue-time-outs")
@pytest.mark.parametrize(
    "did",
    [
        pytest.param(Did(SCHEMA, 900, timed_out=5), id="five"),
        pytest.param(Did(SCHEMA, 900, queue_full=60), id="others"),
    ],
)
def test_a_client_that_gives_up_and_refusals_on_arrival_are_no_time_outs(did: Did) -> None:
    assert found(waiting(did), "queue-time-outs") == []


@pytest.mark.fires("short-deadlines")
def test_time_outs_before_the_default_limit_are_of_short_deadlines() -> None:
    scene = waiting(Did(SCHEMA, 900, timed_out=60, limit_s=5.01))
    (one,) = found(scene, "short-deadlines")

    assert one.title == (
        "workload-low on kas-a: 2.00/s leave the queue unserved within 10s, before the default limit of 15s"
    )
    assert one.facts["within_s"] == [5.0, 10.0]
    assert one.facts["deadline_s"] == [20.0, 40.0]
    assert found(scene, "queue-time-outs") == []


@pytest.mark.fires("short-deadlines")
def test_before_1_28_5_the_deadline_itself_ends_a_wait() -> None:
    (server,) = quiet("kas-a", release="v1.27.16")
    scene = a_cluster(busier(server, LOW, Of((Did(SCHEMA, 900, timed_out=60, limit_s=5.01),))))
    (one,) = found(scene, "short-deadlines")

    assert one.facts["deadline_s"] == [5.0, 10.0]
    assert "up to 1.28.4 a request waits until its deadline at most" in one.evidence[1]
    assert "a timeout of 5s to 10s" in one.evidence[1]


@pytest.mark.spares("short-deadlines")
def test_time_outs_at_the_default_limit_are_not_of_short_deadlines() -> None:
    assert found(waiting(Did(SCHEMA, 900, timed_out=60, limit_s=15.01)), "short-deadlines") == []


def test_a_server_whose_limit_is_known_to_be_short_has_plain_time_outs() -> None:
    scene = waiting(Did(SCHEMA, 900, timed_out=60, limit_s=5.01))
    server = scene.frame.replicas["kas-a"]
    level = server.levels[LOW]
    assert level.waits is not None
    given = replace(level, waits=replace(level.waits, limit=WaitLimit(5.0, "--request-timeout as given")))
    known = {**scene.frame.replicas, "kas-a": replace(server, levels={**server.levels, LOW: given})}
    told = replace(scene, frame=replace(scene.frame, replicas=known))

    assert found(told, "short-deadlines") == []
    assert [one.level for one in found(told, "queue-time-outs")] == [LOW]


def test_servers_with_the_same_trouble_are_one_finding_with_the_worst_first() -> None:
    did = [Did(SCHEMA, 900, timed_out=number) for number in (10, 90, 30)]
    servers = [busier(server, LOW, Of((one,))) for server, one in zip(quiet(), did, strict=True)]
    (one,) = found(a_cluster(*servers), "queue-time-outs")

    assert one.replicas == ("kas-b", "kas-c", "kas-a")
    assert one.title.startswith("workload-low on 3 servers: 4.33/s")
