"""What the server makes of a request before it classifies it."""

from __future__ import annotations

import pytest

from apftop.apf.attributes import attributes, bypasses, selected_name


@pytest.mark.parametrize(
    ("method", "path", "query", "verb", "target", "namespace", "name"),
    [
        ("GET", "/api/v1/pods", "", "list", "pods", "", ""),
        ("GET", "/api/v1/pods", "watch=1", "watch", "pods", "", ""),
        ("GET", "/api/v1/pods", "watch=False", "list", "pods", "", ""),
        ("GET", "/api/v1/pods", "watch=", "watch", "pods", "", ""),
        ("HEAD", "/api/v1/namespaces/a/pods/p", "watch=true", "get", "pods", "a", "p"),
        ("GET", "/api/v1/namespaces/a/pods/p/log", "", "get", "pods/log", "a", "p"),
        ("GET", "/api/v1/pods", "fieldSelector=metadata.name%3Dp", "list", "pods", "", "p"),
        ("GET", "/api/v1/pods", "watch=1&fieldSelector=a%3Db,metadata.name%3D%3Dp", "watch", "pods", "", "p"),
        ("POST", "/apis/apps/v1/namespaces/a/deployments", "", "create", "deployments", "a", ""),
        ("PUT", "/api/v1/namespaces/a/status", "", "update", "namespaces/status", "a", "a"),
        ("PATCH", "/api/v1/nodes/n/status", "", "patch", "nodes/status", "", "n"),
        ("DELETE", "/api/v1/namespaces/a/pods", "", "deletecollection", "pods", "a", ""),
        ("DELETE", "/api/v1/namespaces/a/pods/p", "", "delete", "pods", "a", "p"),
        ("GET", "/api/v1/watch/pods", "", "watch", "pods", "", ""),
        ("GET", "/api/v1/proxy/nodes/n/stats", "", "proxy", "nodes", "", "n"),
        ("OPTIONS", "/api/v1/pods", "", "", "pods", "", ""),
        ("GET", "/api/v1/namespaces/a//pods", "", "get", "", "a", "pods"),
    ],
)
def test_requests_for_resources(
    method: str, path: str, query: str, verb: str, target: str, namespace: str, name: str
) -> None:
    found = attributes(method, path, query)

    assert found.resource_request
    assert (found.verb, found.target, found.namespace, found.name) == (verb, target, namespace, name)


def test_group_and_version_are_told_apart() -> None:
    assert (attributes("GET", "/api/v1/pods").api_group, attributes("GET", "/api/v1/pods").api_version) == ("", "v1")
    lease = attributes("GET", "/apis/coordination.k8s.io/v1/leases", user="u", groups=("g",))

    assert (lease.api_group, lease.api_version, lease.user, lease.groups) == ("coordination.k8s.io", "v1", "u", ("g",))


@pytest.mark.parametrize("path", ["/healthz", "/api/v1", "/apis/apps/v1", "/", "/openapi/v2"])
def test_other_paths_keep_the_method(path: str) -> None:
    found = attributes("GET", path)

    assert (found.resource_request, found.verb, found.path) == (False, "get", path)


@pytest.mark.parametrize(
    ("method", "path", "query", "unseen"),
    [
        ("GET", "/api/v1/namespaces/a/pods/p/log", "", True),
        ("POST", "/api/v1/namespaces/a/pods/p/exec", "", True),
        ("GET", "/api/v1/nodes/n/proxy/stats", "", True),
        ("GET", "/api/v1/proxy/nodes/n", "", True),
        ("GET", "/debug/pprof/heap", "", True),
        ("GET", "/debug/pprof", "", False),
        ("GET", "/api/v1/pods", "watch=1", False),
        ("GET", "/api/v1/watch/namespaces/a/pods/p/log", "", False),
        ("GET", "/api/v1/pods", "", False),
    ],
)
def test_long_running_requests_but_watches_bypass_flow_control(
    method: str, path: str, query: str, unseen: bool
) -> None:
    assert bypasses(attributes(method, path, query)) == unseen


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        ("", ""),
        ("metadata.name=a", "a"),
        ("spec.nodeName=n,metadata.name==a", "a"),
        ("metadata.name!=a", ""),
        ("metadata.name=a/b", ""),
        ("metadata.name=..", ""),
        ("metadata.name", ""),
    ],
)
def test_names_in_field_selectors(selector: str, name: str) -> None:
    assert selected_name(selector) == name


def test_options_that_cannot_be_read_leave_the_name_out() -> None:
    found = attributes("GET", "/api/v1/pods", "watch=1&limit=x&fieldSelector=metadata.name%3Dp")

    assert (found.verb, found.name) == ("watch", "")
