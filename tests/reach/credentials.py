"""Kubeconfigs to write, what a server saw of who asked, and faults of set-up."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from apftop.access import Access, Unreachable
from apftop.fetch import Turn, run
from apftop.records.raw import Endpoint
from tests.reach.server import Ca, Server

SECRET = "s3cr3t-that-nobody-may-read"

Write = Callable[..., str]
"""Writes a kubeconfig of one context for the test server and gives its path."""


def config(server: Server, ca: Ca, user: Mapping[str, Any], /, **cluster: Any) -> dict[str, Any]:
    given = {"server": server.url, "certificate-authority": str(ca.ca_file)}
    given |= {key.replace("_", "-"): value for key, value in cluster.items()}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": given}],
        "users": [{"name": "u", "user": dict(user)}],
    }


def ask(access: Access) -> dict[str, Any]:
    """What the server saw of one request."""
    (sample,) = run([access], [Turn((Endpoint.LEVELS,))])
    assert sample.ok, sample.error
    seen: dict[str, Any] = json.loads(sample.body)
    return seen


def authorization(access: Access) -> list[str] | None:
    values: list[str] | None = ask(access)["headers"].get("authorization")
    return values


def b64(blob: bytes) -> str:
    return base64.b64encode(blob).decode()


def unreachable(function: Callable[..., object], *args: Any, **kwargs: Any) -> Unreachable:
    with pytest.raises(Unreachable) as caught:
        function(*args, **kwargs)
    error = caught.value
    assert "\n" not in str(error)
    assert error.what
    assert error.where
    assert error.todo
    assert SECRET not in str(error) + repr(error)
    return error
