"""The words for who asks: the kind of credential and where it is from, never the credential."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from apftop.cli_options import access_overrides
from apftop.cluster import reach
from apftop.doctor.who import credentials
from tests.collect.loopback import as_json
from tests.reach.credentials import SECRET, config
from tests.reach.server import Ca, Server

NAMES = ("kubeconfig", "context", "ca_file", "token_file", "client_cert", "client_key", "tls_server_name")
NO_OPTIONS: dict[str, Any] = {**dict.fromkeys(NAMES), "servers": (), "insecure_skip_tls_verify": False}


def words(user: Mapping[str, Any], ca: Ca, folder: Path, **given: str) -> str:
    """The words for the user of a kubeconfig, with some options."""
    path = folder / "config"
    path.write_bytes(as_json(config(Server(ca), ca, user, server="https://127.0.0.1:1")))
    options = NO_OPTIONS | {"kubeconfig": str(path)} | given
    at = reach(options["servers"], options["kubeconfig"], options["context"], access_overrides(options))
    said = credentials(at.ways[0], at.source, options)
    assert SECRET not in said
    return said


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ({"token": SECRET}, "bearer token from context here, cluster c"),
        ({"username": "u", "password": SECRET}, "user and password from context here, cluster c"),
        ({"token": SECRET, "as": "jane"}, "bearer token from context here, cluster c, acting as jane"),
        ({}, "none: everybody is anonymous here"),
    ],
)
def test_what_a_kubeconfig_gives(user: Mapping[str, Any], said: str, ca: Ca, tmp_path: Path) -> None:
    assert words(user, ca, tmp_path) == said


def test_a_token_file_is_named_and_renewed(ca: Ca, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(SECRET)
    given = str(tmp_path / "token")

    assert (
        words({}, ca, tmp_path, token_file=given) == f"bearer token from --token-file {given}, renewed before it ends"
    )


def test_a_client_certificate(ca: Ca, tmp_path: Path) -> None:
    chain, key = ca.client("alice")
    (tmp_path / "client.pem").write_bytes(chain + key)
    given = str(tmp_path / "client.pem")

    assert words({}, ca, tmp_path, client_cert=given) == f"client certificate from --client-cert {given}"
    assert words({"client-certificate": given, "client-key": given}, ca, tmp_path).startswith("client certificate from")


def test_a_token_of_the_environment(ca: Ca, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APFTOP_TOKEN", SECRET)

    assert words({"token": "other"}, ca, tmp_path) == "bearer token from APFTOP_TOKEN"
