"""One priority level of a simulated server: the model of it, and all that it shows of itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apftop.apf.levels import Level as ModelLevel
from apftop.apf.queue import Queue
from apftop.apf.queueset import QueueSet
from apftop.apf.work import SERVICE_TIME_GUESS_NS, work
from apftop.demo.inflight import PHASES, Inflight
from apftop.demo.meters import DEMAND_RATIOS, REQUEST_RATIOS, SEAT_RATIOS, Tally, TimedRatio
from apftop.demo.request import Request

HANDOVER_S = 0.000_02
"""From the decision to run a request until its handler runs: what is seen as the wait of one that did not wait."""


@dataclass(frozen=True, slots=True)
class LastDispatch:
    """The virtual times at the last dispatch from a queue: R, the winner's S, least and greatest S of all that waited.

    The discounted ones are S less 3 ms for each seat that the queue has in use. All in units of 1e-8 seat-second.
    """

    r: int
    latest_s: int
    next_s: tuple[int, int]
    discounted_s: tuple[int, int]


class Level:
    """The meters of a level. They are told of each event after the model was; times are Unix nanoseconds.

    `executing` are the requests that do, in the order in which they began.
    """

    def __init__(
        self, model: ModelLevel, queue_set: QueueSet[Request], server_seats: int, inflight: Inflight, now: int
    ) -> None:
        self.model = model
        self.queue_set = queue_set
        self.tallies: dict[str, Tally] = {}
        self.executing: dict[Request, None] = {}
        self.last_dispatch: LastDispatch | None = None
        self.seat_ratio = TimedRatio(SEAT_RATIOS, now)
        self.demand_ratio = TimedRatio(DEMAND_RATIOS, now)
        self.request_ratios = {phase: TimedRatio(REQUEST_RATIOS, now) for phase in PHASES}
        queuing = model.config.queuing
        most_waiting = queuing.queues * queuing.queue_length_limit if queuing else 0
        self.request_ratios["waiting"].divide_by(max(1, most_waiting), now)
        # What the server divides by where the limit is 0.
        self._instead_of_zero = max(1, int(server_seats / 10 + 0.5))
        self._inflight = inflight
        queue_set.observer = self
        self.adjusted((), now)

    @property
    def name(self) -> str:
        return self.model.config.name

    def arrived(self, request: Request, started: Sequence[Request], now: int) -> None:
        """A request has come; it waits, is among those that started, or is refused."""
        tally = self._tally(request)
        tally.widths.observe(request.cost.width)
        if request.watchers is not None:
            tally.watchers.observe(request.watchers)
        queue = request.queue
        if request.refusal:
            tally.reject(request.refusal)
            tally.waited(False, HANDOVER_S)
        elif queue is not None:
            tally.waiting += 1
            tally.waiting_seats += request.cost.width
            tally.queue_lengths.observe(len(queue.waiting) + sum(one.queue is queue for one in started))
            self._inflight.change("waiting", request, 1, now)
        self._begun(started, now)

    def finished(self, request: Request, took_s: float, started: Sequence[Request], now: int) -> None:
        """The handler of a request is done; `took_s` is what it is seen to have taken."""
        tally = self._tally(request)
        tally.executing -= 1
        tally.executed(request.attributes.verb, took_s)
        if request.state == "done":
            tally.seats_in_use -= request.width
        del self.executing[request]
        self._inflight.change("executing", request, -1, now)
        self._begun(started, now)

    def released(self, request: Request, started: Sequence[Request], now: int) -> None:
        """A request that is done has given back the seats that it held for a while longer."""
        self._tally(request).seats_in_use -= request.width
        self._begun(started, now)

    def gave_up(self, request: Request, waited_s: float, now: int) -> None:
        """The wait limit of a waiting request has passed."""
        tally = self._tally(request)
        tally.reject("time-out")
        tally.waited(True, waited_s)
        self._dequeued(tally, request, now)
        self._show(now)

    def adjusted(self, started: Sequence[Request], now: int) -> None:
        """The current limit has been set anew."""
        for ratio in (self.seat_ratio, self.demand_ratio, self.request_ratios["executing"]):
            ratio.divide_by(self.queue_set.limit or self._instead_of_zero, now)
        self._begun(started, now)

    def age(self, factor: int, now: int) -> None:
        """As if the level had lived `factor` times its life so far, always in the same way."""
        for tally in self.tallies.values():
            tally.age(factor)
        for ratio in (self.seat_ratio, self.demand_ratio, *self.request_ratios.values()):
            ratio.age(factor, now)

    def dispatching(self, queue: Queue[Any]) -> None:
        """See `queueset.Observer`."""
        held = [one for one in self.queue_set.queues if one.waiting]
        starts = [one.next_dispatch_r for one in held]
        discounted = [max(0, one.next_dispatch_r - work(one.seats_in_use, SERVICE_TIME_GUESS_NS)) for one in held]
        bounds = (min(starts), max(starts)), (min(discounted), max(discounted))
        self.last_dispatch = LastDispatch(self.queue_set.r, queue.next_dispatch_r, *bounds)

    def unfit(self, request: Request) -> None:
        """See `queueset.Observer`."""
        self._tally(request).no_accommodation += 1

    def _begun(self, started: Sequence[Request], now: int) -> None:
        for request in started:
            tally = self._tally(request)
            if request.queue is not None:
                self._dequeued(tally, request, now)
            tally.executing += 1
            tally.seats_in_use += request.width
            tally.dispatched += 1
            if not self.model.config.exempt:
                tally.waited(True, request.waited_ns / 1e9 + HANDOVER_S)
            self.executing[request] = None
            self._inflight.change("executing", request, 1, now)
        self._show(now)

    def _dequeued(self, tally: Tally, request: Request, now: int) -> None:
        tally.waiting -= 1
        # Of final seats that were cut at dispatch the server takes off what is left, so that the rest stays for ever.
        tally.waiting_seats -= request.width
        self._inflight.change("waiting", request, -1, now)

    def _tally(self, request: Request) -> Tally:
        """The counters of a request's schema in this level."""
        found = self.tallies.get(request.schema)
        if found is None:
            found = self.tallies[request.schema] = Tally()
        return found

    def _show(self, now: int) -> None:
        """Bring what is measured over time up to what the queues hold now."""
        held = self.queue_set
        self.seat_ratio.set(held.seats_in_use, now)
        self.request_ratios["executing"].set(held.executing, now)
        self.request_ratios["waiting"].set(held.waiting, now)
        self.demand_ratio.set(held.demand, now)
