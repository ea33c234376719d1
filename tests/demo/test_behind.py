"""What the demo tells of what lies behind its queues, by the tool's own ways of asking."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from apftop.access import Access, server_name
from apftop.demo.running import Demo, start_demo
from apftop.derive.frame import frame
from apftop.fetch import Manner, ask, path_of
from apftop.live import fold
from apftop.parse.body import picker_of_behind
from apftop.parse.vocabulary import behind_names
from apftop.poll.callbacks import ask_callbacks
from apftop.records.raw import Endpoint, Sample
from apftop.session import open_session
from tests.demo.planes import HOT, HandClock, at, live

MANNER = Manner(behind=behind_names(), behind_picker=picker_of_behind)


@pytest.fixture
def rushing() -> Iterator[tuple[Demo, HandClock]]:
    clock = HandClock()
    demo = start_demo("rush", seed=5, clock=clock)
    yield demo, clock
    demo.stop()


def access(demo: Demo) -> Access:
    return Access(server_name(demo.urls[HOT]), demo.urls[HOT])


def backend(demo: Demo) -> Sample:
    async def asked() -> Sample:
        async with open_session(access(demo)) as session:
            path = path_of(Endpoint.BACKEND, MANNER)
            return (await ask(session, access(demo), Endpoint.BACKEND, MANNER, path))[0]

    return asyncio.run(asked())


def test_codes_and_storage_are_those_of_the_simulation(rushing: tuple[Demo, HandClock]) -> None:
    demo, clock = rushing
    server = demo.plane.servers[HOT]
    samples, counted = [], []
    for seconds in (25.0, 35.0):
        live(server, seconds)
        clock.now = at(seconds)
        samples.append(backend(demo))
        storage = [(one.count, one.sum) for key, one in server.traffic.storage.items() if key[0] == "get"]
        counted.append((sum(count for count, _ in storage), sum(total for _, total in storage)))
    (replica,) = frame(fold(samples)).replicas.values()

    assert replica.backend is not None
    assert replica.backend.requests[200] > 0
    assert replica.backend.terminations.get(429) == replica.backend.requests.get(429)
    got = replica.backend.etcd["get"]
    (was, was_s), (now, now_s) = counted
    assert got.count == now - was > 0
    assert got.mean_s == pytest.approx((now_s - was_s) / (now - was))
    assert got.usual_s == pytest.approx(was_s / was)


def test_nothing_is_called_while_requests_are_served(rushing: tuple[Demo, HandClock]) -> None:
    async def asked() -> list[Sample]:
        async with open_session(access(rushing[0])) as session:
            samples, answered = await ask_callbacks(session, access(rushing[0]), MANNER)
            assert answered
            return samples

    samples = asyncio.run(asked())
    assert [sample.status for sample in samples] == [200, 200, 200]
    assert frame(fold(samples)).callbacks == ()
