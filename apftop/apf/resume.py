"""A level that goes on from what a dump showed of it; what the dump hides is drawn at random."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from apftop.apf.estimate import EVENT_NS, WorkEstimate
from apftop.apf.objects import Queuing
from apftop.apf.queueset import QueueSet
from apftop.apf.service_times import ServiceTimes
from apftop.apf.simulate import SimulatedRequest


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One row of a dump: `queue` -1 for none, `start_ns` None while it waits. Nanoseconds of the server's clock."""

    queue: int
    arrive_ns: int
    start_ns: int | None
    cost: WorkEstimate
    flow_hash: int = 0


@dataclass(frozen=True, slots=True)
class SeenQueue:
    """One queue: its next dispatch R in units of 1e-8 seat-second, and its seats in use with those that linger."""

    next_dispatch_r: int
    seats_in_use: int


@dataclass(frozen=True, slots=True)
class SeenLevel:
    """A level at a moment `at_ns` of its server's clock. `r` is its virtual time then, in units of 1e-8 seat-second.

    `requests` are the waiting ones in the order of their queues, and the executing ones; `queues` are all, by index.
    There may be more than `queuing` has, of a level that had more before and is not rid of them yet. `lazy_limit_ns` is
    for servers of up to 1.28.4 (see `QueueSet`).
    """

    at_ns: int
    queuing: Queuing | None
    limit: int
    r: int
    queues: Sequence[SeenQueue]
    requests: Sequence[SeenRequest]
    exempt: bool = False
    lazy_limit_ns: int | None = None


def resume(
    seen: SeenLevel, service: ServiceTimes, rng: random.Random, wait_limit_ns: int | None = None
) -> tuple[QueueSet[SimulatedRequest], list[SimulatedRequest]]:
    """The level as it was seen, and the requests in it, in the order seen; lingering ones, which no dump lists, last.

    Drawn at random: the card that the next hand begins with, the round-robin index, what the executing requests still
    take given their age, and how long seats linger on. The virtual time at which a waiting request came is reckoned
    back at the present rate. Raises ValueError for fewer queues than are configured, and for a row whose queue is not
    there.
    """
    level = _level(seen)
    level.r = seen.r
    if level.queues:
        level.robin = rng.randrange(len(level.queues))
    if seen.queuing:
        level.arrivals = rng.randrange(seen.queuing.hand_size)
    for queue, shown in zip(level.queues, seen.queues, strict=True):
        queue.next_dispatch_r = shown.next_dispatch_r
    executing = [row.start_ns for row in seen.requests if row.start_ns is not None]
    whole = iter(service.draws(rng, len(seen.requests) - len(executing)))
    rest = iter(service.draws_beyond(rng, [max(0, seen.at_ns - start) for start in executing]))
    rate = _rate(seen)
    requests = [
        _request(seen, row, rate, next(whole if row.start_ns is None else rest), wait_limit_ns) for row in seen.requests
    ]
    for request, row in zip(requests, seen.requests, strict=True):
        if row.queue >= len(seen.queues):
            raise ValueError(f"a request in queue {row.queue} of {len(seen.queues)}")
        level.take_in(request, row.queue)
    latency = max((row.cost.additional_latency_ns for row in seen.requests), default=0) or EVENT_NS
    for index, shown in enumerate(seen.queues):
        seats = shown.seats_in_use - level.queues[index].seats_in_use
        if seats > 0:
            lingering = _lingering(seen.at_ns, seats, rng.randint(1, latency))
            level.take_in(lingering, index)
            requests.append(lingering)
    return level, requests


def _level(seen: SeenLevel) -> QueueSet[SimulatedRequest]:
    """The level without its requests."""
    queues = len(seen.queues)
    if seen.queuing and queues < seen.queuing.queues:
        raise ValueError(f"{queues} queues were seen of {seen.queuing.queues}")
    had = Queuing(queues, 1, 1) if queues else None
    level: QueueSet[SimulatedRequest] = QueueSet(had, seen.limit, seen.at_ns, lazy_limit_ns=seen.lazy_limit_ns)
    level.reconfigure(seen.at_ns, seen.queuing, seen.limit, exempt=seen.exempt)
    return level


def _request(
    seen: SeenLevel, row: SeenRequest, rate: float, service_ns: int, wait_limit_ns: int | None
) -> SimulatedRequest:
    request = SimulatedRequest(
        row.arrive_ns,
        service_ns,
        flow_hash=row.flow_hash,
        initial_seats=row.cost.initial_seats,
        final_seats=row.cost.final_seats,
        additional_latency_ns=row.cost.additional_latency_ns,
        # One that should have gone by now goes at once.
        time_out_ns=None if wait_limit_ns is None else max(seen.at_ns + 1, row.arrive_ns + wait_limit_ns),
    )
    if row.start_ns is None:
        request.state = "waiting"
        request.arrival_r = max(0, seen.r - int(rate * (seen.at_ns - row.arrive_ns) / 10))
    else:
        request.state = "executing"
        request.start_ns = row.start_ns
    return request


def _rate(seen: SeenLevel) -> float:
    """Seats by which R grows, for each active queue."""
    active = len({row.queue for row in seen.requests if row.queue >= 0})
    in_use = sum(queue.seats_in_use for queue in seen.queues)
    waiting = sum(row.cost.width for row in seen.requests if row.start_ns is None)
    return min(in_use + waiting, seen.limit) / active if active else 0.0


def _lingering(now_ns: int, seats: int, left_ns: int) -> SimulatedRequest:
    request = SimulatedRequest(now_ns, 0, initial_seats=seats, final_seats=seats, additional_latency_ns=left_ns)
    request.state = "lingering"
    request.start_ns = request.end_ns = now_ns
    return request
