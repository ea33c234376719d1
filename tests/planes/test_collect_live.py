"""`apftop collect` and `apftop doctor` on real servers: what is saved is what was seen, what is told is enough."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from apftop.collect.layout import About
from apftop.collect.writer import write_bundle
from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.raw import Endpoint
from apftop.report.looking import first_look, servers
from tests.collect.saved import read
from tests.planes import load
from tests.planes.flow import apply_flow, flow_schema, priority_level, remove_flow
from tests.planes.objects import wait_on_replicas
from tests.planes.plane import Plane

TRIES = 5
"""A machine that is busy for a moment makes the link slow for a moment, and then a dump is rightly left out."""

ENDPOINTS = {"metrics", "dump_priority_levels", "dump_queues", "dump_requests", "flowschemas", "prioritylevels"}
OF_ONE = {"webhooks_validating", "webhooks_mutating", "webhooks_apiservices"}
"""What one server is asked for, since it is the same on all."""


def apftop(plane: Plane, command: str, *arguments: str, user: str = "admin") -> subprocess.CompletedProcess[str]:
    """A command as a process of its own, that asks all replicas by name."""
    named = [part for url in plane.urls for part in ("--server", url)]
    line = [sys.executable, "-m", "apftop", command, "--kubeconfig", str(plane.kubeconfig(user)), *named, *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


def options(plane: Plane) -> dict[str, Any]:
    unset = ("context", "ca_file", "token_file", "client_cert", "client_key", "tls_server_name")
    given = {"servers": plane.urls, "kubeconfig": str(plane.kubeconfig()), "insecure_skip_tls_verify": False}
    return {**dict.fromkeys(unset), **given}


@pytest.mark.parametrize("name", ["saved", "saved.tgz"])
def test_the_frame_of_a_saved_look_is_that_of_the_look(plane: Plane, name: str, tmp_path: Path) -> None:
    level = priority_level("batch", shares=5, queues=4, hand_size=2, queue_length=8)
    schema = flow_schema("batch", "batch", users=["batch"])
    apply_flow(plane, level, schema, "batch")
    try:
        with load.running(plane, load.ClosedLoop("batch", load.get("/version"), concurrency=3, seconds=3)):
            samples, _ = first_look(servers(options(plane)), 1.0)
    finally:
        remove_flow(plane, level, schema)
    found = read(write_bundle(samples, tmp_path / name, About("test")))
    before, after = frame(fold(samples)), frame(fold(found.samples))

    assert found.problems == ()
    assert list(found.samples) == samples
    assert before == after
    assert len(after.replicas) == 3
    assert after.servers_alive == 3
    assert any((replica.levels["batch"].dispatched_per_s or 0) > 0 for replica in after.replicas.values())
    # What lies behind the queues is in the metrics of a look; mixed webhooks are a file only, facts are of redaction.
    assert {sample.endpoint for sample in samples} == set(Endpoint) - {
        Endpoint.BACKEND,
        Endpoint.WEBHOOKS,
        Endpoint.FACTS,
    }


def test_a_collected_bundle_reports_like_the_servers_themselves(plane: Plane, tmp_path: Path) -> None:
    for number in range(TRIES):
        bundle = str(tmp_path / f"saved-{number}.tgz")
        collected = apftop(plane, "collect", "-o", bundle, "-d", "1")
        if "left out of the first look" not in collected.stderr:
            break
    line = [sys.executable, "-m", "apftop", "report", bundle, "-o", "json"]
    reported = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    saved, live = json.loads(reported.stdout), json.loads(apftop(plane, "report", "-d", "1", "-o", "json").stdout)

    assert (collected.returncode, collected.stderr) == (0, "")
    assert collected.stdout.count(": whole\n") == 3
    assert (reported.returncode, reported.stderr) == (0, "")
    assert saved["replicas"].keys() == live["replicas"].keys()
    for name, replica in saved["replicas"].items():
        other = live["replicas"][name]
        assert replica["endpoints"] == other["endpoints"]
        assert replica["own"]["priority_level"] == other["own"]["priority_level"] == "exempt"
        assert replica["nominal_sum"] == other["nominal_sum"]
        assert [replica["levels"][level]["nominal"] for level in replica["levels"]] == [
            other["levels"][level]["nominal"] for level in other["levels"]
        ]


def test_the_doctor_finds_an_admin_well(plane: Plane) -> None:
    text, done = apftop(plane, "doctor"), apftop(plane, "doctor", "-o", "json")
    document = json.loads(done.stdout)

    assert (text.returncode, done.returncode, text.stderr) == (0, 0, "")
    assert max(map(len, text.stdout.splitlines())) <= 80
    assert document["alive_by_leases"] == 3
    assert len(document["replicas"]) == 3
    asked = [replica["endpoints"].keys() & OF_ONE for replica in document["replicas"].values()]
    assert sorted(asked, key=len) == [set(), set(), OF_ONE]
    for replica in document["replicas"].values():
        assert replica["version"].startswith(f"v{plane.version}")
        assert replica["user"] == "admin"
        assert replica["own"]["priority_level"] == "exempt"
        assert replica["endpoints"].keys() - OF_ONE == ENDPOINTS
        assert {answer["status"] for answer in replica["endpoints"].values()} == {200}
        assert replica["endpoints"]["metrics"]["format"] == "protobuf"
        assert replica["endpoints"]["metrics"]["name_honoured"] is plane.version.startswith("1.37")
        assert abs(replica["clock"]["skew_s"]) < 1
        assert 0 < replica["polling"]["cost_share_estimated"] < 0.02
        assert len(replica["tls"]["certificate_sha256"]) == 64


def test_a_url_alone_leads_to_one_of_three(plane: Plane) -> None:
    line = [sys.executable, "-m", "apftop", "doctor", "--kubeconfig", str(plane.kubeconfig())]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 3
    assert "1 of 3 that are alive by their leases" in " ".join(done.stdout.split())


def test_what_the_doctor_says_is_missing_is_enough(plane: Plane) -> None:
    before = apftop(plane, "doctor", "-o", "json", user="nobody")
    document = json.loads(before.stdout)
    objects = list(yaml.safe_load_all(document["grant"]))
    admin = plane.client()
    for one in objects:
        admin.apply(one)
    try:
        path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
        wait_on_replicas(
            plane,
            "rights of nobody",
            lambda replica, _: all(
                plane.client("nobody", replica).get(asked).status == 200 for asked in ("/metrics", path)
            ),
        )
        after = apftop(plane, "doctor", user="nobody")
    finally:
        for one in objects:
            admin.remove(one)

    assert before.returncode == 3
    assert document["missing"] == [
        "the dumps",
        "/metrics",
        "the APF objects",
        "the webhooks",
        "the APIServices",
        "the leases",
    ]
    assert {replica["user"] for replica in document["replicas"].values()} == {"nobody"}
    assert all(replica["version"].startswith(f"v{plane.version}") for replica in document["replicas"].values())
    assert after.returncode == 0, after.stdout
    assert after.stdout.endswith("\nall that was asked could be read\n")
    assert "schema global-default, level global-default" in " ".join(after.stdout.split())
