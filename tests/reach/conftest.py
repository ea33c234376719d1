"""A server with its authority and a way to it, and an environment that says nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from apftop.access import Access
from tests.reach.asking import reaching
from tests.reach.credentials import Write, config
from tests.reach.server import Ca, Server

PROXIES = ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy")
SETTINGS = ("KUBECONFIG", "APFTOP_TOKEN", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (*SETTINGS, *PROXIES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture(scope="session")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Ca:
    return Ca(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def server(ca: Ca) -> Iterator[Server]:
    with Server(ca) as running:
        yield running


@pytest.fixture
def access(server: Server, ca: Ca) -> Access:
    return reaching(server, ca)


@pytest.fixture
def write(tmp_path: Path, ca: Ca, server: Server) -> Write:
    def kubeconfig(user: Mapping[str, Any], /, **cluster: Any) -> str:
        path = tmp_path / "config"
        path.write_text(yaml.safe_dump(config(server, ca, user, **cluster)))
        return str(path)

    return kubeconfig
