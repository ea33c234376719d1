"""The test bed itself: real servers, real counters, real queues."""

from __future__ import annotations

import time

from tests.planes import load
from tests.planes.client import Client
from tests.planes.flow import apply_flow, flow_schema, priority_level, remove_flow
from tests.planes.objects import allow_loaders, create_namespace, delete_namespace, revoke
from tests.planes.observe import DUMPS, FLOW_SCHEMA_UID, flow_schema_name, metric, priority_levels, waiting
from tests.planes.plane import Plane
from tests.planes.webhook import fixed, webhook_in_force

DUMP_NAMES = ("dump_priority_levels", "dump_queues", "dump_requests")


def test_version(plane: Plane) -> None:
    assert len(plane.urls) == len(set(plane.urls)) == 3
    for replica in range(3):
        client = plane.client(replica=replica)
        assert client.get("/version").expect(200).json()["gitVersion"] == f"v{plane.version}"
        assert metric(client, "kubernetes_build_info", git_version=f"v{plane.version}") == 1


def test_dumps_need_rights(plane: Plane) -> None:
    for replica, url in enumerate(plane.urls):
        stranger = Client(url, "no-such-token", plane.ca_file)
        for name in DUMP_NAMES:
            assert plane.client("admin", replica).get(DUMPS + name).status == 200
            assert plane.client("nobody", replica).get(DUMPS + name).status == 403
            assert stranger.get(DUMPS + name).status == 401
        assert "global-default" in priority_levels(plane.client(replica=replica))


def test_every_request_is_counted_once(plane: Plane) -> None:
    admin, batch = plane.client(), plane.client("batch")
    schema = flow_schema_name(admin, batch.get("/version").expect(200).headers[FLOW_SCHEMA_UID])
    name = "apiserver_flowcontrol_dispatched_requests_total"
    before = metric(admin, name, flow_schema=schema)
    records = load.run(plane, load.ClosedLoop("batch", load.get("/version"), concurrency=4, count=200))
    assert [record.code for record in records] == [200] * 200
    assert metric(admin, name, flow_schema=schema) - before == 200


def test_slow_webhook_makes_queues(plane: Plane) -> None:
    level = priority_level("slow", shares=1, queues=4, hand_size=1)
    schema = flow_schema("slow", "slow", users=["elephant"])
    create_namespace(plane, "slow")
    allow_loaders(plane)
    try:
        apply_flow(plane, level, schema, probe_user="elephant")
        slow = load.ClosedLoop("elephant", load.create_configmap("slow"), replica=1, concurrency=8, seconds=20)
        with webhook_in_force(plane, "slow", fixed(0.3)) as hook, load.running(plane, slow) as background:
            deadline, seen = time.monotonic() + 15, 0
            while seen == 0 and time.monotonic() < deadline:
                seen = waiting(plane.client(replica=1), "slow")
            elsewhere = waiting(plane.client(replica=2), "slow")
        assert seen > 0
        assert elsewhere == 0
        assert hook.calls >= len(background.records) > 0
        assert {record.code for record in background.records} == {201}
        assert min(record.latency for record in background.records) >= 0.3
    finally:
        remove_flow(plane, level, schema)
        revoke(plane, "plane-loaders")
        delete_namespace(plane, "slow")


def test_replica_stops_and_comes_back(plane: Plane) -> None:
    old = plane.pids[2]
    plane.stop_replica(2)
    try:
        assert plane.pids[2] is None
        assert plane.client(replica=1).get("/readyz").status == 200
        assert load.run(plane, load.ClosedLoop("batch", load.get("/version"), replica=2, count=1))[0].code == 0
    finally:
        plane.start_replica(2)
    assert plane.pids[2] not in (None, old)
    assert plane.client(replica=2).get("/readyz").status == 200
