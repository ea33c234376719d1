"""Random requests of random users that change nothing: without bodies, as dry runs, about names that do not exist."""

from __future__ import annotations

import random

from tests.planes.impersonated import Sent

NONE = "none"
"""No object has this name."""

Identity = tuple[str, tuple[str, ...]]

IDENTITIES: tuple[Identity, ...] = (
    ("alice", ()),
    ("alice", ("team-a",)),
    ("bob", ("team-b", "team-a")),
    ("bob", ("system:authenticated", "team-b")),
    ("carol", ("system:unauthenticated",)),
    ("carol", ("system:masters",)),
    ("jörg", ("team-b",)),
    ("system:anonymous", ()),
    ("system:anonymous", ("system:unauthenticated",)),
    ("system:anonymous", ("system:authenticated", "team-a")),
    ("system:kube-scheduler", ()),
    ("system:kube-controller-manager", ()),
    ("system:node:node-1", ("system:nodes",)),
    ("system:node:node-2", ("system:nodes", "team-a")),
    ("system:node:node-2", ("system:authenticated",)),
    ("system:serviceaccount:shop:web", ()),
    ("system:serviceaccount:shop:worker", ()),
    ("system:serviceaccount:ops:web", ("system:serviceaccounts", "system:serviceaccounts:ops")),
    ("system:serviceaccount:ops:web", ("team-a",)),
    ("system:serviceaccount:shopping:web", ()),
    ("system:serviceaccount:kube-system:coredns", ()),
    ("system:serviceaccount:shop", ()),
    ("system:serviceaccount:shop:", ()),
    ("system:serviceaccount:shop:web:more", ()),
)
"""Who asks: user and groups as they are given; servers add others.

No node without its group: 1.37.2 adds it to some requests of such a one and not to others.
"""

NAMESPACED = {
    "": ("pods", "configmaps", "services", "none"),
    "apps": ("deployments",),
    "coordination.k8s.io": ("leases",),
    "rbac.authorization.k8s.io": ("roles",),
    "none.example.com": ("widgets",),
}
CLUSTER = {
    "": ("nodes", "namespaces"),
    "rbac.authorization.k8s.io": ("clusterroles",),
    "none.example.com": ("widgets",),
}
PARTS = {"pods": ("status", "log", "exec", "proxy"), "nodes": ("status", "proxy"), "deployments": ("scale", "status")}
NAMESPACES = ("shop", "ops", "default", "kube-system")
QUERIES = (
    "",
    "limit=1",
    "watch=false",
    "watch=0&resourceVersion=0",
    "fieldSelector=metadata.name%3Dnone",
    "limit=x&fieldSelector=metadata.name%3Dnone",
    "watch=1;x=2",
    "watch=%ZZ",
)
WATCHES = ("watch=1", "watch=true", "watch=", "watch=True&fieldSelector=metadata.name%3D%3Dnone", "watch=1&limit=x")
NO_KIND = ("/api/v1/watch", "/api/v1/proxy")
"""Servers cannot say what these ask for, and fail."""
ODD = (
    "/api/v1/watch/configmaps",
    "/api/v1/watch/namespaces/shop/pods/none",
    "/api/v1/watch/namespaces",
    "/apis/apps/v1/watch/namespaces/ops/deployments",
    "/api/v1/proxy/nodes/none",
    "/api/v1/namespaces/shop",
    "/api/v1/namespaces/shop/status",
    "/api/v1/namespaces/ops/finalize",
    "/api/v1/namespaces/ops/pods/",
    "/api/v1/namespaces/ops//pods",
    "/api/v1//pods",
    "/api//v1/pods",
    "//api/v1/pods",
    "/apis//v1/pods",
    "/apis/apps/v1/namespaces/shop",
    "/apis/apps/v1/namespaces/shop/status",
    "/apis/apps//deployments",
    "/api/v1/namespaces/shop/pods/a%2Fb",
    "/api/v1/namespaces/sh%6Fp/configmaps",
    "/api/v1/pods/none/status/more/parts",
    *NO_KIND,
    "/api/v1/namespaces//pods",
    "/API/v1/pods",
)
OTHER = (
    "/",
    "/api",
    "/api/",
    "/api/v1",
    "/apis",
    "/apis/",
    "/apis/apps",
    "/apis/apps/v1",
    "/apis/apps/v1/",
    "/apis/none.example.com/v1",
    "/healthz",
    "/healthz/",
    "/healthz/ping",
    "/healthzfoo",
    "/healthz%2Fping",
    "/livez",
    "/readyz/ping",
    "/version",
    "/version/",
    "/versions",
    "/openapi/v3",
    "/openapi/v2/none",
    "/nowhere",
    "/nowhere/near",
    "/.well-known/openid-configuration",
    "/openid/v1/jwks",
    "/logs",
)


def random_requests(seed: int, count: int) -> list[Sent]:
    """So many requests, of every kind."""
    rng = random.Random(seed)
    return [Sent(*_what(rng), *rng.choice(IDENTITIES)) for _ in range(count)]


def _what(rng: random.Random) -> tuple[str, str, str]:
    kind = rng.random()
    if kind < 0.2:
        method = rng.choice(("GET", "GET", "GET", "HEAD", "POST", "OPTIONS"))
        return method, rng.choice(OTHER), ""
    if kind < 0.35:
        return rng.choice(("GET", "GET", "HEAD", "DELETE")), rng.choice(ODD), "timeoutSeconds=1&dryRun=All"
    method = rng.choice(("GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"))
    path, named = _resource(rng, method)
    if method not in ("GET", "HEAD"):
        return method, path, "dryRun=All"
    if not named and rng.random() < 0.3:
        return method, path, f"{rng.choice(WATCHES)}&timeoutSeconds=1"
    return method, path, rng.choice(QUERIES)


def _resource(rng: random.Random, method: str) -> tuple[str, bool]:
    """The path of a request for a resource, and whether it has a name."""
    known = NAMESPACED if rng.random() < 0.65 else CLUSTER
    group = rng.choice(tuple(known))
    resource = rng.choice(known[group])
    scope = f"/namespaces/{rng.choice(NAMESPACES)}" if known is NAMESPACED and rng.random() < 0.7 else ""
    path = f"{f'/apis/{group}/v1' if group else '/api/v1'}{scope}/{resource}"
    if method == "POST" or rng.random() < 0.5:
        return path, False
    part = f"/{rng.choice(PARTS[resource])}" if resource in PARTS and rng.random() < 0.5 else ""
    return f"{path}/{NONE}{part}", True
