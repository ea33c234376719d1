"""Each way to get no answer has words of its own."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from apftop.access import Access, Headers, Unreachable
from apftop.fetch import Manner
from apftop.records.raw import Endpoint
from apftop.rules import rules
from tests.reach.asking import LEVELS, Keep, ask, fails, reaching
from tests.reach.credentials import SECRET
from tests.reach.server import Ca, Reply, Server


class TestNoAnswer:
    def test_refused(self, ca: Ca) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
            assert fails(Access("x", f"https://127.0.0.1:{port}")) == f"connection refused: 127.0.0.1:{port}"
            assert fails(Access("x", f"https://localhost:{port}")) == f"connection refused: localhost:{port}"

    def test_name_not_found(self) -> None:
        assert fails(Access("x", "https://no-such-host.invalid:6443")) == "name not found: no-such-host.invalid:6443"

    def test_no_handshake(self, ca: Ca) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            port = silent.getsockname()[1]
            error = fails(Access("x", f"https://127.0.0.1:{port}"), Manner(connect_s=0.3))
            assert error == f"no connection in 0.3 s: 127.0.0.1:{port}"

    def test_certificate_for_other_names(self, ca: Ca) -> None:
        with Server(ca, ["kubernetes", "kubernetes.default.svc", "10.96.0.1"]) as other:
            error = fails(reaching(other, ca))
            assert error == (
                "TLS: certificate is for other names (kubernetes, kubernetes.default.svc, 10.96.0.1), not 127.0.0.1: "
                f"127.0.0.1:{other.port}; --tls-server-name picks one"
            )
            assert "not example.com" in fails(replace(reaching(other, ca), server_hostname="example.com"))
            assert ask(replace(reaching(other, ca), server_hostname="kubernetes")).ok
            assert len(other.seen) == 1

    def test_certificate_of_another_authority(self, access: Access, server: Server, tmp_path: Path) -> None:
        for ca_file in (None, str(Ca(tmp_path / "other").ca_file)):
            error = fails(replace(access, ca_file=ca_file))
            assert error.startswith("TLS: certificate not trusted (")
            assert error.endswith(f"): 127.0.0.1:{server.port}; --ca-file names its authority")

    def test_not_tls(self, ca: Ca) -> None:
        with Server(None) as plain:
            access = Access("x", plain.url.replace("http:", "https:"), ca_file=str(ca.ca_file))
            assert fails(access).startswith("TLS: wrong version number: ")

    def test_client_certificate_demanded(self, ca: Ca) -> None:
        with Server(ca) as strict:
            assert strict.tls
            strict.tls.verify_mode = ssl.CERT_REQUIRED
            # From TLS 1.3 on the server says so after the handshake, when it may be too late to be heard.
            assert " before an answer: " in fails(reaching(strict, ca))
            strict.tls.maximum_version = ssl.TLSVersion.TLSv1_2
            assert "TLS" in fails(reaching(strict, ca))

    def test_never_an_answer(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(how="hang")
        assert fails(access, Manner(first_byte_s=0.3)) == f"no answer in 0.3 s: 127.0.0.1:{server.port}{LEVELS}"

    def test_a_request_that_waits_in_its_level_is_not_given_up_before_the_server_does(self) -> None:
        longest = rules().wait.default_request_timeout_s * rules().wait.limit_fraction
        assert Manner().first_byte_s > longest + 2

    @pytest.mark.parametrize("how", ["reset", "close"])
    def test_closed_before_an_answer(self, server: Server, access: Access, how: str) -> None:
        server.replies[LEVELS] = Reply(how=how)  # type: ignore[arg-type]
        assert fails(access).endswith(f"before an answer: 127.0.0.1:{server.port}{LEVELS}")

    def test_no_http(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(how="garbage")
        assert fails(access) == f"the answer is not HTTP: 127.0.0.1:{server.port}{LEVELS}"

    def test_half_a_body(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(body=b"x" * 2_400_000, how="half")
        assert fails(access) == f"connection closed after 1.2 MB: 127.0.0.1:{server.port}{LEVELS}"
        assert ask(access).status == 200

    def test_a_body_that_falls_silent(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(body=b"x" * 3000, how="stall")
        assert fails(access, Manner(first_byte_s=0.3)).startswith("silent for 0.3 s after 1.5 kB: ")
        assert fails(access, Manner(whole_s=0.5)).startswith("not complete in 0.5 s (1.5 kB came): ")

    def test_too_large(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(body=b"x" * 2_000_000)
        assert fails(access, Manner(max_bytes=1_500_000)).startswith("the answer is larger than 1.5 MB: ")

    def test_a_web_page(self, server: Server, access: Access) -> None:
        page = Reply(body=b"<html>" * 100_000, headers=[("Content-Type", "text/html; charset=utf-8")])
        server.replies |= {LEVELS: page, "/metrics": page}
        assert fails(access).startswith("a web page came")
        assert fails(access, Manner(picker=Keep), Endpoint.METRICS).startswith("a web page came")

    def test_an_encoding_that_was_not_asked_for(self, server: Server, access: Access) -> None:
        server.replies[LEVELS] = Reply(body=gzip.compress(b"x"), headers=[("Content-Encoding", "gzip")])
        assert fails(access).startswith("the answer came in gzip, which was not asked for: ")

    def test_a_credential_that_no_header_can_hold(self, access: Access) -> None:
        async def broken() -> Headers:
            return (("Authorization", f"Bearer {SECRET}\r\nX: y"),)

        assert fails(replace(access, auth=broken)).startswith("the request cannot be sent (")

    def test_credentials_that_vanish(self, access: Access) -> None:
        async def gone() -> Headers:
            raise Unreachable("token file is empty", "/run/token", "write one")

        assert fails(replace(access, auth=gone)) == "token file is empty: /run/token; write one"

    def test_through_a_proxy(self, server: Server, access: Access) -> None:
        with Tunnel() as tunnel:
            proxied = replace(access, proxy=f"http://ada:{SECRET}@127.0.0.1:{tunnel.port}")
            assert ask(proxied).ok
            assert f"CONNECT 127.0.0.1:{server.port} ".encode() in tunnel.heads[0]
            assert server.seen[0].sni is None
            tunnel.status = b"407 Proxy Authentication Required"
            assert fails(proxied) == f"proxy answered 407: 127.0.0.1:{tunnel.port}"
        assert fails(proxied) == f"proxy: connection refused: 127.0.0.1:{tunnel.port}"


class Tunnel:
    """A proxy for one CONNECT at a time."""

    def __init__(self) -> None:
        self.heads: list[bytes] = []
        self.status = b"200 OK"

    def __enter__(self) -> Tunnel:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            head = client.recv(4096)
            self.heads.append(head)
            client.sendall(b"HTTP/1.1 " + self.status + b"\r\nContent-Length: 0\r\n\r\n")
            if not self.status.startswith(b"200"):
                client.close()
                continue
            host, _, port = head.split()[1].decode().rpartition(":")
            far = socket.create_connection((host, int(port)))
            for pair in ((client, far), (far, client)):
                threading.Thread(target=_pump, args=pair, daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass
