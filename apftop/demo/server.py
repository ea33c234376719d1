"""One simulated API server: events in the order of a virtual clock, seats handed out anew every 10 s."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from apftop.apf.allocation import seat_cap
from apftop.apf.objects import EXEMPT, FlowSchema, PriorityLevelConfiguration
from apftop.apf.release import Release
from apftop.demo.classify import Classifier
from apftop.demo.clients import NANOSECONDS, Asked, Stream, groups_of
from apftop.demo.estimate import estimate
from apftop.demo.inflight import Inflight
from apftop.demo.level import Level
from apftop.demo.limits import PERIOD_NS, allot, bounds
from apftop.demo.request import Request, Target, Work
from apftop.demo.retry_after import RetryAfter
from apftop.demo.scenario import Scenario
from apftop.demo.traffic import Traffic

RELEASE = Release(1, 37, 2)
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
        self.now = epoch_ns - WARM_UP_NS
        self.reader = scenario.reader
        self.seats = scenario.most_read + scenario.most_mutating
        limits = bounds(levels, self.seats)
        waiting = sum(one.queuing.queues * one.queuing.queue_length_limit for one in levels if one.queuing)
        nominal = sum(one.nominal for one in limits.values())
        self.inflight = Inflight({"executing": nominal, "waiting": waiting}, self.now)
        self.traffic = Traffic()
        self.levels = {
            config.name: Level(config, limits[config.name], self.seats, self.inflight, self._started, self.now)
            for config in sorted(levels, key=lambda config: config.name)
        }
        self.fair_frac = 0.0
        self._classifier = Classifier(schemas, levels)
        self._caps = {config.name: seat_cap(config, limits[config.name].nominal, RELEASE) or 1 for config in levels}
        self._retry_after = {config.name: RetryAfter() for config in levels}
        self._random = Random(f"{seed}/{replica}")  # noqa: S311  a simulation, not a secret
        self._events: list[tuple[int, int, Callable[[Any], None], Any]] = []
        self._planned = 0
        self._open_until_ns: int | None = None
        self._adjust(None)
        streams = [
            Stream(scenario, client, replica, f"{seed}/{replica}/{number}", epoch_ns)
            for number, client in enumerate(scenario.clients)
        ]
        factor = max(1, int(scenario.days_up[replica] * DAY_S * NANOSECONDS / WARM_UP_NS))
        self.started_ns = epoch_ns - factor * WARM_UP_NS
        self._warm_up([stream for stream in streams if not stream.silent], factor)

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
        if now - self.now > CATCH_UP_NS:
            self._stand_still(now - CATCH_UP_NS - self.now)
        events = self._events
        while events and events[0][0] <= now:
            self.now, _, happens, subject = heapq.heappop(events)
            happens(subject)
        self.now = max(self.now, now)

    def enter(self, target: Target) -> Request:
        """A request of the reader arrives now.

        It executes until `leave`, or waits and then starts or gives up in the course of time, or is refused (ended).
        """
        groups = (*self.reader.groups, *groups_of(self.reader.user))
        place = self._classifier.place(self.reader.user, groups, target)
        request = Request(self.reader.user, target, place, Work(), self.now, None, _wait_limit_ns(REQUEST_TIMEOUT_S))
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
        self._open_until_ns = self.now + WARM_UP_NS - DRAIN_NS
        end = self.now + WARM_UP_NS
        for stream in streams:
            self._plan_arrival(stream)
        self.advance(end)
        # Whoever is still inside would be counted `factor` times as begun, and once as ended.
        while inside := [request for level in self.levels.values() for request in level.queue_set.executing]:
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
        at = stream.next_ns(self.now)
        if self._open_until_ns is None or at < self._open_until_ns:
            self._plan(at, self._arrive, stream)

    def _arrive(self, stream: Stream) -> None:
        self._send(stream.ask())
        self._plan_arrival(stream)

    def _send(self, asked: Asked) -> None:
        call, target = asked.call, asked.target
        place = self._classifier.place(asked.user, asked.groups, target)
        taken = estimate(
            target.verb, int(call.listed_kb * 1000), call.from_etcd, call.watchers, self._caps[place.level]
        )
        limit = _wait_limit_ns(asked.timeout_s)
        self._take(Request(asked.user, target, place, taken, self.now, asked.service_ns, limit, asked))

    def _take(self, request: Request) -> None:
        if not self.levels[request.place.level].arrive(request, self.now):
            self._refused(request)
        elif request.waiting:
            self._plan(self.now + request.wait_limit_ns, self._give_up, request)

    def _started(self, request: Request) -> None:
        if request.service_ns is not None:
            self._plan(self.now + request.service_ns, self._finish, request)

    def _finish(self, request: Request) -> None:
        if not request.ended:
            self._end(request, (self.now - (request.started_ns or self.now)) / NANOSECONDS)

    def _end(self, request: Request, took_s: float) -> None:
        self.levels[request.place.level].finish(request, self.now, took_s)
        self.traffic.served(request, took_s)
        if request.work.additional_latency_ns:
            self._plan(self.now + request.work.additional_latency_ns, self._release, request)

    def _release(self, request: Request) -> None:
        self.levels[request.place.level].release(request, self.now)

    def _give_up(self, request: Request) -> None:
        if request.waiting:
            self.levels[request.place.level].give_up(request, self.now)
            self._refused(request)

    def _refused(self, request: Request) -> None:
        self.traffic.refused(request)
        seconds = self._retry_after[request.place.level].refuse(self.now // NANOSECONDS)
        if request.asked is not None and request.asked.retries:
            again = replace(request.asked, retries=request.asked.retries - 1)
            self._plan(self.now + int(seconds * NANOSECONDS * self._random.uniform(1.0, 1.5)), self._send, again)

    def _adjust(self, _: object) -> None:
        """Hand out the seats anew by the demand of the last period."""
        demands = {name: level.demand.read(self.now) for name, level in self.levels.items()}
        standing = {name: level.queue_set.limit for name, level in self.levels.items()}
        limits = {name: level.bounds for name, level in self.levels.items()}
        given = allot(limits, demands, frozenset({EXEMPT}), standing)
        self.fair_frac = given.fair_frac
        for name, level in self.levels.items():
            level.target = given.targets.get(name, 0.0)
            level.resize(given.current[name], self.now)
        self._plan(self.now + PERIOD_NS, self._adjust, None)

    def _stand_still(self, skipped: int) -> None:
        """Move everything that is planned, and all who are inside, by some time."""
        self._events = [(at + skipped, *rest) for at, *rest in self._events]
        for level in self.levels.values():
            level.queue_set.shift(skipped)
        self.now += skipped


def _wait_limit_ns(timeout_s: float) -> int:
    """How long a request may wait in its level: a quarter of the time from its receipt to its deadline."""
    return int(min(timeout_s, REQUEST_TIMEOUT_S) / 4 * NANOSECONDS) - RECEIVED_BEFORE_NS
