"""Webhooks and APIServices are asked of one server at the start, and then rarely; refusals are no reason to insist."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from apftop.access import Access
from apftop.poll import callbacks
from apftop.poll.callbacks import follow_callbacks
from apftop.records.raw import CALLBACKS, Endpoint, Sample
from tests.poll.polling import CALLBACKS as PATHS
from tests.poll.polling import HASTY, until
from tests.reach.asking import reaching
from tests.reach.server import Ca, Reply, Server

EMPTY = Reply(body=b'{"kind":"List","apiVersion":"v1","items":[]}')


@pytest.fixture
def other(ca: Ca) -> Iterator[Server]:
    with Server(ca) as running:
        yield running


def answering(server: Server, reply: Reply = EMPTY) -> None:
    for path in PATHS:
        server.replies[path] = reply


@asynccontextmanager
async def following(*accesses: Access) -> AsyncIterator[list[Sample]]:
    samples: list[Sample] = []
    task = asyncio.create_task(follow_callbacks(lambda: accesses, HASTY, samples.append))
    try:
        yield samples
        if task.done():
            task.result()
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_all_kinds_are_asked_for_once_over_one_connection_from_the_servers_memory(
    server: Server, access: Access, other: Server, ca: Ca
) -> None:
    answering(server)
    async with following(access, reaching(other, ca)) as samples:
        await until(lambda: len(samples) == 3)
        await asyncio.sleep(0.5)
    assert [(sample.endpoint, sample.status) for sample in samples] == [(one, 200) for one in CALLBACKS]
    assert [seen.path for seen in server.seen] == list(PATHS)
    assert {(seen.connection, *seen.query["resourceVersion"]) for seen in server.seen} == {(1, "0")}
    assert other.seen == []


async def test_they_are_asked_for_again_at_a_slow_pace(
    server: Server, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callbacks.EVERY_S == 600.0
    monkeypatch.setattr(callbacks, "EVERY_S", 0.3)
    answering(server)
    async with following(access) as samples:
        await until(lambda: len(samples) == 9)
    times = [seen.at for seen in server.seen if seen.path == PATHS[0]]
    assert times[1] - times[0] > 0.25


async def test_a_refusal_of_some_is_told_and_asked_about_no_more_often(
    server: Server, access: Access, other: Server, ca: Ca
) -> None:
    answering(server)
    server.replies[PATHS[2]] = Reply(403, b"no")
    async with following(access, reaching(other, ca)) as samples:
        await until(lambda: len(samples) == 3)
        await asyncio.sleep(0.5)
    assert [sample.status for sample in samples] == [200, 200, 403]
    assert other.seen == []


async def test_a_refusal_of_all_is_one_of_every_server(server: Server, access: Access, other: Server, ca: Ca) -> None:
    answering(server, Reply(403, b"no"))
    async with following(access, reaching(other, ca)) as samples:
        await until(lambda: len(samples) == 3)
        await asyncio.sleep(0.5)
    assert len(samples) == 3
    assert other.seen == []


@pytest.mark.parametrize("reply", [Reply(404), Reply(500), Reply(503), Reply(how="hang"), Reply(how="reset")])
async def test_the_next_server_is_asked_where_one_fails_or_has_none(
    server: Server, access: Access, other: Server, ca: Ca, reply: Reply
) -> None:
    answering(server, reply)
    answering(other)
    async with following(access, reaching(other, ca)) as samples:
        await until(lambda: sum(sample.status == 200 for sample in samples) == 3)
    assert [seen.path for seen in other.seen] == list(PATHS)


async def test_a_server_that_wants_to_be_left_alone_is_not_asked_for_the_rest(server: Server, access: Access) -> None:
    answering(server, Reply(429, b"", [("Retry-After", "3600")]))
    async with following(access) as samples:
        await until(lambda: samples)
        await asyncio.sleep(0.5)
    assert [(sample.endpoint, sample.status) for sample in samples] == [(Endpoint.VALIDATING, 429)]
