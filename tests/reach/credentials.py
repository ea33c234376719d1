"""Kubeconfigs to write, what a server saw of who asked, and faults of set-up."""

from __future__ import annotations

import base64
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from apftop.access import Access, Unreachable
from apftop.fetch import Turn, run
from apftop.kubeconfig import load_context
from apftop.records.raw import Endpoint
from tests.reach.server import Ca, Server

SECRET = "s3cr3t-that-nobody-may-read"

V1 = "client.authentication.k8s.io/v1"

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


def from_kubeconfig(path: str | None = None) -> Access:
    """The way to the server of the current context."""
    return load_context(path).access


def ask(access: Access) -> dict[str, Any]:
    """What the server saw of one request."""
    (sample,) = run([access], [Turn((Endpoint.LEVELS,))])
    assert sample.ok, sample.error
    seen: dict[str, Any] = json.loads(sample.body)
    return seen


def authorization(access: Access) -> list[str] | None:
    values: list[str] | None = ask(access)["headers"].get("authorization")
    return values


def eventually(holds: Callable[[], bool], within_s: float = 20.0) -> None:
    """Try again and again until it holds."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


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


def plugin(folder: Path, code: str, name: str = "plugin") -> str:
    """An exec plugin in Python; `code` may use `info`, what it was told, and `give`, which prints a credential."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"#!{sys.executable}\n"
        "import json, os, sys\n"
        "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
        "def give(**status):\n"
        "    print(json.dumps({'apiVersion': info['apiVersion'], 'kind': 'ExecCredential', 'status': status}))\n"
        f"{code}\n"
    )
    path.chmod(0o755)
    return str(path)


def exec_user(command: str, version: str = V1, **more: Any) -> dict[str, Any]:
    """The user of a kubeconfig whom a plugin logs in."""
    return {"exec": {"apiVersion": version, "command": command, **more}}
