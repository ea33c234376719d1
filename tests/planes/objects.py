"""Namespaces and rights in a control plane, and waits until every replica has taken a change over."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal

from tests.planes.client import ApiError, Client, Json
from tests.planes.plane import Plane
from tests.planes.users import LOADERS

RBAC = "rbac.authorization.k8s.io"
WAIT_SECONDS = 30.0
POLL_SECONDS = 0.1


def wait_on_replicas(
    plane: Plane, what: str, holds: Callable[[int, Client], bool], seconds: float = WAIT_SECONDS
) -> None:
    """Polls every running replica until `holds(its number, its admin's client)`."""
    for replica, pid in enumerate(plane.pids):
        if pid is None:
            continue
        client, deadline = plane.client(replica=replica), time.monotonic() + seconds
        while not holds(replica, client):
            if time.monotonic() > deadline:
                raise ApiError(f"not so on replica {replica} after {seconds:.0f} s: {what}")
            time.sleep(POLL_SECONDS)


def create_namespace(plane: Plane, name: str) -> None:
    """Creates a namespace if needed and waits until every replica admits objects into it."""
    plane.client().apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    probe: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "probe-"}}
    path = f"/api/v1/namespaces/{name}/configmaps?dryRun=All"
    wait_on_replicas(plane, f"namespace {name}", lambda _, client: client.post(path, probe).status == 201)


def delete_namespace(plane: Plane, name: str) -> None:
    """Deletes a namespace with its config maps; it is finalized here, for want of a controller-manager."""
    client, path = plane.client(), f"/api/v1/namespaces/{name}"
    client.delete(f"{path}/configmaps").expect(200, 404)
    client.delete(path).expect(200, 202, 404, 409)
    answer = client.get(path).expect(200, 404)
    if answer.status == 200:
        client.put(f"{path}/finalize", {**answer.json(), "spec": {"finalizers": []}}).expect(200, 404, 409)


def allow_loaders(plane: Plane, name: str = "plane-loaders") -> None:
    """Lets the group of the loaders work with config maps in every namespace."""
    verbs = ["create", "get", "list", "watch", "update", "patch", "delete", "deletecollection"]
    allow(plane, name, "Group", LOADERS, [{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}])


def allow(plane: Plane, name: str, kind: Literal["User", "Group"], subject: str, rules: Sequence[Json]) -> None:
    """Binds a ClusterRole with those rules to a user or a group, and waits until every replica grants them."""
    client, version = plane.client(), f"{RBAC}/v1"
    client.apply({"apiVersion": version, "kind": "ClusterRole", "metadata": {"name": name}, "rules": list(rules)})
    client.apply(
        {
            "apiVersion": version,
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": kind, "apiGroup": RBAC, "name": subject}],
        }
    )
    who: Json = {"user": subject} if kind == "User" else {"user": "any", "groups": [subject]}
    reviews: list[Json] = [
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {**who, **_attributes(rule)},
        }
        for rule in rules
    ]
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

    def granted(_: int, client: Client) -> bool:
        return all(client.post(path, review).expect(201).json()["status"]["allowed"] for review in reviews)

    wait_on_replicas(plane, f"role {name}", granted)


def revoke(plane: Plane, name: str) -> None:
    """Removes a ClusterRole and its binding."""
    for kind in ("ClusterRoleBinding", "ClusterRole"):
        plane.client().remove({"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": {"name": name}})


def _attributes(rule: Json) -> Json:
    verb = rule["verbs"][0]
    if "nonResourceURLs" in rule:
        return {"nonResourceAttributes": {"verb": verb, "path": rule["nonResourceURLs"][0].replace("*", "any")}}
    resource, _, part = rule["resources"][0].partition("/")
    wanted = {"verb": verb, "group": rule["apiGroups"][0], "resource": resource, "subresource": part}
    if names := rule.get("resourceNames"):
        wanted["name"] = names[0]
    return {"resourceAttributes": wanted}
