"""OIDC users: an expired token is renewed at its issuer, at the start and while running, and kept for kubectl."""

from __future__ import annotations

import asyncio
import base64
import errno
import socket
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from apftop.access import Unreachable
from tests.reach.credentials import SECRET, Write, ask, authorization, b64, eventually, from_kubeconfig, unreachable
from tests.reach.issuer import Issuer, id_token
from tests.reach.server import Ca, Server

EXPIRED = id_token(-60)


@pytest.fixture
def issuer(server: Server) -> Iterator[Issuer]:
    with Issuer(server) as running:
        yield running


@pytest.fixture
def trust(ca: Ca) -> dict[str, str]:
    return {"idp-certificate-authority": str(ca.ca_file)}


def kept(path: str) -> dict[str, Any]:
    """The settings of the provider as the kubeconfig has them now."""
    (entry,) = yaml.safe_load(Path(path).read_text())["users"]
    config: dict[str, Any] = entry["user"]["auth-provider"]["config"]
    return config


class TestAtTheStart:
    @pytest.mark.parametrize("form", ["file", "data"])
    def test_an_expired_token_is_renewed_and_kept(self, write: Write, ca: Ca, issuer: Issuer, form: str) -> None:
        trust = {
            "file": {"idp-certificate-authority": str(ca.ca_file)},
            "data": {"idp-certificate-authority-data": b64(ca.ca_pem)},
        }[form]
        path = write(issuer.user(EXPIRED, **trust, **{"client-secret": SECRET}))
        seen = authorization(from_kubeconfig(path))
        (form_sent,) = issuer.forms
        assert form_sent["grant_type"] == ["refresh_token"]
        assert form_sent["refresh_token"] == ["refresh-0"]
        assert base64.b64decode(issuer.logins[0].split()[1]).decode() == f"apf:{SECRET}"
        after = kept(path)
        assert seen == [f"Bearer {after['id-token']}"]
        assert after["id-token"] != EXPIRED
        assert after["refresh-token"] == "refresh-1"
        assert after.keys() == issuer.user(EXPIRED, **trust, **{"client-secret": ""})["auth-provider"]["config"].keys()

    def test_the_kubeconfig_stays_what_it_was_otherwise(
        self, write: Write, issuer: Issuer, trust: dict[str, str], tmp_path: Path
    ) -> None:
        path = Path(write({**issuer.user(EXPIRED, **trust), "as": "eve"}))
        path.chmod(0o640)
        before = yaml.safe_load(path.read_text())
        (tmp_path / "link").symlink_to(path)
        assert ask(from_kubeconfig(str(tmp_path / "link")))["headers"]["impersonate-user"] == ["eve"]
        after = yaml.safe_load(path.read_text())
        assert kept(str(path)) != before["users"][0]["user"]["auth-provider"]["config"]
        after["users"], before["users"] = [], []
        assert after == before
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        assert (tmp_path / "link").is_symlink()
        assert [one.name for one in tmp_path.iterdir() if one.name.startswith("config")] == ["config"]

    def test_a_token_that_lives_is_left_alone(self, write: Write, issuer: Issuer, trust: dict[str, str]) -> None:
        token = id_token(3600)
        path = write(issuer.user(token, **trust))
        before = Path(path).read_bytes()
        assert authorization(from_kubeconfig(path)) == [f"Bearer {token}"]
        assert Path(path).read_bytes() == before
        assert issuer.forms == []

    def test_an_issuer_of_another_authority_gets_nothing(self, write: Write, issuer: Issuer, tmp_path: Path) -> None:
        other = str(Ca(tmp_path / "other").ca_file)
        for trust in ({}, {"idp-certificate-authority": other}):
            error = unreachable(from_kubeconfig, write(issuer.user(EXPIRED, **trust, **{"client-secret": SECRET})))
            assert error.what.startswith("no new OIDC token (")
            assert error.where == issuer.url
        assert issuer.forms == []

    def test_a_refresh_token_that_was_used_before(self, write: Write, issuer: Issuer, trust: dict[str, str]) -> None:
        path = write(issuer.user(EXPIRED, **trust, **{"refresh-token": SECRET}))
        assert unreachable(from_kubeconfig, path).what == "no new OIDC token (InvalidGrantError)"

    def test_an_issuer_that_is_broken(self, write: Write, issuer: Issuer, trust: dict[str, str]) -> None:
        issuer.broken = True
        error = unreachable(from_kubeconfig, write(issuer.user(EXPIRED, **trust)))
        assert error.what.startswith("no new OIDC token")
        assert issuer.forms == []

    def test_an_issuer_that_hangs_is_waited_for_so_long(
        self, write: Write, issuer: Issuer, trust: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("apftop.credentials.FIRST_WAIT_S", 0.5)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            issuer.url = f"https://127.0.0.1:{silent.getsockname()[1]}"
            error = unreachable(from_kubeconfig, write(issuer.user(EXPIRED, **trust)))
        assert error.what == "no credential in 0.5 s"

    def test_tokens_that_cannot_be_kept(self, write: Write, issuer: Issuer, trust: dict[str, str]) -> None:
        def full(*_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, "")

        path = Path(write(issuer.user(EXPIRED, **trust)))
        before = path.read_bytes()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("yaml.safe_dump", full)
            error = unreachable(from_kubeconfig, str(path))
        assert error.what == "new OIDC tokens cannot be kept (no space left on device)"
        assert path.read_bytes() == before
        assert [one.name for one in path.parent.iterdir() if one.name.startswith("config")] == ["config"]

    def test_without_a_refresh_token(self, write: Write, issuer: Issuer, trust: dict[str, str]) -> None:
        user = issuer.user(EXPIRED, **trust)
        del user["auth-provider"]["config"]["refresh-token"]
        assert unreachable(from_kubeconfig, write(user)).what == "kubeconfig lacks refresh-token"


class TestWhileRunning:
    @pytest.fixture(autouse=True)
    def _at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("apftop.kubeconfig.PAUSE_S", 0.0)

    def test_a_token_is_renewed_before_its_end(self, write: Write, issuer: Issuer, trust: dict[str, str]) -> None:
        issuer.lives_s = 30.0
        path = write({**issuer.user(EXPIRED, **trust), "as": "eve"})
        access = from_kubeconfig(path)
        issuer.lives_s = 3600.0
        old = authorization(access)
        eventually(lambda: authorization(access) != old)
        assert len(issuer.forms) == 2
        assert issuer.forms[1]["refresh_token"] == ["refresh-1"]
        assert authorization(access) == [f"Bearer {kept(path)['id-token']}"]
        assert ask(access)["headers"]["impersonate-user"] == ["eve"]

    def test_what_kubectl_renewed_is_taken_over(self, write: Write, issuer: Issuer, trust: dict[str, str]) -> None:
        access = from_kubeconfig(write(issuer.user(id_token(3600), **trust)))
        by_kubectl = id_token(3600, "kubectl")
        write(issuer.user(by_kubectl, **trust))
        access.refused()
        assert authorization(access) == [f"Bearer {by_kubectl}"]
        assert issuer.forms == []

    def test_a_failure_is_told_when_the_token_has_ended(
        self, write: Write, issuer: Issuer, trust: dict[str, str]
    ) -> None:
        issuer.lives_s = 2.0
        access = from_kubeconfig(write(issuer.user(EXPIRED, **trust)))
        issuer.broken = True
        assert authorization(access)
        said: list[str] = []

        def ended() -> bool:
            try:
                asyncio.run(_once(access.auth()))
            except Unreachable as exc:
                said.append(exc.what)
            return bool(said)

        eventually(ended)
        assert said[0].startswith("no new OIDC token")
        issuer.broken = False

        def mended() -> bool:
            with suppress(AssertionError):
                return bool(authorization(access))
            return False

        eventually(mended)


async def _once(work: Any) -> Any:
    return await work
