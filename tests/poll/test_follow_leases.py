"""Leases are asked of one server at a time, each now and then; the next one is asked where one fails."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from apftop.access import Access
from apftop.poll import leases
from apftop.poll.leases import follow_leases
from apftop.records.raw import Endpoint, Sample
from tests.poll.polling import HASTY, LEASES, until
from tests.reach.asking import reaching
from tests.reach.credentials import config, exec_user, from_kubeconfig, plugin
from tests.reach.server import Ca, Reply, Server


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "EVERY_S", 0.1)


@pytest.fixture
def other(ca: Ca) -> Iterator[Server]:
    with Server(ca) as running:
        yield running


@asynccontextmanager
async def following(*accesses: Access) -> AsyncIterator[list[Sample]]:
    samples: list[Sample] = []
    task = asyncio.create_task(follow_leases(lambda: accesses, HASTY, samples.append))
    try:
        yield samples
        if task.done():
            task.result()
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def settled(count: Callable[[], int]) -> int:
    """What a count is, and still is after a moment."""
    before = count()
    await asyncio.sleep(0.5)
    assert count() == before
    return before


async def test_again_and_again_over_one_connection(server: Server, access: Access) -> None:
    server.replies[LEASES] = Reply(body=b'{"items":[]}', headers=[("Date", "Tue, 15 Nov 1994 12:45:26 GMT")])
    async with following(access) as samples:
        await until(lambda: len(samples) > 3)
    assert {(sample.endpoint, sample.body, sample.server_date) for sample in samples} == {
        (Endpoint.LEASES, b'{"items":[]}', 784903526)
    }
    assert {(seen.path, *seen.query["resourceVersion"]) for seen in server.seen} == {(LEASES, "0")}
    assert {seen.connection for seen in server.seen} == {1}


@pytest.mark.parametrize("status", [403, 404])
async def test_a_refusal_is_delivered_and_asked_about_seldom(server: Server, access: Access, status: int) -> None:
    server.replies[LEASES] = Reply(status, b"no")
    async with following(access) as samples:
        await until(lambda: samples)
        assert await settled(lambda: len(samples)) == 1
    assert (samples[0].status, samples[0].body) == (status, b"no")


async def test_the_pause_that_a_server_asks_for_is_kept(server: Server, access: Access) -> None:
    server.replies[LEASES] = Reply(429, b"", [("Retry-After", "3600")])
    async with following(access) as samples:
        await until(lambda: samples)
        assert await settled(lambda: len(samples)) == 1


@pytest.mark.parametrize("reply", [Reply(404), Reply(500), Reply(503), Reply(how="hang"), Reply(how="reset")])
async def test_the_next_server_is_asked_where_one_fails(
    server: Server, access: Access, other: Server, ca: Ca, reply: Reply
) -> None:
    async with following(access, reaching(other, ca)) as samples:
        await until(lambda: len(samples) > 2)
        server.replies[LEASES] = reply
        await until(lambda: len(other.seen) > 2)
        count = len(server.seen)
        await until(lambda: len(other.seen) > 4)
        assert len(server.seen) == count


async def test_where_none_answers_they_are_asked_seldom(
    server: Server, access: Access, other: Server, ca: Ca, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "EVERY_S", 3600.0)
    server.replies[LEASES] = other.replies[LEASES] = Reply(500)
    async with following(access, reaching(other, ca)) as samples:
        await until(lambda: len(samples) == 2)
        assert await settled(lambda: len(samples)) == 2


async def test_files_that_cannot_be_used_are_told(access: Access) -> None:
    async with following(replace(access, ca_file="/no/such")) as samples:
        await until(lambda: samples)
    assert samples[0].error.startswith("CA file cannot be used")


async def test_a_new_client_certificate_is_shown_to_the_server(
    server: Server, ca: Ca, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apftop.kubeconfig.PAUSE_S", 0.0)
    pairs = [tuple(blob.decode() for blob in ca.client(name)) for name in ("first", "second")]
    code = (
        f"runs = {str(tmp_path / 'runs')!r}\n"
        "n = os.path.exists(runs)\n"
        "open(runs, 'w')\n"
        f"cert, key = {pairs!r}[n]\n"
        "give(clientCertificateData=cert, clientKeyData=key)"
    )
    (tmp_path / "config").write_text(json.dumps(config(server, ca, exec_user(plugin(tmp_path, code)))))
    access = from_kubeconfig(str(tmp_path / "config"))
    async with following(access):
        await until(lambda: server.seen)
        access.refused()
        await until(lambda: server.seen[-1].common_name == "second")
