"""Probes: which GET is sent for a request, as whom, and what is made of the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apftop.access import Access
from apftop.apf.attributes import Attributes, attributes
from apftop.apf.identity import added_groups
from apftop.errors import Trouble
from apftop.probe import groups_to_ask_for, harmless, probed
from apftop.records.probed import Said, Unasked
from apftop.records.raw import FLOW_SCHEMA_UID, LEVEL_UID
from tests.reach.credentials import SECRET, Write, from_kubeconfig
from tests.reach.server import Reply, Server

GROUP = "/apis/flowcontrol.apiserver.k8s.io"
WATCH = "?watch=1&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3Dnone"
UIDS = ((FLOW_SCHEMA_UID, "uid-s"), (LEVEL_UID, "uid-l"))


def for_resource(verb: str, resource: str, namespace: str = "", name: str = "", group: str = "") -> Attributes:
    """A request as flags name it, without its path."""
    bare, _, part = resource.partition("/")
    its = {"namespace": namespace, "resource": bare, "subresource": part, "name": name, "api_group": group}
    return Attributes("jane", (), verb, "", resource_request=True, **its)


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        (attributes("GET", "/version"), "/version"),
        (attributes("GET", "/a b?c#d%"), "/a%20b%3Fc%23d%25"),
        (attributes("GET", "/api/v1/pods"), "/api/v1/pods?limit=1"),
        (attributes("HEAD", "/api/v1/pods"), "/api/v1/pods?limit=1"),
        (attributes("GET", "/api/v1/namespaces/a/pods/p/status"), "/api/v1/namespaces/a/pods/p/status"),
        (attributes("GET", "/api/v1/pods", "watch=1"), f"/api/v1/pods{WATCH}"),
        (attributes("GET", "/api/v1/watch/pods"), f"/api/v1/watch/pods{WATCH}"),
        (for_resource("list", "pods", "a", name="p"), "/api/v1/namespaces/a/pods?limit=1"),
        (
            for_resource("get", "deployments/scale", "a", group="apps"),
            "/apis/apps/v1/namespaces/a/deployments/none/scale",
        ),
        (for_resource("get", "nodes", name="n"), "/api/v1/nodes/n"),
        (for_resource("watch", "leases", "a", group="g"), f"/apis/g/v1/namespaces/a/leases{WATCH}"),
        (for_resource("get", "namespaces", "a", name="a"), "/api/v1/namespaces/a"),
    ],
)
def test_a_get_that_servers_take_for_the_same_kind_of_request(request_: Attributes, path: str) -> None:
    assert harmless(request_) == path


@pytest.mark.parametrize(
    "request_",
    [
        attributes("POST", "/api/v1/namespaces/a/pods"),
        attributes("DELETE", "/api/v1/nodes/n"),
        attributes("HEAD", "/healthz"),
        attributes("OPTIONS", "/api/v1/pods"),
        # Its host would be another one.
        attributes("GET", ".example.com/version"),
        attributes("GET", "@example.com/version"),
        # No path makes a list or a watch of these.
        for_resource("list", "pods/status", "a"),
        for_resource("watch", "pods/status", "a"),
        # Their own name is their namespace.
        for_resource("get", "namespaces", name="a"),
        for_resource("get", "pods", "a", name="b/c"),
        for_resource("get", "pods", "a/b"),
        for_resource("proxy", "nodes", name="n"),
    ],
)
def test_no_get_is_the_same_kind_of_request(request_: Attributes) -> None:
    assert harmless(request_) is None


ACCOUNT = "system:serviceaccount:shop:web"
OF_ACCOUNT = added_groups(ACCOUNT)


@pytest.mark.parametrize(
    ("user", "groups", "given"),
    [
        ("jane", ("system:authenticated",), ()),
        ("jane", ("team", "system:authenticated"), ("team",)),
        ("jane", ("system:unauthenticated",), ("system:unauthenticated",)),
        ("system:anonymous", ("system:unauthenticated",), ()),
        ("system:anonymous", ("system:authenticated",), None),
        (ACCOUNT, OF_ACCOUNT, ()),
        (ACCOUNT, ("team", *OF_ACCOUNT), ("team", *OF_ACCOUNT[:2])),
        (ACCOUNT, ("system:authenticated",), ("system:authenticated",)),
        ("system:node:n", ("system:nodes", "system:authenticated"), ("system:nodes",)),
        ("system:node:n", ("system:authenticated",), ("system:authenticated",)),
        # Servers add a group to everybody.
        ("jane", (), None),
        ("jane", ("team",), None),
        # No header carries these.
        ("jane ", ("system:authenticated",), None),
        ("ja\nne", ("system:authenticated",), None),
        ("", ("system:authenticated",), None),
    ],
)
def test_no_more_groups_are_asked_for_than_it_takes(
    user: str, groups: tuple[str, ...], given: tuple[str, ...] | None
) -> None:
    assert groups_to_ask_for(user, groups) == given


@pytest.fixture
def with_objects(server: Server) -> Server:
    """A server that has one schema and one level."""
    version: dict[str, Any] = {"groupVersion": f"{GROUP[6:]}/v1", "version": "v1"}
    group = {"kind": "APIGroup", "versions": [version], "preferredVersion": version}
    server.replies[GROUP] = Reply(body=json.dumps(group).encode())
    for plural, kind, uid, spec in (
        ("flowschemas", "FlowSchema", "uid-s", {"priorityLevelConfiguration": {"name": "batch"}}),
        ("prioritylevelconfigurations", "PriorityLevelConfiguration", "uid-l", {"type": "Exempt"}),
    ):
        item = {"metadata": {"name": f"batch-{uid[-1]}", "uid": uid}, "spec": spec}
        made = {"apiVersion": f"{GROUP[6:]}/v1", "kind": f"{kind}List", "items": [item]}
        server.replies[f"{GROUP}/v1/{plural}"] = Reply(body=json.dumps(made).encode())
    return server


PODS = attributes("GET", "/api/v1/pods", "", ACCOUNT, ("team", *OF_ACCOUNT))


def test_headers_are_told_by_name_whatever_the_status(with_objects: Server, access: Access) -> None:
    with_objects.replies["/api/v1/pods"] = Reply(403, headers=UIDS)

    assert probed([PODS], access) == [Said(access.name, 403, "batch-s", "batch-l")]


def test_somebody_else_asks_also_where_the_kubeconfig_acts_as_a_third(with_objects: Server, write: Write) -> None:
    with_objects.replies["/api/v1/pods"] = Reply(headers=UIDS)
    acting = {"as": "third", "as-uid": "3", "as-groups": ["thirds"], "as-user-extra": {"k": ["v"]}}
    probed([PODS], from_kubeconfig(write({"token": SECRET, **acting})))
    asked = with_objects.seen[-1]

    assert (asked.method, asked.path, asked.query) == ("GET", "/api/v1/pods", {"limit": ["1"]})
    assert asked.headers["authorization"] == [f"Bearer {SECRET}"]
    assert {key: value for key, value in asked.headers.items() if key.startswith("impersonate-")} == {
        "impersonate-user": [ACCOUNT],
        "impersonate-group": ["team", *OF_ACCOUNT[:2]],
    }


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (attributes("GET", "/api/v1/namespaces/a/pods/p/log"), "flow control does not see it"),
        (attributes("DELETE", "/api/v1/namespaces/a/pods/p"), "no harmless GET"),
        (attributes("GET", "/version", "", "jane", ()), "exactly these groups"),
    ],
)
def test_what_cannot_be_probed_is_not_sent(
    with_objects: Server, access: Access, request_: Attributes, words: str
) -> None:
    (heard,) = probed([request_], access)

    assert isinstance(heard, Unasked)
    assert words in heard.why
    assert {one.path for one in with_objects.seen} == {path for path in with_objects.replies if path.startswith(GROUP)}


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(403, b'{"message": "viewer cannot impersonate users"}'), "viewer cannot impersonate users"),
        (Reply(403, b"no"), "the verb impersonate is needed"),
        (Reply(200), "does not tell its flow schema (status 200)"),
        (Reply(headers=((FLOW_SCHEMA_UID, "other"), (LEVEL_UID, "uid-l"))), "not among those"),
        (Reply(headers=((FLOW_SCHEMA_UID, ""), (LEVEL_UID, ""))), "not among those"),
        (Reply(how="close"), "the probe was not answered"),
    ],
)
def test_a_server_that_does_not_say_makes_one_clear_line(
    with_objects: Server, access: Access, reply: Reply, words: str
) -> None:
    with_objects.replies["/api/v1/pods"] = reply
    with pytest.raises(Trouble) as caught:
        probed([PODS], access)

    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert f"127.0.0.1:{with_objects.port}" in str(caught.value)


@pytest.mark.parametrize(("reply", "why"), [(Reply(403), "status 403"), (Reply(body=b"42"), "")])
def test_names_that_cannot_be_read_are_said(with_objects: Server, access: Access, reply: Reply, why: str) -> None:
    with_objects.replies[f"{GROUP}/v1/flowschemas"] = reply
    with pytest.raises(Trouble, match=f"the flowschemas cannot be read, so the probe cannot tell names: {why}"):
        probed([PODS], access)
