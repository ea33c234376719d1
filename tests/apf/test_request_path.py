"""What the path of a request says about its resource."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.apf.request_path import PathParts, path_parts


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("/api/v1/nodes", PathParts("", "", "v1", "nodes")),
        ("/api/v1/namespaces/a/pods/p/log", PathParts("a", "p", "v1", "pods", "log")),
        ("/apis/apps/v1/namespaces/a/deployments", PathParts("a", "", "apps/v1", "deployments")),
        ("/api/v1/namespaces/a", PathParts("a", "a", "v1", "namespaces")),
        ("/api/v1/namespaces/a/status", PathParts("a", "a", "v1", "namespaces", "status")),
        ("/api/v1/watch/namespaces/a/pods/p", PathParts("a", "p", "v1", "pods", verb="watch")),
        ("/api/v1/proxy/nodes/n/stats", PathParts("", "n", "v1", "nodes", verb="proxy")),
        ("/api/v1/nodes/n/proxy/stats/summary", PathParts("", "n", "v1", "nodes", "proxy")),
        # Blank parts count: servers take these for resources, as measured on 1.30 and 1.37.
        ("/api/v1//pods", PathParts("", "pods", "v1", "")),
        ("/api/v1/namespaces/a//pods", PathParts("a", "pods", "v1", "")),
        ("/api//v1/pods", PathParts("", "pods", "", "v1")),
        ("/apis//v1/pods", PathParts("", "", "/v1", "pods")),
        ("/api/////pods", PathParts()),
    ],
)
def test_resource_paths(path: str, parts: PathParts) -> None:
    assert path_parts(path) == replace(parts, resource_request=True)


@pytest.mark.parametrize(
    "path", ["", "/", "/version", "/api", "/api/v1", "/apis/apps/v1", "/openapi/v2/a/b", "/api/v1/watch"]
)
def test_other_paths_name_no_resource(path: str) -> None:
    assert path_parts(path) == PathParts()
