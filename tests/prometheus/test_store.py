"""Secrets for a store come from files and the environment, and go over no open line."""

from __future__ import annotations

from pathlib import Path

import pytest

from apftop.access import Unreachable
from apftop.prometheus.client import Client
from apftop.prometheus.store import TOKEN_VARIABLE, store
from tests.prometheus.api import Api


def test_headers_are_sent_whatever_netrc_says(api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(netrc))
    token, headers = tmp_path / "token", tmp_path / "headers"
    token.write_text("s3cret\n")
    headers.write_text("# of the gateway\nX-Key: other\n")
    known = store(api.url, token_file=token, header_file=headers, tenant="team-a", environment={})
    client = Client(known)
    client.query('up{a="b"}[1ms]', 0.0)
    client.close()

    sent = api.headers[0]
    assert sent["Authorization"] == "Bearer s3cret"
    assert sent["X-Key"] == "other"
    assert sent["X-Scope-OrgID"] == "team-a"
    assert "s3cret" not in repr(known)
    assert "other" not in repr(known)


def test_a_proxy_does_not_see_what_goes_to_this_machine(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    client = Client(store(api.url, environment={TOKEN_VARIABLE: "abc"}))
    client.query('up{a="b"}[1ms]', 0.0)
    client.close()
    assert len(api.asked) == 1


def test_the_environment_may_have_the_token() -> None:
    assert store("https://a", environment={TOKEN_VARIABLE: "abc"}).headers == (("Authorization", "Bearer abc"),)


def test_a_secret_does_not_go_over_plain_http() -> None:
    with pytest.raises(Unreachable, match="a secret would go over plain http"):
        store("http://prom.example:9090", environment={TOKEN_VARIABLE: "abc"})
    assert store("http://prom.example:9090", tenant="a", environment={}).url == "http://prom.example:9090"


@pytest.mark.parametrize("url", ["http://u:p@host", "ftp://host", "http://", "http://host?x=1", "http://host:x"])
def test_what_is_no_url_of_a_store_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(Unreachable, match="not the URL of a Prometheus") as raised:
        store(url, environment={})
    assert "u:p" not in str(raised.value)


def test_a_bad_line_of_headers_is_named_and_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "headers"
    path.write_text("X-A: b\nno header s3cret\n")
    with pytest.raises(Unreachable, match="line 2 is no header") as raised:
        store("https://a", header_file=path, environment={})
    assert "s3cret" not in str(raised.value)
