"""`apftop classify --probe` on real servers: who is asked as whom, and what is said where the model does not agree."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.planes.client import Json
from tests.planes.flow import VERSION, flow_schema
from tests.planes.objects import allow, revoke
from tests.planes.plane import Plane

READ: Json = {
    "apiGroups": ["flowcontrol.apiserver.k8s.io"],
    "resources": ["flowschemas", "prioritylevelconfigurations"],
    "verbs": ["list", "get"],
}
METRICS: Json = {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
LIST_PODS = ("--verb", "list", "--resource", "pods")


def classify(plane: Plane, *arguments: str, user: str = "admin") -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, that asks all replicas by name."""
    named = [part for url in plane.urls for part in ("--server", url)]
    line = [sys.executable, "-m", "apftop", "classify", "--kubeconfig", str(plane.kubeconfig(user)), *named]
    return subprocess.run([*line, "--probe", *arguments], capture_output=True, text=True, timeout=120, check=False)


def first_server(plane: Plane) -> str:
    return plane.urls[0].removeprefix("https://")


def one_line(text: str) -> str:
    """Text without the breaks of lines."""
    return " ".join(text.split())


REQUESTS: Sequence[Json] = (
    {"id": "account", "user": "system:serviceaccount:kube-system:coredns", "verb": "list", "path": "/api/v1/services"},
    {
        "id": "groups",
        "user": "jane",
        "groups": ["team", "system:authenticated"],
        "verb": "get",
        "path": "/api/v1/nodes/n",
    },
    {"id": "anonymous", "user": "system:anonymous", "verb": "get", "path": "/healthz"},
    {"id": "watch", "user": "jane", "verb": "get", "path": "/api/v1/namespaces/shop/pods?watch=1"},
    {"id": "url", "user": "jane", "verb": "get", "path": "/apis/none%20such/v1?a=b#c"},
    {"id": "head", "user": "jane", "verb": "head", "path": "/api/v1/pods"},
    {
        "id": "node",
        "user": "system:node:node-1",
        "groups": ["system:nodes", "system:authenticated"],
        "verb": "update",
        "path": "/api/v1/nodes/node-1",
    },
    {"id": "head of a URL", "user": "jane", "verb": "head", "path": "/version"},
    {"id": "log", "user": "jane", "verb": "get", "path": "/api/v1/namespaces/shop/pods/none/log"},
    {"id": "no group", "user": "jane", "groups": [], "verb": "get", "path": "/version"},
)
UNASKED = {
    "node": "no harmless GET is classified as this is",
    "head of a URL": "no harmless GET is classified as this is",
    "log": "flow control does not see it, so no server would say",
    "no group": "nobody can be impersonated with this name and exactly these groups",
}


def test_what_the_first_server_says_is_what_the_model_says(plane: Plane, tmp_path: Path) -> None:
    file = tmp_path / "requests.json"
    file.write_text(json.dumps(REQUESTS))
    done = classify(plane, "--requests", str(file), "-o", "json")
    heard: dict[str, Any] = {one["name"]: one["probed"] for one in json.loads(done.stdout)["requests"]}

    assert (done.returncode, done.stderr) == (0, "")
    assert {name: its["why_not"] for name, its in heard.items() if its["why_not"]} == UNASKED
    assert {its["server"] for name, its in heard.items() if name not in UNASKED} == {first_server(plane)}
    assert {its["agrees"] for name, its in heard.items() if name not in UNASKED} == {True}
    assert heard["account"]["flow_schema"] == "kube-system-service-accounts"
    assert (heard["anonymous"]["flow_schema"], heard["anonymous"]["status"]) == ("probes", 200)
    assert {its["flow_schema"] for name, its in heard.items() if name in ("groups", "watch", "url", "head")} == {
        "global-default"
    }


@pytest.mark.parametrize(
    ("arguments", "schema"),
    [
        (("--as", "shop/web", *LIST_PODS), "service-accounts -> workload-low"),
        (("--user", "jane", "--group", "system:masters", "--path", "/api/v1"), "exempt -> exempt"),
        (("--user", "system:node:node-1", "--verb", "get", "--resource", "nodes"), "system-node-high -> node-high"),
        (("--path", "/version"), "global-default -> global-default"),
    ],
)
def test_whoever_is_named_by_flags_is_probed(plane: Plane, arguments: tuple[str, ...], schema: str) -> None:
    done = classify(plane, *arguments)

    assert (done.returncode, done.stderr) == (0, "")
    assert f"the server {first_server(plane)} says: {schema} (status " in one_line(done.stdout)
    assert "NOT" not in done.stdout


def test_objects_that_are_not_those_of_the_server_are_told_by_name(plane: Plane, tmp_path: Path) -> None:
    api = f"/apis/{VERSION}"
    items = [
        {**one, "apiVersion": VERSION, "kind": kind}
        for kind, plural in (
            ("FlowSchema", "flowschemas"),
            ("PriorityLevelConfiguration", "prioritylevelconfigurations"),
        )
        for one in plane.client().get(f"{api}/{plural}").expect(200).json()["items"]
    ]
    old = tmp_path / "old.json"
    old.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    same = classify(plane, "--objects", str(old), "--user", "jane", *LIST_PODS)
    items.append(flow_schema("of-yore", "workload-low", users=["jane"]))
    old.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    other = classify(plane, "--objects", str(old), "--user", "jane", *LIST_PODS)

    assert (same.returncode, same.stderr) == (0, "")
    assert other.returncode == 1
    assert "of-yore" in other.stdout
    said = f"the server {first_server(plane)} says: global-default -> global-default (status 403)"
    assert f"{said}, NOT what the model makes of these objects" in one_line(other.stdout)


def test_who_may_not_impersonate_is_told_so_in_one_line(plane: Plane) -> None:
    allow(plane, "apftop-reads", "User", "viewer", [READ, METRICS])
    try:
        done = classify(plane, "--user", "jane", *LIST_PODS, user="viewer")
    finally:
        revoke(plane, "apftop-reads")

    assert done.returncode == 3
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    # 1.37 has a second way to allow it, and names the right that lacks for the one or the other.
    assert 'User "viewer" cannot impersonate' in line
    assert first_server(plane) in line
    assert "the verb impersonate is needed" in line


def test_groups_that_servers_add_take_no_right_of_their_own(plane: Plane) -> None:
    may: Json = {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["impersonate"]}
    allow(plane, "apftop-acts", "User", "viewer", [READ, METRICS, may])
    try:
        account = classify(plane, "--as", "shop/web", *LIST_PODS, user="viewer")
        somebody = classify(plane, "--user", "jane", "--group", "team", *LIST_PODS, user="viewer")
    finally:
        revoke(plane, "apftop-acts")

    assert (account.returncode, account.stderr) == (0, "")
    assert somebody.returncode == 3
    assert "cannot impersonate" in somebody.stderr
