"""One API server's flow control: classification, levels with their queue sets, and borrowing between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic

from apftop.apf.attributes import Attributes
from apftop.apf.borrowing import Adjustment
from apftop.apf.classify import Classification, Classifier, classify
from apftop.apf.demand import DemandIntegrator, DemandStats
from apftop.apf.levels import Level, Levels
from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.apf.queueset import QueueSet
from apftop.apf.release import Release, holds
from apftop.apf.request import R, Request

MOST_REMEMBERED = 65_536
REQUEST_TIMEOUT_NS = 60_000_000_000
LAZY_WAIT_LIMIT_UNTIL = ("<1.28.5",)


class Station(Generic[R]):
    """A level as requests meet it: its queue set, and the demand that its borrowing goes by."""

    __slots__ = ("demand", "queue_set")

    def __init__(self, queue_set: QueueSet[R], demand: DemandIntegrator) -> None:
        self.queue_set = queue_set
        self.demand = demand

    def note_demand(self, now_ns: int, moved: Sequence[R] = ()) -> None:
        """Bring the demand up to date as the server does: whenever it changes, or requests moved for all that."""
        demand = self.queue_set.demand
        if moved or demand != self.demand.seats:
            self.demand.set(now_ns, demand)


class Replica(Generic[R]):
    """Flow control of one server. Each method is one event; times are nanoseconds and must not go back.

    `overdue` are the requests that the last arrival turned out, by servers of up to 1.28.4 (see `QueueSet`).
    """

    __slots__ = ("_classifier", "_lazy_limit_ns", "_levels", "_remembered", "_stations", "overdue")

    def __init__(
        self, server: int, release: Release, now_ns: int = 0, *, request_timeout_ns: int = REQUEST_TIMEOUT_NS
    ) -> None:
        """A server of `server` seats that has read no objects yet: only the mandatory ones hold.

        Up to 1.28.4 all requests wait for a quarter of `request_timeout_ns` (the flag of the server), and that is left
        to the model. Since 1.28.5 each has a limit of its own, so that it is its sender's to make it `give_up` in time.
        """
        self.overdue: Sequence[R] = ()
        self._lazy_limit_ns = request_timeout_ns // 4 if holds(release, LAZY_WAIT_LIMIT_UNTIL) else None
        self._levels = Levels(server, release, now_ns)
        self._stations: dict[str, Station[R]] = {}
        self._classifier = Classifier((), ())
        self._remembered: dict[Attributes, Classification] = {}
        self._apply(now_ns, configured=True)

    @property
    def levels(self) -> dict[str, Level]:
        """The levels by name, with their limits and demand; quiescing ones too."""
        return self._levels.by_name

    @property
    def queue_sets(self) -> dict[str, QueueSet[R]]:
        """The queue sets of the levels by name."""
        return {name: station.queue_set for name, station in self._stations.items()}

    def digest(
        self, now_ns: int, schemas: Iterable[FlowSchema], configs: Iterable[PriorityLevelConfiguration]
    ) -> tuple[Adjustment, Sequence[R]]:
        """Take a configuration, and adjust the limits; returns what came of that, and the requests that start by it."""
        configs = tuple(configs)
        adjustment = self._levels.digest(now_ns, configs, lambda name: self._stations[name].queue_set.idle)
        self._classifier = Classifier(schemas, configs)
        self._remembered.clear()
        return adjustment, self._apply(now_ns, configured=True)

    def adjust(self, now_ns: int) -> tuple[Adjustment, Sequence[R]]:
        """Run one borrowing round, as the server does every 10 s; returns as `digest` does."""
        return self._levels.adjust(now_ns), self._apply(now_ns, configured=False)

    def resume(self, now_ns: int, name: str, queue_set: QueueSet[R], inside: Iterable[R], stats: DemandStats) -> None:
        """Let a level go on from what was seen of it: its queues and current limit, its requests, its demand so far.

        Raises KeyError for a level that the configuration does not have.
        """
        level = self._levels.by_name[name]
        level.current = queue_set.limit
        level.stats = stats
        level.demand = DemandIntegrator(now_ns, queue_set.demand)
        self._stations[name] = station = Station(queue_set, level.demand)
        for request in inside:
            request.level = name
            request.station = station

    def classification(self, attributes: Attributes) -> Classification:
        """Where a request goes; what has been found is remembered until the next configuration."""
        found = self._remembered.get(attributes)
        if found is None:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            found = self._remembered[attributes] = classify(self._classifier, attributes)
        return found

    def arrive(self, now_ns: int, request: R) -> Sequence[R]:
        """Classify a request and send it to its level. Raises ValueError for one without attributes."""
        station = self._classify(request)
        queue_set = station.queue_set
        started = queue_set.arrive(now_ns, request)
        self.overdue = queue_set.overdue
        station.note_demand(now_ns, self.overdue)
        return started

    def finish(self, now_ns: int, request: R) -> Sequence[R]:
        """See `QueueSet.finish`."""
        station = _station(request)
        started: Sequence[R] = station.queue_set.finish(now_ns, request)
        station.note_demand(now_ns, started)
        return started

    def release(self, now_ns: int, request: R) -> Sequence[R]:
        """See `QueueSet.release`."""
        station = _station(request)
        started: Sequence[R] = station.queue_set.release(now_ns, request)
        station.note_demand(now_ns)
        return started

    def give_up(self, now_ns: int, request: R) -> None:
        """See `QueueSet.give_up`."""
        station = _station(request)
        station.queue_set.give_up(now_ns, request)
        station.note_demand(now_ns)

    def _classify(self, request: R) -> Station[R]:
        attributes = request.attributes
        if attributes is None:
            raise ValueError("a request without attributes cannot be classified")
        found = self._remembered.get(attributes) or self.classification(attributes)
        station = self._stations[found.level.name]
        request.schema = found.schema.name
        request.level = found.level.name
        request.flow_hash = found.hash
        request.station = station
        return station

    def _apply(self, now_ns: int, *, configured: bool) -> Sequence[R]:
        """Give all queue sets their new limits, in the order of their names."""
        started: list[R] = []
        stations: dict[str, Station[R]] = {}
        for name, level in sorted(self._levels.by_name.items()):
            exempt, queuing = level.config.exempt, level.config.queuing
            station = self._stations.get(name)
            if station is None:
                queue_set: QueueSet[R] = QueueSet(
                    queuing, level.current, now_ns, exempt=exempt, lazy_limit_ns=self._lazy_limit_ns
                )
                station = Station(queue_set, level.demand)
            elif configured:
                started += station.queue_set.reconfigure(now_ns, queuing, level.current, exempt=exempt)
            else:
                started += station.queue_set.set_limit(now_ns, level.current)
            station.note_demand(now_ns)
            stations[name] = station
        self._stations = stations
        return started


def _station(request: Request) -> Station[Any]:
    if request.station is None:
        raise ValueError("the request has not arrived")
    return request.station
