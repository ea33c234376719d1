"""The JSON documents of a simulated control plane: discovery, configuration objects, leases, endpoints, version."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence

from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.demo.build import BUILD, RELEASE
from apftop.demo.objects import API_VERSION, GROUP, Json, level_json, schema_json, uid
from apftop.demo.plane import ControlPlane
from apftop.demo.server import Server

PLURALS = {"flowschemas": "FlowSchema", "prioritylevelconfigurations": "PriorityLevelConfiguration"}
RESOURCE_VERSION = "418207"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
CALLBACKS = {
    f"/apis/{version}/{plural}": (version, kind)
    for version, plural, kind in (
        (
            "admissionregistration.k8s.io/v1",
            "validatingwebhookconfigurations",
            "ValidatingWebhookConfiguration",
        ),
        ("admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
        ("apiregistration.k8s.io/v1", "apiservices", "APIService"),
    )
}
RENEWAL_NS = 10_000_000_000


def encoded(document: Json) -> bytes:
    """JSON as servers write it: without blanks, with a newline."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def version() -> Json:
    """/version: what the build info says, in its own spelling."""
    told = dict(BUILD)
    words = {
        "major": "major",
        "minor": "minor",
        "gitVersion": "git_version",
        "gitCommit": "git_commit",
        "gitTreeState": "git_tree_state",
        "buildDate": "build_date",
        "goVersion": "go_version",
        "compiler": "compiler",
        "platform": "platform",
    }
    return {word: told[label] for word, label in words.items()}


def group() -> Json:
    """The group of flow control, which has one version."""
    only = {"groupVersion": API_VERSION, "version": "v1"}
    return {"kind": "APIGroup", "apiVersion": "v1", "name": GROUP, "versions": [only], "preferredVersion": only}


def configuration(plane: ControlPlane, plural: str) -> list[Json]:
    """All objects of a kind, in the order of their names."""
    if plural == "flowschemas":
        built_in = builtin_schemas(RELEASE)
        return [schema_json(one, one.name in built_in) for one in sorted(plane.schemas, key=lambda one: one.name)]
    own = builtin_levels()
    return [level_json(one, one.name in own) for one in sorted(plane.levels, key=lambda one: one.name)]


def listed(kind: str, api_version: str, items: Sequence[Json]) -> Json:
    """A list of objects of one kind, whose own kind and version are left out in it."""
    bare = [{key: value for key, value in item.items() if key not in ("kind", "apiVersion")} for item in items]
    return {
        "kind": f"{kind}List",
        "apiVersion": api_version,
        "metadata": {"resourceVersion": RESOURCE_VERSION},
        "items": bare,
    }


def event(kind: str, thing: Json) -> bytes:
    """One event of a watch."""
    return encoded({"type": kind, "object": thing})


def bookmark(kind: str, ends_initial: bool = False) -> bytes:
    """A bookmark of a watch on objects of a kind; the first may say that all that there were have been sent."""
    metadata: Json = {"resourceVersion": RESOURCE_VERSION, "creationTimestamp": None}
    if ends_initial:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    return event("BOOKMARK", {"kind": kind, "apiVersion": API_VERSION, "metadata": metadata})


def leases(plane: ControlPlane, now: int) -> Json:
    """The leases by which the servers say that they live, renewed each 10 s."""
    items = [_lease(server, number, now) for number, server in enumerate(plane.servers, 1)]
    return listed("Lease", "coordination.k8s.io/v1", items)


def no_callbacks(path: str) -> Json:
    """A list of webhook configurations or APIServices: nothing in this cluster is called while requests are served."""
    version, kind = CALLBACKS[path]
    return listed(kind, version, [])


def endpoint_slices(plane: ControlPlane) -> Json:
    """The servers as endpoints of default/kubernetes: a slice for each, as each has a port of its own."""
    slices = [_slice(number, port) for number, port in enumerate(plane.ports, 1)]
    return listed("EndpointSlice", "discovery.k8s.io/v1", slices)


def _lease(server: Server, number: int, now: int) -> Json:
    host = f"control-plane-{number}"
    name = f"apiserver-{hashlib.sha256(host.encode()).hexdigest()[:26]}"
    renewed = server.started_ns + (now - server.started_ns) // RENEWAL_NS * RENEWAL_NS
    return {
        "metadata": {
            "name": name,
            "namespace": "kube-system",
            "uid": uid("Lease", name),
            "resourceVersion": RESOURCE_VERSION,
            "creationTimestamp": _time(server.started_ns) + "Z",
            "labels": {"apiserver.kubernetes.io/identity": "kube-apiserver", "kubernetes.io/hostname": host},
        },
        "spec": {
            "holderIdentity": f"{name}_{uid('Process', name)}",
            "leaseDurationSeconds": 3600,
            "renewTime": f"{_time(renewed)}.{renewed // 1000 % 1_000_000:06d}Z",
        },
    }


def _slice(number: int, port: int) -> Json:
    name = "kubernetes" if number == 1 else f"kubernetes-{number}"
    return {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": uid("EndpointSlice", name),
            "resourceVersion": RESOURCE_VERSION,
            "labels": {"kubernetes.io/service-name": "kubernetes"},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["127.0.0.1"], "conditions": {"ready": True}}],
        "ports": [{"name": "http", "port": port, "protocol": "TCP"}],
    }


def _time(nanoseconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(nanoseconds // 1_000_000_000))
