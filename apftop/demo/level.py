"""One priority level of a simulated server: its queues, its limit, and all that it shows of itself."""

from __future__ import annotations

from collections.abc import Callable

from apftop.apf.objects import PriorityLevelConfiguration
from apftop.demo.inflight import PHASES, Inflight
from apftop.demo.limits import Bounds, DemandMeter, first_limit
from apftop.demo.meters import DEMAND_RATIOS, REQUEST_RATIOS, SEAT_RATIOS, Tally, TimedRatio
from apftop.demo.queueing import QueueSet
from apftop.demo.request import Request

HANDOVER_S = 0.000_02
"""From the decision to run a request until its handler runs: what is seen as the wait of one that did not wait."""


class Level:
    """A level at work. `started` is told of each request that begins to execute; times are Unix nanoseconds."""

    def __init__(
        self,
        config: PriorityLevelConfiguration,
        bounds: Bounds,
        server_seats: int,
        inflight: Inflight,
        started: Callable[[Request], None],
        now: int,
    ) -> None:
        queues, length = (config.queuing.queues, config.queuing.queue_length_limit) if config.queuing else (0, 0)
        self.config = config
        self.bounds = bounds
        self.tallies: dict[str, Tally] = {}
        self.demand = DemandMeter(now)
        self.target = 0.0
        self.queue_set = QueueSet(queues, length, exempt=config.exempt, listener=self, now=now)
        self.seat_ratio = TimedRatio(SEAT_RATIOS, now)
        self.demand_ratio = TimedRatio(DEMAND_RATIOS, now)
        self.request_ratios = {phase: TimedRatio(REQUEST_RATIOS, now) for phase in PHASES}
        self.request_ratios["waiting"].divide_by(max(1, queues * length), now)
        # What the server divides by where the limit is 0.
        self._instead_of_zero = max(1, int(server_seats / 10 + 0.5))
        self._inflight = inflight
        self._started = started
        self._now = now
        self.resize(first_limit(bounds), now)

    @property
    def name(self) -> str:
        return self.config.name

    def tally(self, request: Request) -> Tally:
        """The counters of a request's schema in this level."""
        schema = request.place.schema
        found = self.tallies.get(schema)
        if found is None:
            found = self.tallies[schema] = Tally()
        return found

    def arrive(self, request: Request, now: int) -> bool:
        """Take a request in; False where it is refused at once."""
        self._now = now
        tally = self.tally(request)
        tally.widths.observe(request.work.width)
        if request.work.watchers is not None:
            tally.watchers.observe(request.work.watchers)
        refusal = self.queue_set.arrive(request, now)
        if refusal is not None:
            request.ended = True
            tally.reject(refusal)
            tally.waited(False, HANDOVER_S)
        self._show()
        return refusal is None

    def finish(self, request: Request, now: int, took_s: float) -> None:
        """The handler of a request is done; `took_s` is what it is seen to have taken."""
        self._now = now
        tally = self.tally(request)
        tally.executing -= 1
        tally.executed(request.target.verb, took_s)
        if not request.work.additional_latency_ns:
            tally.seats_in_use -= request.work.width
        self._inflight.change("executing", request, -1, now)
        self.queue_set.finish(request, now)
        self._show()

    def release(self, request: Request, now: int) -> None:
        """A request that is done gives back the seats that it held for a while longer."""
        self._now = now
        self.tally(request).seats_in_use -= request.work.width
        self.queue_set.release(request, now)
        self._show()

    def give_up(self, request: Request, now: int) -> None:
        """The wait limit of a waiting request has passed."""
        self._now = now
        tally = self.tally(request)
        tally.reject("time-out")
        tally.waited(True, (now - request.arrived_ns) / 1e9)
        self.queue_set.give_up(request, now)
        self._dequeued(request)
        self._show()

    def resize(self, limit: int, now: int) -> None:
        """Change the current limit."""
        self._now = now
        for ratio in (self.seat_ratio, self.demand_ratio, self.request_ratios["executing"]):
            ratio.divide_by(limit or self._instead_of_zero, now)
        self.queue_set.resize(limit, now)
        self._show()

    def age(self, factor: int, now: int) -> None:
        """As if the level had lived `factor` times its life so far, always in the same way."""
        for tally in self.tallies.values():
            tally.age(factor)
        for ratio in (self.seat_ratio, self.demand_ratio, *self.request_ratios.values()):
            ratio.age(factor, now)

    def enqueued(self, request: Request, length: int) -> None:
        """See Listener."""
        tally = self.tally(request)
        tally.waiting += 1
        tally.waiting_seats += request.work.width
        tally.queue_lengths.observe(length)
        self._inflight.change("waiting", request, 1, self._now)

    def dispatched(self, request: Request) -> None:
        """See Listener."""
        tally = self.tally(request)
        if request.queue >= 0:
            self._dequeued(request)
        tally.executing += 1
        tally.seats_in_use += request.work.width
        tally.dispatched += 1
        if not self.config.exempt:
            tally.waited(True, (self._now - request.arrived_ns) / 1e9 + HANDOVER_S)
        self._inflight.change("executing", request, 1, self._now)
        self._started(request)

    def unfit(self, request: Request) -> None:
        """See Listener."""
        self.tally(request).no_accommodation += 1

    def _dequeued(self, request: Request) -> None:
        tally = self.tally(request)
        tally.waiting -= 1
        tally.waiting_seats -= request.work.width
        self._inflight.change("waiting", request, -1, self._now)

    def _show(self) -> None:
        """Bring what is measured over time up to what the queues hold now."""
        held, now = self.queue_set, self._now
        self.seat_ratio.set(held.seats_in_use, now)
        self.request_ratios["executing"].set(len(held.executing), now)
        self.request_ratios["waiting"].set(held.waiting, now)
        demand = held.seats_in_use + held.waiting_seats
        self.demand_ratio.set(demand, now)
        self.demand.set(demand, now)
