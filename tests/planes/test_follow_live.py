"""What real servers say about all replicas together: objects as they change, leases, and addresses."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from apftop.access import Access
from apftop.cluster import reach
from apftop.fetch import Manner
from apftop.live import fold
from apftop.parse.leases import parse_leases
from apftop.poll.config import follow_objects
from apftop.poll.discover import PATH, discovered
from apftop.poll.leases import follow_leases
from apftop.records.parsed import Lease
from apftop.records.raw import Endpoint, Sample
from apftop.session import open_session
from tests.planes.client import Client
from tests.planes.flow import flow_schema
from tests.planes.looks import look
from tests.planes.objects import allow, revoke
from tests.planes.plane import Plane

LONG_S = 60.0


@dataclass
class Heard:
    """Samples, each with the second at which it was delivered."""

    samples: list[tuple[float, Sample]] = field(default_factory=list)

    def deliver(self, sample: Sample) -> None:
        self.samples.append((time.monotonic(), sample))

    def of(self, endpoint: Endpoint) -> list[Sample]:
        return [sample for _, sample in self.samples if sample.endpoint is endpoint]

    async def until(self, endpoint: Endpoint, holds: Any) -> float:
        """The second at which a sample of this endpoint was delivered for which it holds."""
        async with asyncio.timeout(LONG_S):
            while True:
                for at, sample in tuple(self.samples):
                    if sample.endpoint is endpoint and holds(sample):
                        return at
                await asyncio.sleep(0.02)


def way(plane: Plane, user: str = "admin", replica: int = 0) -> Access:
    (access,) = reach([], str(plane.kubeconfig(user, replica))).ways
    return access


@asynccontextmanager
async def following(*accesses: Access) -> AsyncIterator[Heard]:
    heard = Heard()
    task = asyncio.create_task(follow_objects(lambda: accesses, Manner(), heard.deliver, asyncio.Event()))
    try:
        yield heard
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def names(sample: Sample) -> set[str]:
    return {item["metadata"]["name"] for item in json.loads(sample.body)["items"]}


def precedence(sample: Sample, name: str) -> int | None:
    """The precedence of a schema, None where it is not there."""
    found = {item["metadata"]["name"]: item["spec"] for item in json.loads(sample.body)["items"]}
    return int(found[name]["matchingPrecedence"]) if name in found else None


def starts(heard: Heard) -> int:
    """Watches that have begun."""
    return sum(sample.wire_bytes == 0 and sample.status == 200 for sample in heard.of(Endpoint.DISCOVERY))


async def test_an_edit_of_a_schema_is_seen_within_two_seconds(plane: Plane) -> None:
    client, name = plane.client(replica=1), "plane-followed"
    async with following(way(plane)) as heard:
        async with asyncio.timeout(LONG_S):
            while starts(heard) < 2:
                await asyncio.sleep(0.02)
        try:
            for value in (9001, 9002):
                schema = flow_schema(name, "global-default", users=["nobody"], precedence=value)
                await asyncio.to_thread(client.apply, schema)
                edited = time.monotonic()
                seen = await heard.until(Endpoint.SCHEMAS, lambda one, at=value: precedence(one, name) == at)
                assert seen - edited < 2.0
        finally:
            await asyncio.to_thread(client.remove, flow_schema(name, "global-default"))
        gone = time.monotonic()
        async with asyncio.timeout(LONG_S):
            while name in names(heard.of(Endpoint.SCHEMAS)[-1]):
                await asyncio.sleep(0.02)
        assert time.monotonic() - gone < 2.0
    (replica,) = fold([sample for _, sample in heard.samples]).replicas.values()
    assert replica.schemas is not None
    assert replica.configs is not None
    assert replica.problems == replica.schemas.problems == replica.configs.problems == ()
    assert name not in {schema.name for schema in replica.schemas.data}
    (listed,) = (await asyncio.to_thread(look, plane, Endpoint.SCHEMAS))[-1:]
    (again,) = fold([listed]).replicas.values()
    assert again.schemas is not None
    assert replica.schemas.data == again.schemas.data


async def test_a_watch_that_is_forbidden_is_a_list_and_counts_as_ours(plane: Plane) -> None:
    rules = [{"apiGroups": ["flowcontrol.apiserver.k8s.io"], "resources": ["*"], "verbs": ["list"]}]
    allow(plane, "plane-lists-only", "User", "viewer", rules)
    try:
        async with following(way(plane, "viewer")) as heard:
            async with asyncio.timeout(LONG_S):
                while sum(sample.status == 403 for sample in heard.of(Endpoint.DISCOVERY)) < 2:
                    await asyncio.sleep(0.02)
            assert all(sample.ok for sample in (*heard.of(Endpoint.SCHEMAS), *heard.of(Endpoint.CONFIGS)))
    finally:
        revoke(plane, "plane-lists-only")
    (replica,) = fold([sample for _, sample in heard.samples]).replicas.values()
    assert replica.own_sent == len(heard.samples)


def broken_off(plane: Plane) -> list[str]:
    """The counters of requests for our objects that a server says were broken off."""
    ours = ("apiserver_request_aborts_total", "apiserver_request_terminations_total")
    lines = plane.client().get("/metrics").expect(200).text.splitlines()
    return [line for line in lines if line.startswith(ours) and 'group="flowcontrol' in line]


async def test_a_watch_that_we_leave_is_not_one_that_was_broken_off(plane: Plane) -> None:
    before = await asyncio.to_thread(broken_off, plane)
    async with following(way(plane)) as heard:
        async with asyncio.timeout(LONG_S):
            while starts(heard) < 2:
                await asyncio.sleep(0.02)
    await asyncio.sleep(1.0)
    assert await asyncio.to_thread(broken_off, plane) == before


async def test_the_leases_name_every_replica(plane: Plane) -> None:
    samples: list[Sample] = []
    access = way(plane)
    task = asyncio.create_task(follow_leases(lambda: [access], Manner(), samples.append))
    try:
        async with asyncio.timeout(LONG_S):
            # A server writes its lease some time after it is ready.
            while not samples or sum(map(of_server, parse_leases(samples[-1].body))) < 3:
                await asyncio.sleep(0.05)
    finally:
        task.cancel()
    last = samples[-1]
    assert last.ok
    assert last.server_date is not None
    found = [lease for lease in parse_leases(last.body) if of_server(lease)]
    assert len(found) == 3
    assert all(lease.renewed is not None and abs(lease.renewed - last.server_date) < 60 for lease in found)


def of_server(lease: Lease) -> bool:
    return lease.name.startswith(("apiserver-", "kube-apiserver-"))


async def look_for(access: Access) -> tuple[tuple[Access, ...], str]:
    async with open_session(access) as session:
        found = await discovered(session, access, Manner())
        return found.accesses, found.news


def slice_of(address: str) -> dict[str, Any]:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "plane-slice", "labels": {"kubernetes.io/service-name": "kubernetes"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": [{"name": "https", "port": 6443, "protocol": "TCP"}],
    }


async def test_addresses_that_are_not_told_or_do_not_answer_leave_the_way(plane: Plane) -> None:
    """Servers on loopback advertise no address: a slice may not hold one."""
    client: Client = plane.client()
    path = PATH.partition("?")[0]
    access = way(plane)
    assert await look_for(access) == ((), f"replicas of {access.name} are asked through it, for no address is told")
    await asyncio.to_thread(lambda: client.post(path, slice_of("127.0.0.1")).expect(422))
    await asyncio.to_thread(lambda: client.post(path, slice_of("192.0.2.1")).expect(201))
    try:
        accesses, news = await look_for(access)
    finally:
        await asyncio.to_thread(lambda: client.delete(f"{path}/plane-slice").expect(200))
    assert accesses == ()
    assert news.endswith("none of 1 addresses answers from here")


async def test_where_slices_are_forbidden_the_rule_that_grants_them_is_named(plane: Plane) -> None:
    accesses, news = await look_for(way(plane, "viewer"))
    assert accesses == ()
    assert "grant get and list on endpointslices (discovery.k8s.io) in namespace default" in news
