"""One server that is asked again and again over one connection."""

from __future__ import annotations

import asyncio
import hashlib
import json
import ssl
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise

import pytest

from apftop.access import Access, Headers
from apftop.fetch import Manner
from apftop.poll.lane import CAUSES
from apftop.poll.pace import Pace
from apftop.records.asking import Plan
from apftop.records.raw import Endpoint
from tests.poll.polling import HASTY, LONG_S, PATHS, asked, gaps, lane, until
from tests.reach.asking import reaching
from tests.reach.server import Ca, Reply, Server

LEVELS, QUEUES, REQUESTS, METRICS = Endpoint.LEVELS, Endpoint.QUEUES, Endpoint.REQUESTS, Endpoint.METRICS
FAST = Plan({LEVELS: 0.1})


def started(at: int) -> Reply:
    return Reply(headers=[("Process-Start-Time-Unix", str(at))])


class TestPace:
    async def test_each_lane_keeps_its_pace_in_order_over_one_connection(self, server: Server, access: Access) -> None:
        async with lane(access, Plan({METRICS: 0.4, REQUESTS: 0.4, LEVELS: 0.2})) as (_, heard):
            await until(lambda: len(heard.of(METRICS)) == 4)
        paths = [seen.path for seen in server.seen]
        assert paths[:3] == [PATHS[LEVELS], PATHS[REQUESTS], PATHS[METRICS]]
        for number, path in enumerate(paths):
            assert path != PATHS[METRICS] or paths[number - 1] == PATHS[REQUESTS]
        assert {seen.connection for seen in server.seen} == {1}
        assert min(gaps(asked(server, LEVELS))) > 0.15
        assert min(gaps(asked(server, METRICS))) > 0.3
        assert [sample.error for sample in heard.samples] == [""] * len(heard.samples)

    async def test_the_backend_is_asked_for_after_the_metrics_by_families_of_its_own(
        self, server: Server, access: Access
    ) -> None:
        manner = replace(HASTY, behind=("apiserver_request_total", "process_start_time_seconds"))
        plan = Plan(
            {METRICS: 0.2, Endpoint.BACKEND: 0.2}, families=("apiserver_flowcontrol_dispatched_requests_total",)
        )
        async with lane(access, plan, manner) as (_, heard):
            await until(lambda: len(heard.of(Endpoint.BACKEND)) == 3)
        asked_for = [seen.query.get("name[]") for seen in server.seen]
        # The first time, metrics are asked for in full.
        assert asked_for[:4] == [None, list(manner.behind), list(plan.families), list(manner.behind)]
        assert {seen.path for seen in server.seen} == {"/metrics"}
        assert all(sample.named for sample in heard.of(Endpoint.BACKEND))

    async def test_a_slow_answer_is_waited_for(self, server: Server, access: Access) -> None:
        server.replies[PATHS[METRICS]] = Reply(after_s=0.3)
        async with lane(access, Plan({LEVELS: 0.05, METRICS: 0.05})) as (_, heard):
            await until(lambda: len(heard.of(METRICS)) == 3)
        assert {seen.connection for seen in server.seen} == {1}
        for before, after in pairwise(heard.samples):
            assert before.received is not None and after.sent is not None
            assert before.received <= after.sent

    async def test_a_large_dump_waits_for_the_plan_that_knows_of_the_last_levels(
        self, server: Server, access: Access
    ) -> None:
        old = Plan({LEVELS: 0.3, REQUESTS: 0.3}, levels_at=1.0)
        async with lane(access, old) as (asking, heard):
            await until(lambda: len(heard.of(LEVELS)) == 1)
            await asyncio.sleep(0.2)
            assert heard.of(REQUESTS) == []
            asking.plan(replace(old, levels_at=heard.of(LEVELS)[0].received))
            await until(lambda: len(heard.of(REQUESTS)) == 1)
            await until(lambda: len(heard.of(LEVELS)) == 2)
            asking.plan(Plan({LEVELS: 0.3}, levels_at=heard.of(LEVELS)[1].received))
            await until(lambda: len(heard.of(LEVELS)) == 5)
        assert len(heard.of(REQUESTS)) == 1

    async def test_what_the_levels_call_for_is_asked_for_just_before_the_metrics(
        self, server: Server, access: Access, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("apftop.poll.lane.PLAN_WAIT_S", LONG_S)
        calm = Plan({LEVELS: 60.0, METRICS: 60.0}, levels_at=0.0)
        async with lane(access, calm) as (asking, heard):
            await until(lambda: heard.of(LEVELS))
            await asyncio.sleep(0.1)
            assert len(heard.samples) == 1
            every_s = {**calm.every_s, REQUESTS: 60.0}
            asking.plan(Plan(every_s, with_metrics={QUEUES: 60.0}, levels_at=heard.samples[0].received))
            await until(lambda: heard.of(METRICS))
        assert [seen.path for seen in server.seen] == [PATHS[one] for one in (LEVELS, QUEUES, REQUESTS, METRICS)]
        dump, metrics = heard.samples[2:]
        assert dump.begun is not None and dump.received is not None and metrics.sent is not None
        assert 0 <= metrics.sent - dump.received <= metrics.sent - dump.begun < 1.0

    async def test_metrics_are_asked_for_though_nobody_plans_by_the_levels(
        self, server: Server, access: Access
    ) -> None:
        async with lane(access, Plan({LEVELS: 0.1, METRICS: 0.1}, levels_at=1.0)) as (_, heard):
            await until(lambda: len(heard.of(METRICS)) == 2)

    async def test_no_large_dump_is_asked_for_by_levels_that_could_not_be_read_again(
        self, server: Server, access: Access
    ) -> None:
        plan = Plan({LEVELS: 0.2, REQUESTS: 0.2}, levels_at=1.0)
        async with lane(access, plan) as (asking, heard):
            await until(lambda: len(heard.of(LEVELS)) == 1)
            asking.plan(replace(plan, levels_at=heard.of(LEVELS)[0].received))
            await until(lambda: heard.of(REQUESTS))
            server.replies[PATHS[LEVELS]] = Reply(500)
            await until(lambda: heard.of(LEVELS)[-1].status == 500)
            count = len(heard.of(REQUESTS))
            await until(lambda: len(heard.of(LEVELS)) == 4)
        assert len(heard.of(REQUESTS)) == count

    async def test_the_same_plan_again_is_no_news(self, access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
        looks: list[float] = []
        due = Pace.due

        def counted(self: Pace, now: float, gone: Collection[Endpoint] = ()) -> tuple[Endpoint, ...]:
            looks.append(now)
            return due(self, now, gone)

        monkeypatch.setattr(Pace, "due", counted)
        async with lane(access, Plan({LEVELS: 60.0})) as (one, heard):
            await until(lambda: heard.of(LEVELS))
            await asyncio.sleep(0.05)
            before = len(looks)
            for _ in range(50):
                one.plan(Plan({LEVELS: 60.0}))
                await asyncio.sleep(0)
            assert len(looks) == before

    async def test_metrics_in_full_first_and_then_by_name(self, server: Server, access: Access) -> None:
        families = ("apiserver_flowcontrol_nominal_limit_seats", "process_start_time_seconds")
        async with lane(access, Plan({METRICS: 0.1}, families=families, whole_every_s=0.5)) as (_, heard):
            await until(lambda: [sample.named for sample in heard.samples].count(False) == 3)
        queries = [json.loads(sample.body)["query"] for sample in heard.samples]
        assert queries[:2] == [{}, {"name[]": list(families)}]
        assert [bool(query) for query in queries] == [sample.named for sample in heard.samples]
        first, second, _ = [number for number, sample in enumerate(heard.samples) if not sample.named]
        assert second - first >= 3

    async def test_a_new_plan_counts_at_once(self, server: Server, access: Access) -> None:
        async with lane(access, Plan({LEVELS: 60.0})) as (one, heard):
            await until(lambda: heard.of(LEVELS))
            one.plan(Plan({LEVELS: 60.0, QUEUES: 0.1, METRICS: 60.0}, families=("a",)))
            await until(lambda: len(heard.of(QUEUES)) > 2 and heard.of(METRICS))
            one.plan(Plan({METRICS: 60.0}))
            done = len(heard.samples)
            await asyncio.sleep(0.3)
        assert len(heard.samples) <= done + 1
        assert len(heard.of(LEVELS)) == 1

    async def test_what_a_new_plan_leaves_out_is_not_asked_in_the_round(self, server: Server, access: Access) -> None:
        server.replies[PATHS[LEVELS]] = Reply(after_s=0.3)
        async with lane(access, Plan({LEVELS: 60.0, REQUESTS: 60.0, METRICS: 60.0})) as (one, heard):
            await until(lambda: server.seen)
            one.plan(Plan({LEVELS: 60.0, METRICS: 60.0}))
            await until(lambda: heard.of(METRICS))
        assert not heard.of(REQUESTS)


class TestRest:
    @pytest.mark.parametrize("status", [429, 503])
    async def test_a_refusal_is_given_its_time(self, server: Server, access: Access, status: int) -> None:
        server.replies[PATHS[LEVELS]] = Reply(status, b"Too many requests", [("Retry-After", "1")])
        async with lane(access, Plan({LEVELS: 0.1, QUEUES: 0.1})) as (_, heard):
            await until(lambda: len(heard.of(LEVELS)) == 2)
        assert heard.samples[0].status == status
        assert [sample.error for sample in heard.samples[:2]] == ["", ""]
        refusals = asked(server, LEVELS)
        everything = asked(server, LEVELS, QUEUES)
        assert min(later - refusals[0] for later in everything if later > refusals[0]) >= 1.0

    async def test_a_long_wait_is_said_of_all_that_was_due(self, server: Server, access: Access) -> None:
        server.replies[PATHS[LEVELS]] = Reply(429, b"", [("Retry-After", "60")])
        async with lane(access, Plan({LEVELS: 0.1, QUEUES: 0.1, METRICS: 0.1})) as (_, heard):
            await until(lambda: len(heard.samples) == 3)
            await asyncio.sleep(0.3)
        assert len(server.seen) == 1
        assert [(sample.endpoint, sample.error) for sample in heard.samples] == [
            (LEVELS, ""),
            (QUEUES, "not asked: the server said to wait 60 s"),
            (METRICS, "not asked: the server said to wait 60 s"),
        ]

    async def test_what_is_left_time_after_time_says_so_too(self, server: Server, access: Access) -> None:
        server.replies[PATHS[LEVELS]] = Reply(429, b"", [("Retry-After", "1")])
        async with lane(access, Plan({LEVELS: 0.1, METRICS: 60.0})) as (one, heard):
            await until(lambda: heard.of(METRICS))
            assert len(asked(server, LEVELS)) == 2
            server.replies.clear()
            await asyncio.sleep(1.0)
            one.wake()
            await until(lambda: heard.of(METRICS)[-1].ok)
        assert heard.of(METRICS)[0].error == "not asked: the server said to wait 1 s"

    async def test_where_nothing_answers_all_that_is_due_says_so(self, server: Server, access: Access) -> None:
        server.replies[PATHS[LEVELS]] = Reply(how="hang")
        async with lane(access, Plan({LEVELS: 0.1, METRICS: 0.1})) as (_, heard):
            await until(lambda: len(heard.samples) >= 2)
        first, second = heard.samples[:2]
        assert (first.endpoint, second.endpoint) == (LEVELS, METRICS)
        assert first.error == second.error == f"no answer in 0.5 s: 127.0.0.1:{server.port}{PATHS[LEVELS]}"

    async def test_a_wake_ends_a_rest(self, server: Server, access: Access) -> None:
        server.replies[PATHS[LEVELS]] = Reply(429, b"", [("Retry-After", "3600")])
        async with lane(access, Plan({LEVELS: 0.1, METRICS: 60.0})) as (one, heard):
            await until(lambda: len(heard.samples) == 2)
            server.replies.clear()
            await asyncio.sleep(1.0)
            one.wake()
            await until(lambda: heard.of(METRICS)[-1].ok)
        assert len(server.seen) >= 3

    async def test_a_server_that_comes_back_is_asked_again(self, ca: Ca) -> None:
        with Server(ca) as gone:
            access = reaching(gone, ca)
            port = gone.port
        async with lane(access, Plan({LEVELS: 0.1, METRICS: 0.1})) as (_, heard):
            await until(lambda: len(heard.samples) >= 4)
            assert {sample.error for sample in heard.samples} == {f"connection refused: 127.0.0.1:{port}"}
            with Server(ca, port=port):
                await until(lambda: heard.of(LEVELS)[-1].ok and heard.of(METRICS)[-1].ok)

    async def test_certificates_are_read_anew_where_a_server_does_not_know_us(
        self, ca: Ca, server: Server, access: Access, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        folder = tmp_path_factory.mktemp("client")

        def write(name: str) -> None:
            chain, key = ca.client(name)
            (folder / "cert").write_bytes(chain)
            (folder / "key").write_bytes(key)

        write("ada")
        server.replies[PATHS[LEVELS]] = Reply(401)
        access = replace(access, cert_file=str(folder / "cert"), key_file=str(folder / "key"))
        async with lane(access, FAST) as (_, heard):
            await until(lambda: heard.samples)
            write("eve")
            server.replies.clear()
            await until(lambda: heard.samples[-1].ok)
        assert [server.seen[0].common_name, server.seen[-1].common_name] == ["ada", "eve"]

    async def test_a_credential_that_is_renewed_is_used_from_then_on(
        self, ca: Ca, server: Server, access: Access, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        pem = tmp_path_factory.mktemp("renewed") / "pem"
        pem.write_bytes(b"".join(ca.client("ada")))
        auth = Renewing()
        async with lane(replace(access, cert_file=str(pem), auth=auth), FAST) as (_, heard):
            await until(lambda: len(heard.samples) > 2)
            pem.write_bytes(b"".join(ca.client("eve")))
            auth.edition += 1
            await until(lambda: server.seen[-1].common_name == "eve")
            assert not auth.refusals
            server.replies[PATHS[LEVELS]] = Reply(401)
            await until(lambda: heard.samples[-1].status == 401)
        assert auth.refusals
        assert {(seen.connection, seen.common_name) for seen in server.seen} >= {(1, "ada"), (2, "eve")}


class Renewing:
    """An Auth that counts what a server says against it."""

    def __init__(self) -> None:
        self.edition = 0
        self.refusals = 0

    async def __call__(self) -> Headers:
        return ()

    def refused(self) -> None:
        self.refusals += 1


class TestFaults:
    async def test_files_that_cannot_be_used_are_samples_with_an_error(self, access: Access) -> None:
        async with lane(replace(access, ca_file="/no/such"), Plan({LEVELS: 0.1, METRICS: 0.1})) as (_, heard):
            await until(lambda: len(heard.samples) >= 2)
        assert {sample.error.partition(":")[0] for sample in heard.samples} == {
            "CA file cannot be used (no such file or directory)"
        }

    @pytest.mark.parametrize("fault", [ZeroDivisionError("secret"), asyncio.CancelledError()])
    async def test_whatever_goes_wrong_is_a_sample_with_an_error(
        self, access: Access, fault: BaseException, caplog: pytest.LogCaptureFixture
    ) -> None:
        faults = [fault]

        async def broken() -> Headers:
            if faults:
                raise faults.pop()
            return ()

        async with lane(replace(access, auth=broken), FAST) as (_, heard):
            await until(lambda: len(heard.samples) >= 2)
        assert heard.samples[0].error and "secret" not in heard.samples[0].error
        assert heard.samples[1].ok
        assert bool(caplog.records) == isinstance(fault, Exception)

    async def test_credentials_that_never_come(self, access: Access) -> None:
        async def never() -> Headers:
            return await asyncio.Future()

        async with lane(replace(access, auth=never), FAST, Manner(whole_s=0.2)) as (_, heard):
            await until(lambda: heard.samples)
        assert heard.samples[0].error.startswith("no credentials in 0.2 s: ")

    async def test_retired_it_ends_after_the_answer_in_flight(self, server: Server, access: Access) -> None:
        server.replies[PATHS[LEVELS]] = Reply(body=b"x" * 5_000_000, after_s=0.3)
        async with lane(access, Plan({LEVELS: 0.1, METRICS: 0.1})) as (one, heard):
            await until(lambda: server.seen)
            one.retire()
            await asyncio.sleep(1.0)
        assert heard.samples == []
        assert len(server.seen) == 1


class TestIdentity:
    async def test_the_certificate_is_in_each_sample(self, ca: Ca, server: Server, access: Access) -> None:
        certificate = ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", server.port)))
        async with lane(access, Plan({LEVELS: 0.1, METRICS: 0.1})) as (_, heard):
            await until(lambda: len(heard.samples) >= 4)
        assert {sample.peer for sample in heard.samples} == {hashlib.sha256(certificate).hexdigest()}
        assert heard.news == []

    async def test_another_start_time_is_told_once(self, server: Server, access: Access) -> None:
        plan = Plan({LEVELS: 0.1, METRICS: 0.1})
        async with lane(access, plan) as (_, heard):
            for start in (1, 2, 1, 2):
                server.replies[PATHS[METRICS]] = started(start)
                count = len(heard.of(METRICS))
                await until(lambda count=count: len(heard.of(METRICS)) > count + 1)  # type: ignore[misc]
        assert heard.news == [f"{access.name}: a server that started at another time answers now, {CAUSES}"]

    async def test_another_certificate_is_told_once(self, ca: Ca) -> None:
        with ExitStack() as stack:
            one = stack.enter_context(Server(ca))
            access = reaching(one, ca)
            one.replies[PATHS[METRICS]] = started(1)
            async with lane(access, Plan({LEVELS: 0.1, METRICS: 0.1})) as (_, heard):
                await until(lambda: heard.of(METRICS))
                stack.close()
                with Server(ca, port=one.port) as two:
                    two.replies[PATHS[METRICS]] = started(2)
                    await until(lambda: heard.of(METRICS)[-1].peer not in ("", heard.samples[0].peer))
        assert heard.news == [f"{access.name}: a server with another certificate answers now, {CAUSES}"]
