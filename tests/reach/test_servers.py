"""Servers named by hand, and the server of a pod: whose credentials reach them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from apftop.access import Overrides
from apftop.cluster import in_cluster, reach
from apftop.fetch import Turn, run
from apftop.live import fold
from apftop.records.raw import Endpoint
from tests.reach.asking import LEVELS
from tests.reach.credentials import SECRET, Write, authorization, eventually, from_kubeconfig, unreachable
from tests.reach.credentials import ask as see
from tests.reach.server import Ca, Server


class TestServers:
    def test_with_the_kubeconfigs_credentials(self, write: Write, server: Server) -> None:
        path = write({"token": SECRET, "as": "eve"}, tls_server_name="elsewhere", server="https://10.0.0.1:6443")
        (access,) = reach([server.url.removeprefix("https://")], path).ways
        assert access.name == f"127.0.0.1:{server.port}"
        assert access.server_hostname is None
        headers = see(access)["headers"]
        assert headers["authorization"] == [f"Bearer {SECRET}"]
        assert headers["impersonate-user"] == ["eve"]

    def test_with_a_token_from_the_environment(
        self, write: Write, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("APFTOP_TOKEN", "from-environment")
        (access,) = reach([server.url], write({"token": SECRET, "as": "eve"})).ways
        headers = see(access)["headers"]
        assert headers["authorization"] == ["Bearer from-environment"]
        assert "impersonate-user" not in headers

    def test_with_a_token_file_before_the_environment(
        self, ca: Ca, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("APFTOP_TOKEN", "from-environment")
        (tmp_path / "token").write_text("from-file\n")
        over = Overrides(ca_file=str(ca.ca_file), token_file=str(tmp_path / "token"))
        (access,) = reach([server.url], over=over).ways
        assert authorization(access) == ["Bearer from-file"]

    def test_with_a_client_certificate(self, ca: Ca, server: Server, write: Write, tmp_path: Path) -> None:
        cert, key = ca.client("dora")
        (tmp_path / "both.pem").write_bytes(cert + key)
        (access,) = reach(
            [server.url], write({"token": SECRET}), over=Overrides(cert_file=str(tmp_path / "both.pem"))
        ).ways
        seen = see(access)
        assert seen["common_name"] == "dora"
        assert "authorization" not in seen["headers"]

    def test_without_any_kubeconfig(self, ca: Ca, server: Server) -> None:
        (access,) = reach([server.url], over=Overrides(ca_file=str(ca.ca_file))).ways
        assert authorization(access) is None

    def test_plain_http_on_loopback_goes_without_the_kubeconfigs_credentials(self, write: Write) -> None:
        with Server(None) as plain:
            path = write({"token": SECRET}, server=plain.url)
            assert authorization(from_kubeconfig(path)) is None
            (access,) = reach([plain.url], write({"token": SECRET})).ways
            assert authorization(access) is None
            (access,) = reach([plain.url], over=Overrides(token="given")).ways
            assert authorization(access) == ["Bearer given"]

    def test_paths_tell_servers_behind_one_gateway_apart(self, ca: Ca, server: Server) -> None:
        urls = [f"{server.url}/k8s/clusters/{cluster}" for cluster in ("a", "b/")] + [f"{server.url}/"]
        accesses = reach(urls, over=Overrides(ca_file=str(ca.ca_file))).ways
        here = f"127.0.0.1:{server.port}"
        assert [access.name for access in accesses] == [f"{here}/k8s/clusters/a", f"{here}/k8s/clusters/b", here]
        for access, path in zip(accesses, ("/k8s/clusters/a", "/k8s/clusters/b", ""), strict=True):
            assert see(access)["path"] == path + LEVELS
        assert len(fold(run(accesses, [Turn((Endpoint.LEVELS,))])).replicas) == 3

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("https://a:6443", "https://a:6443"),
            ("https://a:6443/x", "https://a:6443/x/"),
            ("https://a", "A:443/"),
            ("https://a", "https://a:443"),
            ("https://[::1]", "[::1]:443"),
        ],
    )
    def test_the_same_server_twice(self, write: Write, one: str, other: str) -> None:
        for path in (None, write({"token": SECRET})):
            error = unreachable(reach, ["https://b", one, "https://c", other], path)
            assert str(error).startswith(f"the same server twice: {other}; ")

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("https://a:6443", "https://a:6444"),
            ("https://a:6443", "https://a.:6443"),
            ("https://a/x", "https://a/X"),
            ("https://a/x", "https://a/x/y"),
            ("http://127.0.0.1", "https://127.0.0.1"),
        ],
    )
    def test_servers_that_are_not_the_same(self, one: str, other: str) -> None:
        assert len({access.name for access in reach([one, other]).ways}) == 2

    def test_empty_token_file(self, ca: Ca, server: Server, tmp_path: Path) -> None:
        (tmp_path / "token").write_text("\n")
        unreachable(reach, [server.url], over=Overrides(token_file=str(tmp_path / "token")))


class TestReach:
    """Whether further replicas may be looked for, and in words whom the look is about."""

    def test_of_a_context(self, write: Write, server: Server) -> None:
        found = reach([], write({"token": SECRET}))
        assert [access.name for access in found.ways] == [f"127.0.0.1:{server.port}"]
        assert found.discover
        assert found.source == "context here, cluster c"

    def test_of_servers_named_by_hand(self, write: Write) -> None:
        found = reach(["https://10.0.0.1:6443", "10.0.0.2"], write({"token": SECRET}))
        assert not found.discover
        assert found.source == "10.0.0.1:6443, 10.0.0.2:443"

    def test_of_plain_http_on_loopback(self, write: Write) -> None:
        with Server(None) as plain:
            assert not reach([plain.url]).discover
            assert not reach([], write({}, server=plain.url)).discover


class TestInCluster:
    @pytest.fixture
    def account(self, tmp_path: Path, ca: Ca, server: Server, monkeypatch: pytest.MonkeyPatch) -> Path:
        (tmp_path / "account").mkdir()
        (tmp_path / "account/token").write_text("pod-1\n")
        (tmp_path / "account/ca.crt").write_bytes(ca.ca_pem)
        place = "kubernetes.config.incluster_config"
        monkeypatch.setattr(f"{place}.SERVICE_TOKEN_FILENAME", str(tmp_path / "account/token"))
        monkeypatch.setattr(f"{place}.SERVICE_CERT_FILENAME", str(tmp_path / "account/ca.crt"))
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.port))
        return tmp_path / "account"

    def test_token_is_read_again(self, account: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("apftop.credentials.TOKEN_FILE_EVERY_S", 0.0)
        monkeypatch.setattr("apftop.credentials.TOKEN_FILE_PAUSE_S", 0.0)
        (access,) = reach([]).ways
        assert authorization(access) == ["Bearer pod-1"]
        (account / "token").write_text("pod-2\n")
        eventually(lambda: authorization(access) == ["Bearer pod-2"])

    def test_its_replicas_may_be_looked_for(self, account: Path) -> None:
        found = reach([])
        assert found.discover
        assert found.source == "the cluster of this pod"

    def test_lends_its_credentials_to_named_servers(self, account: Path, server: Server) -> None:
        (access,) = reach([server.url]).ways
        assert authorization(access) == ["Bearer pod-1"]

    def test_kubeconfig_goes_first(self, account: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KUBECONFIG", write({"token": "human"}))
        (access,) = reach([]).ways
        assert authorization(access) == ["Bearer human"]

    def test_without_token(self, account: Path) -> None:
        (account / "token").unlink()
        assert "in-cluster" in unreachable(in_cluster).what


def test_heavy_packages_are_imported_late() -> None:
    late = ("kubernetes", "aiohttp", "yaml")
    rooms = ("access", "credentials", "plugin", "oidc", "kubeconfig", "cluster", "failures", "fetch")
    modules = ", ".join(f"apftop.{room}" for room in rooms)
    code = f"import sys, {modules}; print([name for name in {late} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
