"""Servers to poll, a lane or all of the network side at work, and what they delivered."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

from apftop.access import Access
from apftop.fetch import Manner
from apftop.poll.lane import Lane
from apftop.poll.net import Net
from apftop.poll.pace import Pace
from apftop.records.asking import Plan
from apftop.records.raw import Endpoint, Sample
from apftop.session import names_of
from tests.reach.asking import GROUP
from tests.reach.server import Reply, Server

PREFIX = "/debug/api_priority_and_fairness/"
PATHS = {
    Endpoint.LEVELS: f"{PREFIX}dump_priority_levels",
    Endpoint.QUEUES: f"{PREFIX}dump_queues",
    Endpoint.REQUESTS: f"{PREFIX}dump_requests",
    Endpoint.METRICS: "/metrics",
}
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
CALLBACKS = (
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "/apis/apiregistration.k8s.io/v1/apiservices",
)
HASTY = Manner(connect_s=0.5, first_byte_s=0.5)
LONG_S = 20.0
"""Longer than anything here takes on a busy machine."""


@dataclass
class Heard:
    """What was delivered and told, by whatever thread."""

    samples: list[Sample] = field(default_factory=list)
    news: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    def of(self, *endpoints: Endpoint, replica: str = "") -> list[Sample]:
        return [
            sample for sample in tuple(self.samples) if sample.endpoint in endpoints and replica in ("", sample.replica)
        ]

    def deliver(self, sample: Sample) -> None:
        self.names.add(threading.current_thread().name)
        self.samples.append(sample)


def forbid_the_rest(server: Server) -> None:
    """Refuse objects, callbacks, leases and addresses, so that only lanes ask on."""
    for path in (
        GROUP,
        SLICES,
        LEASES,
        *CALLBACKS,
        *(f"{GROUP}/v1/{name}" for name in ("flowschemas", "prioritylevelconfigurations")),
    ):
        server.replies[path] = Reply(403)


def asked(server: Server, *endpoints: Endpoint) -> list[float]:
    """When the server was asked for one of these."""
    paths = {PATHS[endpoint] for endpoint in endpoints}
    return [seen.at for seen in tuple(server.seen) if seen.path in paths]


def gaps(times: Sequence[float]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(times)]


@asynccontextmanager
async def lane(access: Access, plan: Plan, manner: Manner = HASTY) -> AsyncIterator[tuple[Lane, Heard]]:
    """One lane at work."""
    heard = Heard()
    one = Lane(access, manner, Pace(plan, time.monotonic()), names_of(manner), heard.deliver, heard.news.append)
    task = asyncio.create_task(one.run())
    try:
        yield one, heard
        if task.done():
            task.result()
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@contextmanager
def net(
    ways: Sequence[Access], plan: Plan, manner: Manner = HASTY, *, discover: bool = False
) -> Iterator[tuple[Net, Heard]]:
    """All of the network side at work, in its thread."""
    heard = Heard()
    whole = Net(ways, discover=discover, manner=manner, first=plan, deliver=heard.deliver, tell=heard.news.append)
    whole.start()
    try:
        yield whole, heard
    finally:
        whole.stop()


async def until(true: Callable[[], object]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + LONG_S
    while not true():
        assert time.monotonic() < end, "it did not come about"
        await asyncio.sleep(0.01)


def wait_until(true: Callable[[], object]) -> None:
    """Wait, in a thread, until something holds."""
    end = time.monotonic() + LONG_S
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)
