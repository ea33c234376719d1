"""Windows of simulated levels, fair or first come, first served, in many situations: what dumps would show of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from apftop.apf.objects import Meta, PriorityLevelConfiguration, Queuing
from apftop.apf.queueset import QueueSet
from apftop.apf.shards import flow_hash
from apftop.apf.simulate import Event, SimulatedRequest, Simulation
from apftop.check.window import Instant, LevelWindow
from apftop.records.parsed import Details, RequestRow
from tests.check.build import a_level, a_point
from tests.crosscheck.fifo import Fifo

LEVEL = SCHEMA = "load"
NS = 10**9
EPOCH_NS = 1_700_000_000 * NS
WINDOW_S = 10.0

BACK_OFF_S = 0.2
"""A closed loop pauses for longer after a refusal."""

Dump = tuple[int, tuple[RequestRow, ...]]
"""The time in nanoseconds, and the rows of the level."""

Shape = Literal["exponential", "constant", "spread", "two kinds"]


@dataclass(frozen=True)
class Client:
    """One flow: `population` requests under way in a closed loop, else batches at random with `rate` requests a second.

    `think_s` is the mean pause of a closed loop, `batch` how many come at once, `service_s` the mean time of a request,
    which is `shape`d, and `seats` how wide it is. With `linger_s` it is that wide only at its end, and so long. It is
    there from `begins_s` to `ends_s`.
    """

    flow: str
    rate: float = 0.0
    population: int = 0
    think_s: float = 0.0
    batch: int = 1
    service_s: float = 0.2
    shape: Shape = "exponential"
    seats: int = 1
    linger_s: float = 0.0
    begins_s: float = 0.0
    ends_s: float = 1e9

    def draw_service_s(self, rng: random.Random) -> float:
        match self.shape:
            case "exponential":
                return rng.expovariate(1 / self.service_s)
            case "constant":
                return self.service_s
            case "spread":
                return self.service_s * rng.lognormvariate(-0.5, 1.0)
            case "two kinds":
                return self.service_s * (0.2 if rng.random() < 0.9 else 8.2)


@dataclass(frozen=True)
class Situation:
    """One level and its clients. `every_s` is the time from dump to dump, `wait_limit_s` how long requests wait."""

    kind: str
    limit: int
    queuing: Queuing
    clients: tuple[Client, ...]
    every_s: float = 2.0
    wait_limit_s: float = 15.0

    @property
    def config(self) -> PriorityLevelConfiguration:
        return PriorityLevelConfiguration(Meta(LEVEL), False, 30, 0, 0, self.queuing)


class Sent(SimulatedRequest):
    """A request that knows its client."""

    __slots__ = ("client",)

    def __init__(self, arrive_ns: int, service_ns: int, client: Client, wait_limit_ns: int) -> None:
        narrow = client.linger_s > 0
        super().__init__(
            arrive_ns,
            service_ns,
            flow_hash=flow_hash(SCHEMA, client.flow),
            initial_seats=1 if narrow else client.seats,
            final_seats=client.seats if narrow else 0,
            additional_latency_ns=round(client.linger_s * NS),
            time_out_ns=arrive_ns + wait_limit_ns,
        )
        self.client = client


class Run:
    """One situation on one server, from an empty level on."""

    def __init__(self, situation: Situation, seed: int, *, fair: bool) -> None:
        self.situation = situation
        self.rng = random.Random(f"{seed}/{situation.kind}")
        self.level: QueueSet[Sent] = (QueueSet if fair else Fifo)(situation.queuing, situation.limit)
        self.simulation = Simulation(self.level, self._after)  # type: ignore[arg-type]
        self.inside: dict[int, Sent] = {}

    def dumps(self, seconds: float) -> list[Dump]:
        """Dumps over so many seconds, after a quarter of that in which the level fills."""
        found: list[Dump] = []
        at, end = seconds / 4, seconds * 5 / 4
        while at < end:
            self.simulation.look_at(round(at * NS), lambda now: found.append((now, self._rows())))
            at += self.situation.every_s * self.rng.uniform(0.8, 1.4)
        for client in self.situation.clients:
            for _ in range(client.population):
                begin = client.begins_s + self.rng.random() * (client.think_s + 0.2)
                self._send_at(round(begin * NS), client)
        self.simulation.run(self._open_loops(end), round(end * NS))
        return found

    def _open_loops(self, end_s: float) -> Iterator[Sent]:
        moments = []
        for client in self.situation.clients:
            if client.population:
                continue
            each_s = client.batch / client.rate
            at = client.begins_s + self.rng.expovariate(1 / each_s)
            while at < min(client.ends_s, end_s):
                moments += [(round(at * NS) + self.rng.randrange(1000), client) for _ in range(client.batch)]
                at += self.rng.expovariate(1 / each_s)
        for moment, client in sorted(moments, key=lambda one: one[0]):
            yield self._request(moment, client)

    def _request(self, at_ns: int, client: Client) -> Sent:
        service_ns = max(1, round(client.draw_service_s(self.rng) * NS))
        request = Sent(at_ns, service_ns, client, round(self.situation.wait_limit_s * NS))
        self.inside[id(request)] = request
        return request

    def _send_at(self, at_ns: int, client: Client) -> None:
        """One more request of a closed loop."""
        if at_ns >= client.ends_s * NS:
            return

        def come(now: int) -> Sequence[Sent]:
            request = self._request(now, client)
            started = self.level.arrive(now, request)
            if request.state == "refused":
                self._done(request, now)
            elif request.state == "waiting":
                self.simulation.go_on(request)
            return started

        self.simulation.change_at(at_ns, come)

    def _after(self, at: int, event: Event, request: SimulatedRequest | None, started: Sequence[object]) -> None:
        if isinstance(request, Sent) and (event in ("finish", "time-out") or request.state == "refused"):
            self._done(request, at)

    def _done(self, request: Sent, at: int) -> None:
        del self.inside[id(request)]
        client = request.client
        if client.population:
            pause = self.rng.expovariate(1 / client.think_s) if client.think_s else 0.0
            served = request.state not in ("refused", "gone")
            self._send_at(at + 1 + round((pause if served else pause + BACK_OFF_S) * NS), client)

    def _rows(self) -> tuple[RequestRow, ...]:
        places = {id(one): at for queue in self.level.queues for at, one in enumerate(queue.waiting)}
        return tuple(
            _row(request, places.get(id(request), -1))
            for request in self.inside.values()
            if request.state in ("waiting", "executing")
        )


def _row(request: Sent, place: int) -> RequestRow:
    flow = request.client.flow
    return RequestRow(
        level=LEVEL,
        schema=SCHEMA,
        queue=request.queue.index if request.queue else -1,
        index=place,
        distinguisher=flow,
        arrive_ns=EPOCH_NS + request.arrive_ns,
        initial_seats=request.initial_seats,
        final_seats=request.final_seats,
        additional_latency_ns=request.additional_latency_ns,
        additional_latency="",
        start_ns=EPOCH_NS + request.start_ns if place < 0 else None,
        details=Details(flow, "create", "/api/v1/configmaps", "", "", "v1", "configmaps", ""),
    )


def windows(situation: Situation, seed: int, *, fair: bool, count: int = 5) -> list[LevelWindow]:
    """So many windows, one after the other, of what dumps show."""
    dumps = Run(situation, seed, fair=fair).dumps(count * (WINDOW_S + 2 * situation.every_s))
    found: list[LevelWindow] = []
    start = 0
    for at, (now, _) in enumerate(dumps):
        if now - dumps[start][0] >= WINDOW_S * NS:
            found.append(_window(situation, dumps[start : at + 1]))
            start = at + 1
            if start >= len(dumps):
                break
    return found[:count]


def _window(situation: Situation, dumps: Sequence[Dump]) -> LevelWindow:
    instants = tuple(_instant(situation, number, EPOCH_NS + at, rows) for number, (at, rows) in enumerate(dumps, 1))
    return LevelWindow(LEVEL, instants, (dumps[-1][0] - dumps[0][0]) / NS)


def _instant(situation: Situation, number: int, at_ns: int, rows: tuple[RequestRow, ...]) -> Instant:
    level = a_level(current=float(situation.limit))
    point = a_point(level, rows, name=LEVEL, config=situation.config, number=number)
    return Instant(point, level, rows, at_ns / NS, at_ns / NS)
