"""Simulated levels with clients that stall and come back together, as tracks: what dumps and metrics show of them."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from apftop.apf.objects import Queuing
from apftop.apf.queueset import QueueSet
from apftop.apf.shards import flow_hash
from apftop.apf.simulate import Event, SimulatedRequest, Simulation
from apftop.check.instants import births
from apftop.check.point import LevelPoint, Point, Track
from apftop.check.window import window
from apftop.derive.queues import SEAT_SECOND
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import Histogram, QueueRow, RequestRow
from tests.check.build import LEVEL, REQUEST_BOUNDS, SECONDS_BOUNDS, WIDTH_BOUNDS, a_config, a_level, a_point, a_row

STEP_S = 2.0
"""Service drifts by steps of this length."""


@dataclass(frozen=True)
class Shape:
    """One level and its clients.

    `crowd` requests of one flow are under way in a closed loop, from a client that stalls now and then and sends all
    that is due when it comes back; each of `light` flows sends one request a second at random, and `burst` of them come
    at once, over all flows, about every five seconds. Service takes `service_s` on average, exponentially, and drifts
    by 25%. Metrics are read every `every_s` or so, up to `lag_s` or so after a dump. Some requests have `final` seats.
    """

    limit: int = 10
    queuing: Queuing = Queuing(16, 4, 12)  # noqa: RUF009  frozen
    crowd: int = 24
    light: int = 6
    burst: int = 0
    service_s: float = 0.3
    drift: float = 0.25
    stall_s: float = 0.3
    every_s: float = 3.0
    lag_s: float = 0.1
    final: int = 0
    wait_limit_s: float = 15.0


def tracks(shape: Shape, seed: int, seconds: float = 70.0) -> Iterator[Track]:
    """The track of such a level after each answer of its metrics, from when its load has begun."""
    points: tuple[Point, ...] = ()
    born: dict[str, float] = {}
    for number, point in enumerate(_Server(shape, seed).points(seconds), 1):
        point = replace(point, number=number)
        born = births(born, point)
        points = window(Track((*points, point)))
        yield Track(points, born)


@dataclass
class _Counted:
    """One histogram as it fills."""

    bounds: tuple[float, ...]

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.bounds) + 1)
        self.sum = 0.0

    def add(self, value: float, times: int = 1) -> None:
        self.counts[bisect_left(self.bounds, value)] += times
        self.sum += value * times

    def read(self) -> Histogram:
        cumulative = tuple(sum(self.counts[: at + 1]) for at in range(len(self.counts)))
        return Histogram(cumulative[-1], self.sum, self.bounds, cumulative)


class _Sent(SimulatedRequest):
    __slots__ = ("flow",)

    flow: str


class _Server:
    def __init__(self, shape: Shape, seed: int) -> None:
        self.shape = shape
        self.rng = random.Random(f"{seed}/{shape}")
        self.level: QueueSet[_Sent] = QueueSet(shape.queuing, shape.limit)
        self.simulation = Simulation(self.level, self._after)  # type: ignore[arg-type]
        self.inside: dict[int, _Sent] = {}
        self.last_ns = 0
        self.widths, self.waits, self.execution = map(_Counted, (WIDTH_BOUNDS, SECONDS_BOUNDS, SECONDS_BOUNDS))
        self.waiting_time, self.executing_time = _Counted(REQUEST_BOUNDS), _Counted(REQUEST_BOUNDS)
        self.dispatched = self.timed_out = self.refused = 0
        self.drift = 1.0
        self.stalled_until_ns = 0

    def points(self, seconds: float) -> Iterator[Point]:
        found: list[Point] = []
        at = 1.0
        while at < seconds:
            self._look(at, found)
            at += self.rng.uniform(0.5, 2.0) * self.shape.every_s
        for _ in range(self.shape.crowd):
            self._send("elephant", self.rng.random())
        for flow in range(self.shape.light):
            self._again(f"mouse{flow}", 0.0)
        self._drift(0.0)
        self._stall(self.rng.expovariate(0.2))
        if self.shape.burst:
            self._burst(self.rng.expovariate(0.2))
        end = round(seconds * NANOSECONDS)
        self.simulation.run((), end)
        yield from found

    def _look(self, at: float, found: list[Point]) -> None:
        """A dump of queues, one of requests, and then metrics."""
        lag = min(self.rng.expovariate(1 / self.shape.lag_s), 5 * self.shape.lag_s)
        queues: list[tuple[QueueRow, ...]] = []
        rows: list[tuple[RequestRow, ...]] = []
        self._at(at - self.rng.random() * self.shape.lag_s, lambda _: queues.append(self._queue_rows()))
        self._at(at, lambda _: rows.append(self._rows()))
        self._at(
            at + lag,
            lambda now: found.append(
                a_point(
                    self._metrics(now),
                    rows.pop(),
                    lag_s=now / NANOSECONDS - at,
                    config=a_config(
                        queues=self.shape.queuing.queues,
                        hand=self.shape.queuing.hand_size,
                        length=self.shape.queuing.queue_length_limit,
                    ),
                    queue_rows=queues.pop(),
                )
            ),
        )

    def _at(self, seconds: float, look: object) -> None:
        self.simulation.look_at(round(seconds * NANOSECONDS), look)  # type: ignore[arg-type]

    def _drift(self, at: float) -> None:
        def change(now: int) -> Sequence[_Sent]:
            self.drift = max(0.3, self.rng.gauss(1.0, self.shape.drift))
            self._drift(now / NANOSECONDS + STEP_S)
            return ()

        self._change(at, change)

    def _stall(self, at: float) -> None:
        def change(now: int) -> Sequence[_Sent]:
            for_s = self.rng.expovariate(1 / self.shape.stall_s) if self.shape.stall_s else 0.0
            self.stalled_until_ns = now + round(for_s * NANOSECONDS)
            self._stall(now / NANOSECONDS + for_s + self.rng.expovariate(0.2))
            return ()

        self._change(at, change)

    def _burst(self, at: float) -> None:
        def change(now: int) -> Sequence[_Sent]:
            for _ in range(self.rng.randint(1, self.shape.burst)):
                self._send(
                    f"mouse{self.rng.randrange(max(1, self.shape.light))}", now / NANOSECONDS + self.rng.random() * 0.05
                )
            self._burst(now / NANOSECONDS + self.rng.expovariate(0.2))
            return ()

        self._change(at, change)

    def _again(self, flow: str, after: float) -> None:
        def change(now: int) -> Sequence[_Sent]:
            self._again(flow, now / NANOSECONDS)
            return ()

        at = after + self.rng.expovariate(1.0)
        self._send(flow, at)
        self._change(at, change)

    def _change(self, at: float, change: object) -> None:
        self.simulation.change_at(round(at * NANOSECONDS), change)  # type: ignore[arg-type]

    def _send(self, flow: str, at: float) -> None:
        def come(now: int) -> Sequence[_Sent]:
            service = self.rng.expovariate(1 / (self.shape.service_s * self.drift))
            wide = self.shape.final and self.rng.random() < 0.6
            request = _Sent(
                now,
                max(1, round(service * NANOSECONDS)),
                flow_hash=flow_hash(LEVEL, flow),
                final_seats=self.shape.final if wide else 0,
                additional_latency_ns=20_000_000 if wide else 0,
                time_out_ns=now + round(self.shape.wait_limit_s * NANOSECONDS),
            )
            request.flow = flow
            self.widths.add(request.width)
            self.inside[id(request)] = request
            started = self.level.arrive(now, request)
            if request.state == "refused":
                self.refused += 1
                self._leave(request, now)
            elif request.state == "waiting":
                self.simulation.go_on(request)
            return started

        self._change(at, come)

    def _after(self, at: int, event: Event, request: SimulatedRequest | None, started: Sequence[_Sent]) -> None:
        self._pass(at)
        for one in started:
            self.dispatched += 1
            self.waits.add((at - one.arrive_ns) / NANOSECONDS)
        if isinstance(request, _Sent) and event in ("finish", "time-out"):
            if event == "finish":
                self.execution.add((at - request.start_ns) / NANOSECONDS)
            else:
                self.timed_out += 1
                self.waits.add((at - request.arrive_ns) / NANOSECONDS)
            self._leave(request, at)
        self.now_waiting, self.now_executing = self.level.waiting, self.level.executing

    def _leave(self, request: _Sent, at: int) -> None:
        del self.inside[id(request)]
        if request.flow == "elephant":
            back = max(at + round(self.rng.expovariate(50.0) * NANOSECONDS), self.stalled_until_ns)
            self._send("elephant", (back + round(0.2 * NANOSECONDS) * (request.state == "refused")) / NANOSECONDS)

    def _pass(self, at: int) -> None:
        """Time that has passed with what was there until now."""
        passed = at - self.last_ns
        self.last_ns = at
        queuing = self.shape.queuing
        self.waiting_time.add(self.now_waiting / (queuing.queues * queuing.queue_length_limit), passed)
        self.executing_time.add(self.now_executing / self.shape.limit, passed)

    now_waiting = now_executing = 0

    def _rows(self) -> tuple[RequestRow, ...]:
        places = {id(one): at for queue in self.level.queues for at, one in enumerate(queue.waiting)}
        return tuple(
            a_row(
                one.arrive_ns / NANOSECONDS,
                None if one.state == "waiting" else one.start_ns / NANOSECONDS,
                queue=one.queue.index if one.queue else -1,
                index=places.get(id(one), 0),
                final=one.final_seats,
                linger_s=one.additional_latency_ns / NANOSECONDS,
                flow=one.flow,
            )
            for one in self.inside.values()
            if one.state in ("waiting", "executing")
        )

    def _queue_rows(self) -> tuple[QueueRow, ...]:
        states = [queue.state() for queue in self.level.queues]
        return tuple(
            QueueRow(
                LEVEL,
                one.index,
                one.waiting,
                one.executing,
                one.seats_in_use,
                one.next_dispatch_r,
                one.initial_seats_sum,
                one.max_seats_sum,
                one.total_work,
            )
            for one in states
        )

    def _metrics(self, now: int) -> LevelPoint:
        self._pass(now)
        return a_level(
            dispatched=float(self.dispatched),
            rejected={"time-out": float(self.timed_out), "queue-full": float(self.refused)},
            widths=self.widths.read(),
            waits=self.waits.read(),
            execution=self.execution.read(),
            regular=self.execution.read(),
            waiting_time=self.waiting_time.read(),
            executing_time=self.executing_time.read(),
            waiting=float(self.level.waiting),
            executing=float(self.level.executing),
            seats=float(self.level.seats_in_use),
            current=float(self.shape.limit),
            nominal=float(self.shape.limit),
            progress_r=self.level.r / SEAT_SECOND,
        )
