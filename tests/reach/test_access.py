"""What a server may be named and trusted by, and which proxy leads to it; each fault says what to do."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from apftop.access import Access, Overrides, Unreachable, proxy_of, ssl_context
from apftop.cluster import from_server, reach
from apftop.errors import Trouble
from tests.reach.credentials import SECRET, unreachable
from tests.reach.server import Ca, Server


class TestUrls:
    @pytest.mark.parametrize(
        "url", ["http://10.0.0.1:8080", "http://example.com", "http://127.1", "http://localhost.evil"]
    )
    def test_plain_http_elsewhere(self, url: str) -> None:
        assert "loopback" in unreachable(reach, [url]).what

    @pytest.mark.parametrize(
        "url", [f"https://ada:{SECRET}@host", "ftp://host", "https://", "https://host:port", "https://host/?a=b", ""]
    )
    def test_not_a_url(self, url: str) -> None:
        unreachable(reach, [url])

    @pytest.mark.parametrize(
        ("url", "name"),
        [
            ("https://host", "host:443"),
            ("https://[::1]:6443", "[::1]:6443"),
            ("10.0.0.1:6443", "10.0.0.1:6443"),
            ("https://rancher.example/k8s/clusters/c-1/", "rancher.example:443/k8s/clusters/c-1"),
        ],
    )
    def test_names(self, url: str, name: str) -> None:
        access = from_server(url, Overrides())
        assert access.name == name
        assert not access.url.endswith("/")


class TestTls:
    def test_verification_is_as_lenient_as_go(self, ca: Ca) -> None:
        context = ssl_context(Access("x", "https://x", ca_file=str(ca.ca_file)))
        assert not context.verify_flags & ssl.VERIFY_X509_STRICT
        assert context.check_hostname
        assert context.verify_mode is ssl.CERT_REQUIRED

    def test_missing_ca(self, server: Server) -> None:
        error = unreachable(ssl_context, Access("x", server.url, ca_file="/no/such"))
        assert "CA file cannot be used (no such file" in error.what

    def test_files_of_other_kinds(self, tmp_path: Path, ca: Ca, server: Server) -> None:
        (tmp_path / "text").write_text("no certificate")
        unreachable(ssl_context, Access("x", server.url, ca_file=str(tmp_path / "text")))
        access = Access("x", server.url, ca_file=str(ca.ca_file), cert_file=str(ca.ca_file))
        assert "client certificate" in unreachable(ssl_context, access).what


class TestProxies:
    @pytest.mark.parametrize(
        ("url", "exempt", "proxied"),
        [
            ("https://10.1.2.3", "", True),
            ("https://10.1.2.3", "192.168.0.0/16, 10.0.0.0/8", False),
            ("https://api.example.com", ".example.com", False),
            ("https://api.example.com", "example.org", True),
            ("https://127.0.0.1:6443", "", False),
            ("https://localhost", "", False),
        ],
    )
    def test_environment(self, monkeypatch: pytest.MonkeyPatch, url: str, exempt: str, proxied: bool) -> None:
        monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
        monkeypatch.setenv("NO_PROXY", exempt)
        assert proxy_of(Access("x", url)) == ("http://proxy.example:3128" if proxied else None)

    def test_kubeconfig_goes_first_and_plain_http_without(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HTTPS_PROXY", "http://environment:1")
        assert proxy_of(Access("x", "https://127.0.0.1", proxy="http://ours:2")) == "http://ours:2"
        assert proxy_of(Access("x", "http://127.0.0.1", proxy="http://ours:2")) is None

    def test_other_kinds(self) -> None:
        with pytest.raises(Unreachable, match="socks5://proxy") as caught:
            proxy_of(Access("x", "https://host", proxy=f"socks5://ada:{SECRET}@proxy:1"))
        assert SECRET not in str(caught.value)


@pytest.mark.parametrize("kind", [Trouble, Unreachable])
@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("token file is empty", "/run/token", "write one"), "token file is empty: /run/token; write one"),
        (("refused", "a.tgz", ""), "refused: a.tgz"),
        (("no kubeconfig", "", "name one"), "no kubeconfig; name one"),
        (("refused", "", ""), "refused"),
        (("two\nlines", "a\x1b[2Jb", " "), "two lines: a [2Jb"),
    ],
)
def test_trouble_is_one_line_of_the_parts_there_are(
    kind: type[Trouble], parts: tuple[str, str, str], text: str
) -> None:
    assert str(kind(*parts)) == text
