"""The replicas are the addresses of the service `kubernetes` that prove to be servers of this cluster."""

from __future__ import annotations

import json
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apftop.access import Access
from apftop.fetch import ask
from apftop.poll.discover import Found, discovered
from apftop.records.raw import Endpoint
from apftop.session import open_session
from tests.poll.polling import HASTY, LONG_S, SLICES
from tests.reach.asking import LEVELS
from tests.reach.server import Ca, Reply, Server
from tests.reach.tunnel import Proxy

SERVICE = "kubernetes.default.svc"


def slices(*ports: int, address: str = "127.0.0.1", **more: Any) -> dict[str, Any]:
    """One EndpointSlice of one address."""
    endpoint = {"addresses": [address], "conditions": {"ready": True}, **more}
    return {
        "addressType": "IPv6" if ":" in address else "IPv4",
        "endpoints": [endpoint],
        "ports": [{"name": "https", "port": port, "protocol": "TCP"} for port in ports],
    }


def tell(server: Server, *items: dict[str, Any]) -> None:
    server.replies[SLICES] = Reply(body=json.dumps({"kind": "EndpointSliceList", "items": items}).encode())


async def look_for(access: Access) -> Found:
    async with open_session(access, HASTY) as session:
        return await discovered(session, access, HASTY)


def names(found: Found) -> list[str]:
    return [access.name for access in found.accesses]


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


class TestAddresses:
    async def test_each_ready_address_and_port_is_a_replica(self, server: Server, access: Access, ca: Ca) -> None:
        with Server(ca, [SERVICE]) as one, Server(ca, [SERVICE]) as two:
            tell(server, slices(one.port), slices(two.port, conditions={}), slices(two.port))
            found = await look_for(access)
            assert names(found) == sorted(f"127.0.0.1:{replica.port}" for replica in (one, two))
            assert found.news == ""
            assert {replica.server_hostname for replica in found.accesses} == {SERVICE}
            for replica in found.accesses:
                assert (replica.ca_file, replica.auth) == (access.ca_file, access.auth)
                async with open_session(replica, HASTY) as session:
                    sample, _ = await ask(session, replica, Endpoint.LEVELS, HASTY, LEVELS)
                    assert sample.ok, sample.error
            assert [len(replica.seen) for replica in (one, two)] == [1, 1]
        assert [seen.query for seen in server.seen] == [{"labelSelector": ["kubernetes.io/service-name=kubernetes"]}]

    @pytest.mark.parametrize("named", [SERVICE, "127.0.0.1"])
    async def test_a_certificate_may_carry_the_name_of_the_service_or_the_address(
        self, server: Server, access: Access, ca: Ca, named: str
    ) -> None:
        with Server(ca, ["other.example.com", named]) as one:
            tell(server, slices(one.port))
            (replica,) = (await look_for(access)).accesses
        assert replica.server_hostname == named

    async def test_a_certificate_may_carry_the_name_of_the_way(self, access: Access, ca: Ca) -> None:
        for named in ("api.example.com", "localhost"):
            with Server(ca, [named]) as way, Server(ca, [named]) as one:
                tell(way, slices(one.port))
                known = replace(access, url=way.url, server_hostname=named)
                if named == "localhost":
                    known = replace(access, url=f"https://localhost:{way.port}")
                (replica,) = (await look_for(known)).accesses
            assert replica.server_hostname == named

    async def test_one_that_does_not_answer_beside_others_is_a_replica_that_is_down(
        self, server: Server, access: Access, ca: Ca, free_port: int
    ) -> None:
        with Server(ca) as one, socket.create_server(("127.0.0.1", 0)) as silent:
            ports = (one.port, free_port, int(silent.getsockname()[1]))
            tell(server, *map(slices, ports))
            begun = time.monotonic()
            found = await look_for(access)
            assert time.monotonic() - begun < LONG_S
        assert sorted(names(found)) == sorted(f"127.0.0.1:{port}" for port in ports)
        assert {replica.server_hostname for replica in found.accesses} == {"127.0.0.1"}

    async def test_an_address_of_ip_version_6(self, server: Server, access: Access, ca: Ca, free_port: int) -> None:
        with Server(ca) as one:
            tell(server, slices(one.port), slices(free_port, address="2001:db8::1"))
            found = await look_for(access)
        assert f"[2001:db8::1]:{free_port}" in names(found)
        assert f"https://[2001:db8::1]:{free_port}" in [replica.url for replica in found.accesses]

    async def test_what_is_not_ready_or_malformed_is_left_out(self, server: Server, access: Access, ca: Ca) -> None:
        with Server(ca) as one:
            tell(
                server,
                slices(one.port),
                slices(1, conditions={"ready": False}),
                {**slices(2), "ports": [{"port": 2, "protocol": "UDP"}, {"port": None}, {}]},
                slices(3, address="replica.example.com"),
                {"endpoints": 3},
                {"endpoints": [{"addresses": ["127.0.0.1"]}], "ports": None},
                {"endpoints": None, "ports": [{"port": 4}]},
            )
            assert names(await look_for(access)) == [f"127.0.0.1:{one.port}"]

    async def test_through_the_proxy_of_the_way(self, server: Server, access: Access, ca: Ca) -> None:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        ca.authority.issue_cert("127.0.0.1").configure_cert(tls)
        with Server(ca, [SERVICE]) as one:
            tell(server, slices(one.port))
            for context in (None, tls):
                with Proxy(context) as proxy:
                    way = replace(access, proxy=proxy.url("ada:x@"))
                    (replica,) = (await look_for(way)).accesses
                assert (replica.server_hostname, replica.proxy) == (SERVICE, way.proxy)
                assert proxy.heads[-1].startswith(f"CONNECT 127.0.0.1:{one.port} ")
                assert "Proxy-Authorization: Basic YWRhOng=\r\n" in proxy.heads[-1]


class TestNone:
    """Where nothing is found the way itself is asked, and one line says why."""

    @pytest.mark.parametrize(
        ("status", "why"),
        [
            (403, "status 403 for endpointslices of default; grant get and list on endpointslices"),
            (404, "status 404 for endpointslices of default"),
            (500, "status 500 for endpointslices of default"),
        ],
    )
    async def test_refused(self, server: Server, access: Access, status: int, why: str) -> None:
        server.replies[SLICES] = Reply(status)
        found = await look_for(access)
        assert found.accesses == ()
        assert found.news.startswith(f"replicas of {access.name} are not known: {why}")

    async def test_no_answer(self, access: Access, free_port: int) -> None:
        found = await look_for(replace(access, url=f"https://127.0.0.1:{free_port}"))
        assert found.news.startswith(f"replicas of {access.name} are not known: connection refused: ")

    @pytest.mark.parametrize("items", [(), [{"endpoints": []}]])
    async def test_no_address(self, server: Server, access: Access, items: Sequence[dict[str, Any]]) -> None:
        tell(server, *items)
        found = await look_for(access)
        news = f"replicas of {access.name} are asked through it, for no address is told"
        assert (found.accesses, found.news) == ((), news)

    @pytest.mark.parametrize("body", [b"", b"[]", b'{"items": null}', b"<html>", b"[" * 100_000])
    async def test_no_list(self, server: Server, access: Access, body: bytes) -> None:
        server.replies[SLICES] = Reply(body=body)
        assert (await look_for(access)).news.endswith("no address is told")

    async def test_addresses_that_are_somebody_elses_get_nothing_but_a_handshake(
        self, server: Server, access: Access, ca: Ca, tmp_path: Path, free_port: int
    ) -> None:
        with Server(Ca(tmp_path / "other")) as stranger, Server(ca, ["other.example.com"]) as relative:
            with Server(None) as plain:
                tell(server, *map(slices, (stranger.port, relative.port, plain.port, free_port)))
                found = await look_for(access)
            assert found.accesses == ()
            assert found.news.endswith("none of 4 addresses answers from here")
            assert stranger.seen == relative.seen == plain.seen == []

    async def test_without_verified_certificates_nobody_is_looked_for(self, server: Server, access: Access) -> None:
        found = await look_for(replace(access, insecure=True))
        assert found.accesses == ()
        assert "verified certificates" in found.news
        assert server.seen == []
