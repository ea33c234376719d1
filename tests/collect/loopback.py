"""A small control plane on loopback: servers that answer all that this tool asks, and the command line against it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from apftop.cli import cli
from apftop.records.raw import FLOW_SCHEMA_UID, LEVEL_UID
from tests.collect.saved import APISERVICES, CONFIGS, DUMP, NO_WEBHOOKS, SCHEMAS, TEXT, WEBHOOKS
from tests.derive.build import dispatched, exposition, histogram, table
from tests.reach.credentials import config
from tests.reach.server import Ca, Reply, Server

DUMPS = "/debug/api_priority_and_fairness/"
GROUP = "/apis/flowcontrol.apiserver.k8s.io"
VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
MUTATING = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
AGGREGATED = "/apis/apiregistration.k8s.io/v1/apiservices"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
REQUESTS = ("PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime")
COSTS = ("InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime")
DETAILS = ("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")


def now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def requests_of(user: str) -> bytes:
    """A dump of requests in which only its own reader is."""
    reader = ("load", "load", -1, -1, user, now(), 1, 0, "0s", now(), user, "get", f"{DUMPS}dump_requests")
    return table((*REQUESTS, *COSTS, *DETAILS), (*reader, "", "", "", "", ""))


def metrics(*lines: str, release: str = "v1.30.4") -> bytes:
    waits = histogram("request_wait_duration_seconds", [0.1], flow_schema="load", priority_level="load", execute="true")
    return exposition(dispatched(5), *waits, *lines, release=release)


def answers(
    user: str = "alice", alive: int = 1, slices: Sequence[Server] = (), release: str = "v1.30.4"
) -> dict[str, Reply]:
    """Everything that a server answers to somebody who may read it all."""
    text = [("Content-Type", "text/plain; charset=utf-8"), (FLOW_SCHEMA_UID, "fs-load"), (LEVEL_UID, "uid-load")]
    measured = [("Content-Type", TEXT), *text[1:]]
    kind = [("Content-Type", "application/json"), *text[1:]]
    leases = [{"metadata": {"name": f"apiserver-{i}"}, "spec": {"renewTime": now()}} for i in range(alive)]
    groups = {"versions": [{"version": "v1"}], "preferredVersion": {"version": "v1"}}
    return {
        "/metrics": Reply(200, metrics(release=release), measured),
        f"{DUMPS}dump_priority_levels": Reply(200, DUMP, text),
        f"{DUMPS}dump_queues": Reply(200, table(("PriorityLevelName", "Index", "PendingRequests")), text),
        f"{DUMPS}dump_requests": Reply(200, requests_of(user), text),
        GROUP: Reply(200, as_json(groups), kind),
        f"{GROUP}/v1/flowschemas": Reply(200, SCHEMAS, kind),
        f"{GROUP}/v1/prioritylevelconfigurations": Reply(200, CONFIGS, kind),
        VALIDATING: Reply(200, WEBHOOKS, kind),
        MUTATING: Reply(200, NO_WEBHOOKS, kind),
        AGGREGATED: Reply(200, APISERVICES, kind),
        LEASES: Reply(200, as_json({"kind": "LeaseList", "items": leases}), kind),
        SLICES: Reply(200, as_json({"items": [_slice(server) for server in slices]}), kind),
        "/version": Reply(200, as_json({"gitVersion": release}), kind),
    }


def _slice(server: Server) -> dict[str, Any]:
    return {"endpoints": [{"addresses": ["127.0.0.1"]}], "ports": [{"port": server.port}]}


def as_json(said: Any) -> bytes:
    return json.dumps(said).encode()


def denied(path: str, user: str = "alice") -> Reply:
    """A refusal as RBAC gives it."""
    message = f'forbidden: User "{user}" cannot get path "{path}"'
    said = {"kind": "Status", "status": "Failure", "message": message, "reason": "Forbidden", "code": 403}
    return Reply(403, as_json(said), [("Content-Type", "application/json")])


@contextmanager
def running(ca: Ca, number: int = 1) -> Iterator[list[Server]]:
    """So many replicas that answer everything, each of which tells of all."""
    with ExitStack() as stack:
        servers = [stack.enter_context(Server(ca, ("127.0.0.1", "kubernetes.default.svc"))) for _ in range(number)]
        for server in servers:
            server.replies |= answers(alive=number, slices=servers)
        yield servers


def kubeconfig(server: Server, ca: Ca, folder: Path) -> str:
    path = folder / "config"
    path.write_text(as_json(config(server, ca, {"token": "s3cr3t"})).decode())
    return str(path)


def names(servers: Iterable[Server]) -> list[str]:
    return [f"127.0.0.1:{server.port}" for server in servers]


def apftop(*arguments: str) -> Result:
    """One run of the command line; a failure that is told in one line is its exception."""
    return CliRunner().invoke(cli, arguments, standalone_mode=False)
