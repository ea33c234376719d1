"""`apftop report` on real servers, against what plain clients sent and saw."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from apftop.records.raw import Endpoint
from tests.planes import load
from tests.planes.flow import apply_flow, flow_schema, priority_level, remove_flow
from tests.planes.looks import between, look, report
from tests.planes.objects import allow, allow_loaders, create_namespace, delete_namespace, revoke, wait_on_replicas
from tests.planes.observe import metric
from tests.planes.plane import Plane
from tests.planes.webhook import exponential, webhook_in_force

BOTH = (Endpoint.LEVELS, Endpoint.METRICS, Endpoint.SCHEMAS, Endpoint.CONFIGS)
PHASE_S = 20.0


def readme_objects() -> list[dict[str, Any]]:
    """The objects of the README's YAML block that has the role; the others are a pipeline and a pod."""
    text = (Path(__file__).parents[2] / "README.md").read_text()
    blocks = [part.split("```")[0] for part in text.split("```yaml")[1:]]
    found = [list(yaml.safe_load_all(block)) for block in blocks]
    (objects,) = [
        one for one in found if any(isinstance(part, dict) and part.get("kind") == "ClusterRole" for part in one)
    ]
    return objects


@pytest.fixture
def batch_level(plane: Plane) -> Iterator[str]:
    """A level of its own for the user batch."""
    level = priority_level("batch", shares=5, queues=4, hand_size=2, queue_length=8)
    schema = flow_schema("batch", "batch", users=["batch"])
    apply_flow(plane, level, schema, "batch")
    yield "batch"
    remove_flow(plane, level, schema)


def test_requests_sent_are_requests_dispatched(plane: Plane, batch_level: str) -> None:
    before = look(plane, *BOTH)
    records = load.run(plane, load.ClosedLoop("batch", load.get("/version"), concurrency=3, count=150))
    level = between(before, look(plane, *BOTH)).levels[batch_level]

    assert [record.code for record in records] == [200] * 150
    assert level.counts is not None
    assert (level.counts.dispatched, level.counts.rejected_total) == (150, 0)
    assert level.waits is not None
    assert (level.waits.executed, level.waits.timed_out) == (150, 0)
    assert level.execution is not None
    assert level.execution.mean_s is not None
    assert 150 * level.execution.mean_s <= sum(record.latency for record in records)


def test_own_requests_are_not_load(plane: Plane) -> None:
    # The very role that the README ships.
    role = next(one for one in readme_objects() if one["kind"] == "ClusterRole")
    allow(plane, "apftop-reader", "User", "viewer", role["rules"])
    try:
        looks = [look(plane, *BOTH, user="viewer") for _ in range(2)]
        looks[1] += look(plane, Endpoint.REQUESTS, user="viewer")
        replica = between(looks[0], looks[1])
    finally:
        revoke(plane, "apftop-reader")
    level = replica.levels["global-default"]

    assert (replica.own.level, replica.own.schema) == ("global-default", "global-default")
    assert level.counts is not None
    assert level.counts.dispatched == 0
    assert (level.executing, level.seats_in_use) == (0, 0)
    assert replica.requests is not None
    assert [request.own for request in replica.requests if request.user == "viewer"] == [True]
    assert replica.flows == ()


def test_the_readmes_objects_are_accepted(plane: Plane) -> None:
    admin = plane.client()
    for one in readme_objects():
        admin.apply(one)
    for one in readme_objects():
        admin.remove(one)


def test_queues_behind_a_slow_webhook(plane: Plane) -> None:
    level = priority_level("load", shares=5, queues=16, hand_size=4, queue_length=20)
    schema = flow_schema("load", "load", groups=["loaders"], precedence=500)
    create_namespace(plane, "slow-report")
    allow_loaders(plane)
    creates = load.create_configmap("slow-report")
    elephant = load.ClosedLoop("elephant", creates, replica=1, concurrency=24, seconds=12)
    mice = [load.OpenLoop(f"mouse{i}", creates, replica=1, rate=1, seconds=12) for i in range(3)]
    try:
        apply_flow(plane, level, schema, "elephant")
        with (
            webhook_in_force(plane, "slow-report", exponential(0.25, 7)),
            load.running(plane, elephant, *mice),
        ):
            servers = [part for url in plane.urls for part in ("--server", url)]
            document, code, said = report(plane, *servers, "-d", "4")
    finally:
        remove_flow(plane, level, schema)
        revoke(plane, "plane-loaders")
        delete_namespace(plane, "slow-report")

    jsonschema.Draft202012Validator(json.loads(files("apftop.report").joinpath("schema.json").read_text())).validate(
        document
    )
    assert (code, said) == (0, "")
    hot = document["totals"]["hot"]
    assert plane.urls[1].endswith(hot)
    found = document["replicas"][hot]["levels"]["load"]
    assert found["state"] == "saturated"
    assert found["waiting"] > 0
    assert found["seats_in_use"] <= found["current"]
    assert found["utilization"]["gt_0.99"] > 0.9
    assert found["wait"]["executed"]["p50"]["low"] >= 0.2
    assert 0.1 < found["execution"]["mean_s"] < 2
    assert next(iter(found["by_user"]["waiting"])) == "elephant"
    assert found["by_kind"]["waiting"].keys() == {"create configmaps"}
    top = document["flows"][0]
    assert (top["distinguisher"], top["verb"], top["resource"]) == ("elephant", "create", "configmaps")
    rows = [row for row in document["requests"] if row["pl"] == "load" and row["distinguisher"] == "elephant"]
    assert rows
    assert {row["queue"] for row in rows} <= set(top["hand"])
    assert all(0 <= row["age_s"] < 15 for row in rows)
    quiet = [document["replicas"][name]["levels"]["load"] for name in document["replicas"] if name != hot]
    assert all(level["waiting"] == 0 and level["wait"] is not None for level in quiet)


def test_zero_seats_reject_serves_and_queue_blocks(plane: Plane, batch_level: str) -> None:
    """The case study's phases: what is served has waited for nothing, and what timed out is counted apart."""
    admin = plane.client()
    requests = load.OpenLoop("batch", load.get("/version?timeout=20s"), rate=3, seconds=PHASE_S)

    def in_force(nominal: int) -> None:
        name = "apiserver_flowcontrol_nominal_limit_seats"
        wait_on_replicas(
            plane, "limit", lambda _, client: (metric(client, name, priority_level=batch_level) == 0) == (nominal == 0)
        )

    start = look(plane, *BOTH)
    admin.apply(priority_level(batch_level, shares=0, reject=True))
    in_force(0)
    first = look(plane, *BOTH)
    rejecting = load.run(plane, requests)
    second = look(plane, *BOTH)
    leaking = between(first, second).levels[batch_level]

    admin.apply(priority_level(batch_level, shares=0, queues=1, hand_size=1, queue_length=2))
    third = look(plane, *BOTH)
    queueing = load.run(plane, requests)
    fourth = look(plane, *BOTH)
    blocked = between(third, fourth).levels[batch_level]

    assert [record.code for record in rejecting] == [200] * len(rejecting)
    assert leaking.state == "leaking"
    assert leaking.counts is not None
    assert (leaking.counts.dispatched, leaking.counts.rejected_total) == (len(rejecting), 0)
    assert leaking.waits is not None
    assert leaking.waits.p99 is not None
    assert leaking.waits.p99.high == 0.005

    late = [record for record in queueing if record.latency >= 4.5]
    assert {record.code for record in queueing} == {429}
    assert blocked.state == "blocked"
    assert blocked.counts is not None
    assert dict(blocked.counts.rejected) == {"queue-full": len(queueing) - len(late), "time-out": len(late)}
    assert blocked.waits is not None
    assert (blocked.waits.executed, blocked.waits.timed_out) == (0, len(late))
    assert blocked.waits.refused == len(queueing) - len(late)
    # The wait is measured from a little later than the limit runs, so that it ends on either side of 5 s.
    assert blocked.waits.time_outs_within_s in ((2.0, 5.0), (2.0, 10.0), (5.0, 10.0))
    assert blocked.waits.limit.seconds in (2.0, 5.0)
    assert blocked.waits.p99 is None

    # Over all phases together the served ones still waited for nothing, whatever a dashboard would say.
    whole = between(start, fourth).levels[batch_level]
    assert whole.waits is not None
    assert whole.waits.p50 is not None
    assert whole.waits.p50.high == 0.005
