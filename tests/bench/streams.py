"""Streams of requests at one level, from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from apftop.apf.objects import Queuing
from apftop.apf.queueset import QueueSet
from apftop.apf.shards import flow_hash
from apftop.apf.simulate import SimulatedRequest

SERVICE_NS = 50_000_000


@dataclass(frozen=True)
class Stream:
    """Poisson arrivals of equal flows with exponential service times, offered at `load` times the limit.

    `waiting` requests arrive at once at the start.
    """

    queuing: Queuing
    limit: int
    requests: int
    load: float = 1.05
    flows: int = 12
    widths: Sequence[int] = (1,)
    waiting: int = 0
    seed: int = 1

    def make(self) -> Iterator[SimulatedRequest]:
        rng = random.Random(self.seed)
        hashes = [flow_hash("service-accounts", f"user-{index}") for index in range(self.flows)]
        width = sum(self.widths) / len(self.widths)
        gap = SERVICE_NS * width / (self.load * self.limit)
        now = 0.0
        for number in range(self.requests):
            now += rng.expovariate(1 / gap) if number >= self.waiting else 0.0
            yield SimulatedRequest(
                int(now),
                int(rng.expovariate(1 / SERVICE_NS)),
                flow_hash=rng.choice(hashes),
                initial_seats=rng.choice(self.widths),
            )

    def level(self) -> QueueSet[SimulatedRequest]:
        return QueueSet(self.queuing, self.limit)


def drive(queue_set: QueueSet[SimulatedRequest], requests: list[SimulatedRequest]) -> None:
    """Arrive, dispatch, finish with the least that a clock needs."""
    ends: list[tuple[int, int, SimulatedRequest]] = []
    for request in requests:
        now = request.arrive_ns
        while ends and ends[0][0] <= now:
            at, _, done = heappop(ends)
            for one in queue_set.finish(at, done):
                heappush(ends, (at + one.service_ns, id(one), one))
        for one in queue_set.arrive(now, request):
            heappush(ends, (now + one.service_ns, id(one), one))
