"""A kubeconfig's proxy-url leads to the server, whose certificate is verified through the tunnel."""

from __future__ import annotations

import base64
import ssl

from tests.reach.credentials import SECRET, Write, ask, from_kubeconfig
from tests.reach.server import Ca, Server
from tests.reach.tunnel import Proxy


def test_an_http_proxy(write: Write, server: Server) -> None:
    with Proxy() as proxy:
        access = from_kubeconfig(write({"token": SECRET}, proxy_url=proxy.url(f"ada:{SECRET}@")))
        assert ask(access)["headers"]["authorization"] == [f"Bearer {SECRET}"]
    (head,) = proxy.heads
    assert head.startswith(f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\n")
    assert base64.b64encode(f"ada:{SECRET}".encode()).decode() in head
    assert f"Bearer {SECRET}" not in head


def test_an_https_proxy_is_verified_by_the_same_authority(write: Write, server: Server, ca: Ca) -> None:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    ca.authority.issue_cert("127.0.0.1").configure_cert(tls)
    with Proxy(tls) as proxy:
        access = from_kubeconfig(write({"token": SECRET}, proxy_url=proxy.url(), tls_server_name="localhost"))
        seen = ask(access)
    assert seen["headers"]["authorization"] == [f"Bearer {SECRET}"]
    assert seen["sni"] == "localhost"
    assert len(proxy.heads) == 1
