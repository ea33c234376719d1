"""A plain client of the Kubernetes API, independent of the project's own code."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]

PLURALS: Mapping[str, str] = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "ConfigMap": "configmaps",
    "FlowSchema": "flowschemas",
    "Namespace": "namespaces",
    "PriorityLevelConfiguration": "prioritylevelconfigurations",
    "Role": "roles",
    "RoleBinding": "rolebindings",
    "Service": "services",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}


class ApiError(RuntimeError):
    """The server gave another answer than the one that was needed."""


@dataclass(frozen=True)
class Answer:
    """One response; header names are in lower case, latency starts once the connection is open."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    latency: float

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    def json(self) -> Json:
        """The body as a JSON object."""
        answer: Json = json.loads(self.body)
        return answer

    def expect(self, *statuses: int) -> Answer:
        """This answer, or an error if its status is not one of those."""
        if self.status not in statuses:
            raise ApiError(f"status {self.status}, not one of {statuses}: {self.body[:500]!r}")
        return self


@dataclass(frozen=True)
class Client:
    """Sends every request on a connection of its own, so it may be shared by threads."""

    url: str
    token: str
    ca_file: Path
    timeout: float = 20.0

    def request(
        self, method: str, path: str, body: Json | None = None, content_type: str = "application/json"
    ) -> Answer:
        """One request and its answer, whatever its status."""
        parts = urlsplit(self.url)
        context = ssl.create_default_context(cafile=str(self.ca_file))
        connection = http.client.HTTPSConnection(
            parts.hostname or "", parts.port, timeout=self.timeout, context=context
        )
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json, */*"}
        content = None
        if body is not None:
            content = json.dumps(body).encode()
            headers["Content-Type"] = content_type
        try:
            connection.connect()
            started = time.perf_counter()
            connection.request(method, path, content, headers)
            response = connection.getresponse()
            answer = response.read()
            latency = time.perf_counter() - started
        finally:
            connection.close()
        return Answer(response.status, {key.lower(): value for key, value in response.getheaders()}, answer, latency)

    def get(self, path: str) -> Answer:
        """GET."""
        return self.request("GET", path)

    def post(self, path: str, body: Json) -> Answer:
        """POST."""
        return self.request("POST", path, body)

    def put(self, path: str, body: Json) -> Answer:
        """PUT."""
        return self.request("PUT", path, body)

    def delete(self, path: str) -> Answer:
        """DELETE."""
        return self.request("DELETE", path)

    def apply(self, item: Json) -> Json:
        """Server-side apply of an object; gives the object as stored."""
        path = f"{path_of(item)}?fieldManager=plane&force=true"
        return self.request("PATCH", path, item, "application/apply-patch+yaml").expect(200, 201).json()

    def remove(self, item: Json) -> None:
        """Deletes an object if it is there."""
        self.delete(path_of(item)).expect(200, 202, 404)


def path_of(item: Json) -> str:
    """The path of an object of a kind that we use."""
    version, kind, metadata = item["apiVersion"], item["kind"], item["metadata"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    scope = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    return f"{root}{scope}/{PLURALS[kind]}/{metadata['name']}"
