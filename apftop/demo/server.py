"""One simulated API server: the model of a replica on a virtual clock, its clients, and its meters."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from apftop.apf.allocation import level_seat_cap
from apftop.apf.attributes import Attributes, attributes
from apftop.apf.borrowing import PERIOD_NS
from apftop.apf.estimate import Estimator, Stored, WorkEstimate
from apftop.apf.identity import groups_by_name
from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.apf.replica import Replica
from apftop.demo.build import FEATURES, RELEASE
from apftop.demo.clients import NANOSECONDS, Asked, Stream
from apftop.demo.inflight import Inflight
from apftop.demo.level import Level
from apftop.demo.request import Request
from apftop.demo.retry_after import RetryAfter
from apftop.demo.scenario import Reader, Scenario
from apftop.demo.traffic import Traffic

REQUEST_TIMEOUT_S = 60.0
WARM_UP_NS = 30 * NANOSECONDS
DRAIN_NS = 4 * NANOSECONDS
CATCH_UP_NS = 45 * NANOSECONDS
"""At most so much time is simulated at once; what lies before is passed over, see `Server.advance`."""

RECEIVED_BEFORE_NS = 350_000
"""How long before it enters its level a request was received: its deadline runs from there."""

DAY_S = 86_400


class Server:
    """A replica and its clients.

    It lives in virtual time, Unix nanoseconds that its user hands in and that never fall, and does nothing in between:
    the same seed and the same instants make the same server. It is born at `epoch_ns`, with a past of days.
    """

    def __init__(
        self,
        scenario: Scenario,
        replica: int,
        levels: Sequence[PriorityLevelConfiguration],
        schemas: Sequence[FlowSchema],
        seed: str,
        epoch_ns: int,
    ) -> None:
        self.skipped_ns = 0
        """Time that was passed over. The model and all requests know only the time without it."""
        self._lived_ns = epoch_ns - WARM_UP_NS
        self.reader = scenario.reader
        self.schemas = {schema.name: schema for schema in schemas}
        self.traffic = Traffic()
        seats = scenario.most_read + scenario.most_mutating
        self._replica: Replica[Request] = Replica(seats, RELEASE, self._lived_ns)
        self.adjustment, _ = self._replica.digest(self._lived_ns, schemas, levels)
        models = self._replica.levels
        waiting = sum(one.queuing.queues * one.queuing.queue_length_limit for one in levels if one.queuing)
        nominal = sum(model.limits.nominal for model in models.values())
        self.inflight = Inflight({"executing": nominal, "waiting": waiting}, self.now)
        self.levels = {
            name: Level(models[name], queue_set, seats, self.inflight, self.now)
            for name, queue_set in sorted(self._replica.queue_sets.items())
        }
        self._estimator = Estimator(RELEASE, {name: bool(on) for (name, _), on in FEATURES.items()})
        self._stored = scenario.stored
        self._caps = {
            name: level_seat_cap(model.limits.nominal, queuing.hand_size)
            for name, model in models.items()
            if (queuing := model.config.queuing)
        }
        self._retry_after = {name: RetryAfter() for name in self.levels}
        self._random = Random(f"{seed}/{replica}")  # noqa: S311  a simulation, not a secret
        self._events: list[tuple[int, int, Callable[[Any], None], Any]] = []
        self._planned = 0
        self._open_until_ns: int | None = None
        self._plan(self._lived_ns + PERIOD_NS, self._adjust, None)
        streams = [
            Stream(scenario, client, replica, f"{seed}/{replica}/{number}", epoch_ns)
            for number, client in enumerate(scenario.clients)
        ]
        factor = max(1, int(scenario.days_up[replica] * DAY_S * NANOSECONDS / WARM_UP_NS))
        self.started_ns = epoch_ns - factor * WARM_UP_NS
        self._warm_up([stream for stream in streams if not stream.silent], factor)

    @property
    def now(self) -> int:
        """Unix nanoseconds."""
        return self._lived_ns + self.skipped_ns

    @property
    def started_s(self) -> float:
        """When the process began, Unix seconds with the hundredths that Linux tells."""
        return self.started_ns // 10_000_000 / 100

    def advance(self, now: int) -> None:
        """Let everything happen up to an instant.

        Of a longer pause only the end is simulated, CATCH_UP_NS of it. During the rest the server stands still: nothing
        arrives, starts or ends, who is inside is as old after it as before, counters stay, and what is measured over
        time is measured on.
        """
        self.skipped_ns += max(0, now - self.now - CATCH_UP_NS)
        until, events = now - self.skipped_ns, self._events
        while events and events[0][0] <= until:
            self._lived_ns, _, happens, subject = heapq.heappop(events)
            happens(subject)
        self._lived_ns = max(self._lived_ns, until)

    def enter(self, path: str, query: str, who: Reader | None = None) -> Request:
        """A GET of the reader arrives now, or of somebody whom the reader impersonates, with all groups.

        It executes until `leave`, or waits and then starts or gives up in the course of time, or is refused.
        """
        reader = self.reader if who is None else who
        groups = reader.groups if who is not None else (*reader.groups, *groups_by_name(reader.user))
        asked = attributes("GET", path, query, reader.user, groups)
        cost = self._cost(asked, query, 0)
        request = Request(asked, cost, None, _wait_limit_ns(REQUEST_TIMEOUT_S))
        self._take(request)
        return request

    def leave(self, request: Request, took_s: float) -> None:
        """The reader's request is answered; its handler is seen to have taken `took_s`, though no time has passed."""
        self._end(request, took_s)

    def retry_after_s(self, level: str) -> int:
        """What a level tells those that it refuses."""
        return self._retry_after[level].seconds

    def _warm_up(self, streams: list[Stream], factor: int) -> None:
        """Live through the quiet end of a cycle, and take it for the like of a long life."""
        self._open_until_ns = self._lived_ns + WARM_UP_NS - DRAIN_NS
        end = self.now + WARM_UP_NS
        for stream in streams:
            self._plan_arrival(stream)
        self.advance(end)
        # Whoever is still inside would be counted `factor` times as begun, and once as ended.
        while inside := [request for level in self.levels.values() for request in level.executing]:
            for request in inside:
                self._finish(request)
        for level in self.levels.values():
            level.age(factor, end)
        self.inflight.age(factor, end)
        self.traffic.age(factor)
        self._open_until_ns = None
        for stream in streams:
            self._plan_arrival(stream)

    def _plan(self, at: int, happens: Callable[[Any], None], subject: object) -> None:
        # The running number keeps events of one instant in the order in which they were planned.
        self._planned += 1
        heapq.heappush(self._events, (at, self._planned, happens, subject))

    def _plan_arrival(self, stream: Stream) -> None:
        at = stream.next_ns(self.now) - self.skipped_ns
        if self._open_until_ns is None or at < self._open_until_ns:
            self._plan(at, self._arrive, stream)

    def _arrive(self, stream: Stream) -> None:
        self._send(stream.ask())
        self._plan_arrival(stream)

    def _send(self, asked: Asked) -> None:
        cost = self._cost(asked.attributes, asked.query, asked.watchers or 0)
        limit = _wait_limit_ns(asked.timeout_s)
        self._take(Request(asked.attributes, cost, asked.service_ns, limit, asked.watchers, asked))

    def _cost(self, sent: Attributes, query: str, watchers: int) -> WorkEstimate:
        resource = f"{sent.resource}.{sent.api_group}".removesuffix(".")
        return self._estimator.estimate(
            sent,
            query,
            stored=self._stored.get(resource, _UNKNOWN),
            watchers=watchers,
            level_cap=self._caps.get(self._replica.classification(sent).level.name),
        )

    def _take(self, request: Request) -> None:
        started = self._replica.arrive(self._lived_ns, request)
        self.levels[request.level].arrived(request, started, self.now)
        self._go_on(started)
        if request.refused:
            self._refused(request)
        elif request.state == "waiting":
            self._plan(self._lived_ns + request.wait_limit_ns, self._give_up, request)

    def _go_on(self, started: Sequence[Request]) -> None:
        for request in started:
            if request.service_ns is not None:
                self._plan(self._lived_ns + request.service_ns, self._finish, request)

    def _finish(self, request: Request) -> None:
        if request.state == "executing":
            self._end(request, (self._lived_ns - request.start_ns) / NANOSECONDS)

    def _end(self, request: Request, took_s: float) -> None:
        started = self._replica.finish(self._lived_ns, request)
        self.levels[request.level].finished(request, took_s, started, self.now)
        self.traffic.served(request, took_s)
        if request.state == "lingering":
            self._plan(self._lived_ns + request.additional_latency_ns, self._release, request)
        self._go_on(started)

    def _release(self, request: Request) -> None:
        started = self._replica.release(self._lived_ns, request)
        self.levels[request.level].released(request, started, self.now)
        self._go_on(started)

    def _give_up(self, request: Request) -> None:
        if request.state == "waiting":
            self._replica.give_up(self._lived_ns, request)
            waited_s = (self._lived_ns - request.arrive_ns) / NANOSECONDS
            self.levels[request.level].gave_up(request, waited_s, self.now)
            self._refused(request)

    def _refused(self, request: Request) -> None:
        self.traffic.refused(request)
        seconds = self._retry_after[request.level].refuse(self.now // NANOSECONDS)
        if request.asked is not None and request.asked.retries:
            again = replace(request.asked, retries=request.asked.retries - 1)
            self._plan(self._lived_ns + int(seconds * NANOSECONDS * self._random.uniform(1.0, 1.5)), self._send, again)

    def _adjust(self, _: object) -> None:
        """Hand out the seats anew by the demand of the last period."""
        self.adjustment, started = self._replica.adjust(self._lived_ns)
        for name, level in self.levels.items():
            level.adjusted([request for request in started if request.level == name], self.now)
        self._go_on(started)
        self._plan(self._lived_ns + PERIOD_NS, self._adjust, None)


_UNKNOWN = Stored(state="unknown")


def _wait_limit_ns(timeout_s: float) -> int:
    """How long a request may wait in its level: a quarter of the time from its receipt to its deadline."""
    return int(min(timeout_s, REQUEST_TIMEOUT_S) / 4 * NANOSECONDS) - RECEIVED_BEFORE_NS
