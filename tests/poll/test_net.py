"""All servers at once, in the thread that asks them."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from apftop.access import Access
from apftop.fetch import Manner
from apftop.poll import fleet
from apftop.poll.net import Net
from apftop.records.asking import Plan
from apftop.records.raw import FLOW_SCHEMA_UID, OBJECTS, Endpoint, Sample
from tests.poll.polling import HASTY, LEASES, PATHS, SLICES, Heard, asked, forbid_the_rest, gaps, net, wait_until
from tests.reach.asking import GROUP, reaching
from tests.reach.server import Ca, Reply, Server

LEVELS, METRICS = Endpoint.LEVELS, Endpoint.METRICS
FAST = Plan({LEVELS: 0.1})


@pytest.fixture
def servers(ca: Ca) -> Iterator[list[Server]]:
    """Three servers that answer polls, and refuse the rest."""
    with ExitStack() as stack:
        found = [stack.enter_context(Server(ca)) for _ in range(3)]
        for server in found:
            forbid_the_rest(server)
        yield found


def ways(servers: list[Server], ca: Ca) -> list[Access]:
    return [reaching(server, ca) for server in servers]


class TestReplicas:
    @pytest.mark.parametrize("how", ["hang", "reset", "close", "stall", "garbage", "refuse"])
    def test_one_that_is_in_trouble_does_not_delay_the_others(self, ca: Ca, servers: list[Server], how: Any) -> None:
        accesses = ways(servers, ca)
        servers[1].replies[PATHS[LEVELS]] = Reply(body=b"half", how=how if how != "refuse" else "hang")
        if how == "refuse":
            with socket.socket() as nobody:
                nobody.bind(("127.0.0.1", 0))
                accesses[1] = replace(accesses[1], url=f"https://127.0.0.1:{nobody.getsockname()[1]}")
        with net(accesses, FAST, Manner()) as (_, heard):
            for access in (accesses[0], accesses[2]):
                wait_until(lambda name=access.name: len(heard.of(LEVELS, replica=name)) > 15)  # type: ignore[misc]
        for server in (servers[0], servers[2]):
            assert sorted(gaps(asked(server, LEVELS)))[7] < 0.5
        assert not any(sample.ok for sample in heard.of(LEVELS, replica=accesses[1].name))

    def test_they_are_not_asked_all_at_the_same_time(self, ca: Ca, servers: list[Server]) -> None:
        with net(ways(servers, ca), Plan({LEVELS: 1.0})) as (_, heard):
            wait_until(
                lambda: {sample.replica for sample in heard.of(LEVELS)} == {one.name for one in ways(servers, ca)}
            )
        first = sorted(asked(server, LEVELS)[0] for server in servers)
        assert min(gaps(first)) > 0.1
        assert first[-1] - first[0] < 1.0

    def test_each_goes_by_its_own_plan(self, ca: Ca, servers: list[Server]) -> None:
        one, two, three = ways(servers, ca)
        with net([one, two, three], Plan({LEVELS: 0.2})) as (whole, heard):
            wait_until(lambda: len({sample.replica for sample in heard.of(LEVELS)}) == 3)
            whole.plan({one.name: Plan({METRICS: 0.1}), two.name: Plan({})})
            time.sleep(0.5)
            counts = {server.port: len(server.seen) for server in servers}
            wait_until(lambda: len(heard.of(METRICS, replica=one.name)) > 5)
            wait_until(lambda: len(asked(servers[2], LEVELS)) > 6)
        assert not heard.of(METRICS, replica=three.name)
        assert len(servers[1].seen) == counts[servers[1].port]

    def test_a_wake_asks_everything_now(self, ca: Ca, servers: list[Server]) -> None:
        servers[1].replies[PATHS[LEVELS]] = Reply(429, b"", [("Retry-After", "3600")])
        with net(ways(servers, ca), Plan({LEVELS: 3600.0})) as (whole, heard):
            wait_until(lambda: len(heard.of(LEVELS)) == 3)
            time.sleep(1.0)
            whole.wake()
            wait_until(lambda: len(heard.of(LEVELS)) == 6)


class TestThread:
    def test_samples_come_from_one_daemon_thread(self, ca: Ca, servers: list[Server]) -> None:
        accesses = [replace(way, url=way.url.replace("127.0.0.1", "localhost")) for way in ways(servers, ca)]
        with net(accesses, FAST) as (_, heard):
            wait_until(lambda: len(heard.of(LEVELS)) > 6)
            names = [thread.name for thread in threading.enumerate()]
            assert all(thread.daemon for thread in threading.enumerate() if thread.name.startswith("apftop-"))
        assert heard.names == {"apftop-net"}
        assert not [name for name in names if name.startswith(("asyncio_", "ThreadPool"))]

    def test_after_stop_it_ends_and_is_deaf(self, ca: Ca, servers: list[Server]) -> None:
        servers[0].replies[PATHS[LEVELS]] = Reply(how="hang")
        before = threading.active_count()
        with net(ways(servers, ca), FAST, Manner()) as (whole, heard):
            wait_until(lambda: len(heard.of(LEVELS)) > 3)
        wait_until(lambda: threading.active_count() <= before)
        done = len(heard.samples)
        whole.plan({})
        whole.wake()
        whole.stop()
        time.sleep(0.3)
        assert len(heard.samples) == done

    def test_an_answer_in_flight_at_the_end_is_read_to_its_end(self, ca: Ca, servers: list[Server]) -> None:
        for server in servers:
            server.replies[PATHS[LEVELS]] = Reply(body=b"x", after_s=0.05)
            with net([reaching(server, ca)], FAST):
                wait_until(lambda one=server: asked(one, LEVELS))  # type: ignore[misc]
            time.sleep(0.5)
        # A machine that is very busy may miss the moment that there is.
        assert any(server.whole == len(server.seen) for server in servers)

    def test_a_reader_that_breaks_ends_nothing(
        self, ca: Ca, servers: list[Server], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(fleet, "AGAIN_S", 0.1)
        heard = Heard()

        def deliver(sample: Sample) -> None:
            heard.deliver(sample)
            if len(heard.samples) == 2:
                raise ZeroDivisionError

        whole = Net(
            ways(servers, ca), discover=False, manner=HASTY, first=FAST, deliver=deliver, tell=heard.news.append
        )
        whole.start()
        for way in ways(servers, ca):
            wait_until(lambda name=way.name: len(heard.of(LEVELS, replica=name)) > 3)  # type: ignore[misc]
        whole.stop()
        assert "ZeroDivisionError" in caplog.text


def objects(kind: str, *names: str) -> Reply:
    items = [{"metadata": {"name": name}} for name in names]
    body = {"kind": f"{kind}List", "apiVersion": "flowcontrol.apiserver.k8s.io/v1", "items": items}
    return Reply(body=json.dumps({**body, "metadata": {"resourceVersion": "1"}}).encode())


def serve_objects(server: Server) -> None:
    server.replies[GROUP] = Reply(body=json.dumps({"versions": [{"version": "v1"}]}).encode())
    server.replies[f"{GROUP}/v1/flowschemas"] = objects("FlowSchema", "global-default")
    server.replies[f"{GROUP}/v1/prioritylevelconfigurations"] = objects("PriorityLevelConfiguration", "exempt")


class TestObjects:
    def test_one_server_is_asked_and_the_answer_is_of_all(self, ca: Ca, servers: list[Server]) -> None:
        for server in servers:
            serve_objects(server)
        names = {way.name for way in ways(servers, ca)}
        with net(ways(servers, ca), FAST) as (_, heard):
            for endpoint in OBJECTS:
                wait_until(lambda one=endpoint: {sample.replica for sample in heard.of(one)} == names)  # type: ignore[misc]
        (flowschemas,) = [
            server for server in servers if any(seen.path.endswith("/flowschemas") for seen in server.seen)
        ]
        for sample in heard.of(*OBJECTS):
            assert sample.ok
            if sample.replica != f"127.0.0.1:{flowschemas.port}" and sample.endpoint is Endpoint.SCHEMAS:
                assert (sample.headers, sample.wire_bytes) == ((), 0)
        assert {sample.replica for sample in heard.of(Endpoint.DISCOVERY)} < names

    def test_a_refusal_is_of_all_too(self, ca: Ca, servers: list[Server]) -> None:
        names = {way.name for way in ways(servers, ca)}
        with net(ways(servers, ca), FAST) as (_, heard):
            wait_until(lambda: {sample.replica for sample in heard.of(Endpoint.SCHEMAS)} == names)
        assert {sample.status for sample in heard.of(Endpoint.SCHEMAS)} == {403}


def slices(*servers: Server) -> Reply:
    """The addresses of these servers, all on loopback, as a list of EndpointSlices."""
    items = [
        {"endpoints": [{"addresses": ["127.0.0.1"]}], "ports": [{"port": server.port, "protocol": "TCP"}]}
        for server in servers
    ]
    return Reply(body=json.dumps({"items": items}).encode())


class TestDiscovery:
    def test_the_replicas_found_are_asked_and_not_the_way(self, ca: Ca, servers: list[Server]) -> None:
        way, two, three = servers
        way.replies[SLICES] = slices(two, three)
        serve_objects(two)
        serve_objects(three)
        with net(ways([way], ca), FAST, discover=True) as (whole, heard):
            names = {f"127.0.0.1:{server.port}" for server in (two, three)}
            wait_until(lambda: {sample.replica for sample in heard.of(LEVELS)} == names)
            wait_until(lambda: {sample.replica for sample in heard.of(Endpoint.SCHEMAS)} == names)
            assert set(whole.replicas) == names
        assert {seen.path for seen in way.seen} == {SLICES}
        assert heard.news == []

    def test_where_it_is_forbidden_the_way_is_the_one_replica(self, ca: Ca, servers: list[Server]) -> None:
        with net(ways(servers[:1], ca), FAST, discover=True) as (whole, heard):
            wait_until(lambda: len(heard.of(LEVELS)) > 3)
            assert whole.replicas == (f"127.0.0.1:{servers[0].port}",)
        assert len(heard.news) == 1
        assert "endpointslices" in heard.news[0]

    def test_the_way_stands_in_while_it_takes_long(
        self, ca: Ca, servers: list[Server], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(fleet, "STAND_IN_S", 0.2)
        way, two, three = servers
        serve_objects(way)
        way.replies[SLICES] = replace(slices(two, three), after_s=1.5)
        with net(ways([way], ca), FAST, Manner(), discover=True) as (whole, heard):
            stand_in = f"127.0.0.1:{way.port}"
            wait_until(lambda: heard.of(LEVELS, replica=stand_in) and heard.of(Endpoint.SCHEMAS))
            names = {f"127.0.0.1:{server.port}" for server in (two, three)}
            wait_until(lambda: set(whole.replicas) == names)
            wait_until(lambda: {sample.replica for sample in heard.of(LEVELS)} == names | {stand_in})
            count = len(heard.of(LEVELS, replica=stand_in))
            # What was known of the objects is known of them too.
            wait_until(lambda: {sample.replica for sample in heard.of(Endpoint.SCHEMAS)} >= names)
            assert len(heard.of(LEVELS, replica=stand_in)) == count
        assert heard.news[-1].startswith("found and asked from now on: 127.0.0.1:")

    def test_one_that_is_found_later_is_asked_too(
        self, ca: Ca, servers: list[Server], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(fleet, "DISCOVER_EVERY_S", 0.3)
        way, two, three = servers
        for server in (two, three):
            serve_objects(server)
        way.replies[SLICES] = slices(two)
        with net(ways([way], ca), FAST, discover=True) as (_, heard):
            wait_until(lambda: heard.of(LEVELS) and len(heard.of(*OBJECTS)) >= 2)
            way.replies[SLICES] = slices(two, three)
            name = f"127.0.0.1:{three.port}"
            wait_until(lambda: heard.of(LEVELS, replica=name) and len(heard.of(*OBJECTS, replica=name)) >= 2)
            way.replies[SLICES] = slices(two)
            time.sleep(0.5)
            count = len(heard.of(LEVELS, replica=name))
            wait_until(lambda: len(heard.of(LEVELS, replica=name)) > count)
        assert heard.news == [f"found and asked from now on: {name}"]
        assert LEASES in {seen.path for seen in (*two.seen, *three.seen)}

    def test_one_that_is_no_address_any_more_and_does_not_answer_is_forgotten_in_the_end(
        self, ca: Ca, servers: list[Server], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(fleet, "DISCOVER_EVERY_S", 0.2)
        way, two, three = servers
        way.replies[SLICES] = slices(two, three)
        gone, stays = f"127.0.0.1:{three.port}", f"127.0.0.1:{two.port}"
        with net(ways([way], ca), FAST, discover=True) as (whole, heard):
            wait_until(lambda: heard.of(LEVELS, replica=gone))
            way.replies[SLICES] = slices(two)
            monkeypatch.setattr(fleet, "FORGET_S", 0.5)
            time.sleep(1.0)
            # It answers.
            assert set(whole.replicas) == {stays, gone}
            three.replies[PATHS[LEVELS]] = Reply(how="close")
            wait_until(lambda: whole.replicas == (stays,))
            count = len(heard.of(LEVELS, replica=stays))
            wait_until(lambda: len(heard.of(LEVELS, replica=stays)) > count)
        assert heard.news == [f"not asked any more, as no address of the cluster: {gone}"]

    @pytest.mark.parametrize("told", ["itself", "another name of it", "nobody"])
    def test_questions_for_the_addresses_are_ours_where_it_is_known_who_took_them(
        self, ca: Ca, servers: list[Server], monkeypatch: pytest.MonkeyPatch, told: str
    ) -> None:
        monkeypatch.setattr(fleet, "DISCOVER_EVERY_S", 0.2)
        way, other, _ = servers
        way.replies[SLICES] = slices(way) if told == "another name of it" else slices(other)
        if told == "itself":
            way.replies[SLICES] = Reply(403)
        way.replies[SLICES] = replace(way.replies[SLICES], headers=[("X-Kubernetes-PF-FlowSchema-UID", "a")])
        name = f"localhost:{way.port}" if told == "another name of it" else f"127.0.0.1:{way.port}"
        access = replace(reaching(way, ca), name=name, url=f"https://{name}")

        def counted(heard: Heard) -> set[str]:
            return {one.replica for one in heard.of(Endpoint.DISCOVERY) if one.header(FLOW_SCHEMA_UID)}

        with net([access], FAST, discover=True) as (_, heard):
            wait_until(lambda: len(heard.of(LEVELS)) > 10 and (told == "nobody" or counted(heard)))
        assert counted(heard) == (set() if told == "nobody" else {f"127.0.0.1:{way.port}"})

    def test_files_that_cannot_be_used_are_told(self, ca: Ca, servers: list[Server]) -> None:
        (way,) = ways(servers[:1], ca)
        with net([replace(way, ca_file="/no/such")], FAST, discover=True) as (_, heard):
            wait_until(lambda: heard.of(LEVELS))
        assert len(heard.news) == 1
        assert heard.news[0].startswith("CA file cannot be used")
