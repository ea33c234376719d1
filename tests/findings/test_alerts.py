"""Alerts of the query library, by the window at hand: which conditions hold, which do not, and which cannot be told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.apf.objects import FlowSchema
from apftop.findings.alerting.alerts import alerts, mixin
from apftop.findings.scene import Scene
from apftop.records.backend import Backend
from apftop.records.findings import Alert
from apftop.records.measures import Window
from apftop.rules import rules
from tests.findings.cluster import Did, Of, Server, a_cluster, a_level, a_schema, busier, quiet


def held(scene: Scene) -> set[tuple[str, str, str]]:
    """Name, subject and replica of the alerts whose condition holds."""
    return {(one.name, one.subject, one.replica) for one in alerts(scene) if one.condition}


def names(scene: Scene) -> set[str]:
    return {name for name, _, _ in held(scene)}


def with_low(did: Did, **of: float) -> Scene:
    """Three quiet servers, on the first of which something else goes on in workload-low."""
    first, *others = quiet()
    return a_cluster(busier(first, "workload-low", Of((did,), **of)), *others)  # type: ignore[arg-type]


def test_a_quiet_cluster_has_no_alert() -> None:
    assert held(a_cluster(*quiet())) == set()


def test_rejections_are_told_by_schema_and_server() -> None:
    found = held(with_low(Did("service-accounts", 3000, queue_full=600)))

    assert ("APFRequestsRejected", "service-accounts", "kas-a") in found
    assert ("APFSingleReplicaRejecting", "workload-low", "kas-a") in found


@pytest.mark.parametrize(
    ("did", "why"),
    [
        (Did("service-accounts", 3000, queue_full=2), "two are no rate"),
        (Did("service-accounts", 30000, queue_full=200), "less than 1% of what came"),
    ],
)
def test_few_rejections_are_no_alert(did: Did, why: str) -> None:
    assert "APFRequestsRejected" not in names(with_low(did)), why


def test_a_level_that_carries_heartbeats_must_reject_nothing() -> None:
    first, *others = quiet()
    hurt = busier(first, "node-high", Of((Did("system-node-high", 200, timed_out=6),)))

    assert ("APFProtectedLevelRejected", "system-node-high", "kas-a") in held(a_cluster(hurt, *others))
    assert "APFProtectedLevelRejected" not in names(with_low(Did("service-accounts", 200, timed_out=6)))


def test_a_storm_is_three_times_what_is_served() -> None:
    assert "APFRetryStorm" in names(with_low(Did("service-accounts", 300, queue_full=900)))
    assert "APFRetryStorm" not in names(with_low(Did("service-accounts", 300, queue_full=500)))


@pytest.mark.parametrize(
    ("waited", "expected"),
    [
        (12.0, {"APFQueueWaitLong", "APFQueueWaitNearLimit"}),
        (7.0, {"APFQueueWaitLong"}),
        (3.0, set()),
    ],
)
def test_waits_are_told_by_bounds_of_buckets(waited: float, expected: set[str]) -> None:
    scene = with_low(Did("service-accounts", 600, waits={waited: 100}))

    assert {one for one in names(scene) if one.startswith("APFQueueWait")} == expected
    assert not [one for one in alerts(scene) if one.name.startswith("APFQueueWait") and one.condition is None]


def test_requests_that_leave_their_queue_are_told() -> None:
    assert "APFQueueTimeouts" in names(with_low(Did("service-accounts", 600, timed_out=30)))
    assert "APFQueueTimeouts" not in names(with_low(Did("service-accounts", 600, queue_full=30)))


def test_seats_above_the_limit_for_over_a_quarter_of_the_time_are_told() -> None:
    assert "APFSeatsOvercommitted" in names(with_low(Did("service-accounts", 600, executing=90), over=0.4))
    assert "APFSeatsOvercommitted" not in names(with_low(Did("service-accounts", 600, executing=90), over=0.2))


@pytest.mark.parametrize(
    ("high", "current", "expected"), [(245.0, 56.0, True), (244.0, 56.0, False), (400.0, 245.0, False)]
)
def test_lent_seats_are_not_returned_where_all_nominal_ones_were_asked_for(
    high: float, current: float, expected: bool
) -> None:
    first, *others = quiet()
    of = Of((Did("service-accounts", 600, executing=56, waiting=300),), current=current, demand=(high,) * 5)
    scene = a_cluster(busier(first, "workload-low", of), *others)

    assert (("APFLentSeatsNotReturned", "workload-low", "kas-a") in held(scene)) is expected
    assert not [one for one in alerts(scene) if one.name == "APFLentSeatsNotReturned" and one.condition is None]


def test_a_demand_that_is_no_number_tells_nothing_of_lent_seats() -> None:
    (server,) = quiet("kas-a")
    of = Of((Did("service-accounts", 600),), current=56, demand=(float("nan"),) * 5)
    scene = a_cluster(busier(server, "workload-low", of))

    (one,) = (one for one in alerts(scene) if one.name == "APFLentSeatsNotReturned")
    assert one.condition is None


@pytest.mark.parametrize(("refused", "fill", "expected"), [(60, 0.25, True), (60, 0.5, False), (1, 0.25, False)])
def test_full_queues_are_those_of_few_flows_where_most_places_were_always_free(
    refused: int, fill: float, expected: bool
) -> None:
    scene = with_low(Did("service-accounts", 600, queue_full=refused), waited=1.0, queue_fill=fill)

    assert (("APFHotFlowQueueFull", "workload-low", "kas-a") in held(scene)) is expected
    assert not [one for one in alerts(scene) if one.name == "APFHotFlowQueueFull" and one.condition is None]


def test_full_with_a_queue_is_saturated_and_full_without_one_is_good_use() -> None:
    assert "APFPriorityLevelSaturated" in names(with_low(Did("service-accounts", 600, waiting=8), full=0.95))
    assert "APFPriorityLevelSaturated" not in names(with_low(Did("service-accounts", 600), full=0.95))


def test_a_level_without_seats_is_told_once_requests_come() -> None:
    jail = a_level("jail", 0, borrowing=0)
    schema = a_schema("jail", "jail")

    def scene(did: Did) -> Scene:
        (server,) = quiet("kas-a")
        return a_cluster(busier(server, "jail", Of((did,), current=0)), levels=[jail], schemas=[schema])

    assert ("APFZeroSeatLevel", "jail", "kas-a") in held(scene(Did("jail", waiting=3)))
    assert "APFZeroSeatLevel" not in names(scene(Did("jail")))


def test_a_schema_of_a_missing_level_is_told() -> None:
    stray: FlowSchema = a_schema("stray", "nowhere")

    assert ("APFDanglingFlowSchema", "stray", "") in held(a_cluster(*quiet(), schemas=[stray]))


def test_traffic_to_the_exempt_level_is_expected_of_few_schemas() -> None:
    robots = a_schema("robots", "exempt")
    (server,) = quiet("kas-a")
    busy = busier(server, "exempt", Of((Did("exempt", 600), Did("robots", 600))))

    assert held(a_cluster(busy, schemas=[robots])) == {("APFUnexpectedExemptTraffic", "robots", "kas-a")}


def test_servers_that_differ_in_seats_are_told() -> None:
    first, second = quiet("kas-a", "kas-b")

    assert "APFConfigSkew" in names(a_cluster(first, replace(second, seats=400)))


def test_one_that_serves_far_more_is_told() -> None:
    first, *others = quiet()
    hot = busier(first, "workload-low", Of((Did("service-accounts", 9000),)))

    assert ("APFReplicaImbalance", "kas-a", "kas-a") in held(a_cluster(hot, *others))


def test_what_takes_metrics_cannot_be_told_without_them() -> None:
    scene = a_cluster(Server("kas-a", metrics=False))
    untold = {one.name: one for one in alerts(scene) if one.condition is None}

    assert untold["APFServerSaturated"] == Alert("APFServerSaturated", "kas-a", None, "for 5m", "kas-a")
    assert not held(scene)


def test_each_alert_says_for_how_long_it_must_hold() -> None:
    scene = with_low(Did("service-accounts", 3000, queue_full=600))
    (found,) = (one for one in alerts(scene) if one.name == "APFRequestsRejected")

    assert found == Alert(
        "APFRequestsRejected", "service-accounts", True, "for 5m", "kas-a", "workload-low", "service-accounts"
    )


def behind(requests: dict[int, float], terminations: dict[int, float]) -> Scene:
    """One quiet server with these numbers of completed requests and of terminations, over 30 seconds."""
    scene = a_cluster(*quiet("kas-a"))
    (server,) = scene.frame.servers
    backend = Backend(Window(30.0, "stamps"), requests, terminations)
    return replace(scene, frame=replace(scene.frame, replicas={server.name: replace(server, backend=backend)}))


def test_the_stock_alert_counts_refusals_twice_and_so_stays_silent_at_a_quarter() -> None:
    found = mixin(behind({200: 450.0, 429: 150.0}, {429: 150.0}))

    assert found is not None
    assert found.ratio == pytest.approx(0.2)
    assert not found.fires
    more = mixin(behind({200: 440.0, 429: 160.0}, {429: 160.0}))
    assert more is not None
    assert more.fires


def test_the_stock_alert_is_not_told_without_its_metrics() -> None:
    assert mixin(behind({}, {})) is None


def test_forbidden_requests_are_told_by_share_and_rate() -> None:
    assert "APFForbiddenTraffic" in names(behind({200: 600.0, 403: 300.0}, {}))
    assert "APFForbiddenTraffic" not in names(behind({200: 6000.0, 403: 300.0}, {}))
    assert rules().findings.alerts.forbidden_share == 0.2
