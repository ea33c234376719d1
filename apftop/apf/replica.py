"""One API server's flow control: classification, levels with their queue sets, and borrowing between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from apftop.apf.attributes import Attributes
from apftop.apf.borrowing import Adjustment
from apftop.apf.classify import Classification, Classifier, classify
from apftop.apf.levels import Level, Levels
from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.apf.queueset import QueueSet
from apftop.apf.release import Release
from apftop.apf.request import Request

MOST_REMEMBERED = 65_536


class ReplicaRequest(Request):
    """A request with what the server classifies it by; `schema` and `level` are names, set when it arrives."""

    __slots__ = ("attributes", "level", "schema")

    def __init__(
        self,
        attributes: Attributes | None,
        *,
        flow_hash: int = 0,
        initial_seats: int = 1,
        final_seats: int = 0,
        additional_latency_ns: int = 0,
    ) -> None:
        super().__init__(flow_hash, initial_seats, final_seats, additional_latency_ns)
        self.attributes = attributes
        self.schema = ""
        self.level = ""


S = TypeVar("S", bound=ReplicaRequest)
"""The kind of request that a replica is fed with."""


class Replica(Generic[S]):
    """Flow control of one server. Each method is one event; times are nanoseconds and must not go back.

    `queue_sets` has those of levels that are gone from `levels` only while requests linger in them.
    """

    __slots__ = ("_classifier", "_levels", "_remembered", "queue_sets")

    def __init__(self, server: int, release: Release, now_ns: int = 0) -> None:
        """A server of `server` seats that has read no objects yet: only the mandatory ones hold."""
        self._levels = Levels(server, release, now_ns)
        self.queue_sets: dict[str, QueueSet[S]] = {}
        self._classifier = Classifier((), ())
        self._remembered: dict[Attributes, Classification] = {}
        self._apply(now_ns, configured=True)

    @property
    def levels(self) -> dict[str, Level]:
        """The levels by name, with their limits and demand; quiescing ones too."""
        return self._levels.by_name

    def digest(
        self, now_ns: int, schemas: Iterable[FlowSchema], configs: Iterable[PriorityLevelConfiguration]
    ) -> tuple[Adjustment, Sequence[S]]:
        """Take a configuration, and adjust the limits; returns what came of that, and the requests that start by it."""
        configs = tuple(configs)
        adjustment = self._levels.digest(configs, now_ns, lambda name: self.queue_sets[name].idle)
        self._classifier = Classifier(schemas, configs)
        self._remembered.clear()
        return adjustment, self._apply(now_ns, configured=True)

    def adjust(self, now_ns: int) -> tuple[Adjustment, Sequence[S]]:
        """Run one borrowing round, as the server does every 10 s; returns as `digest` does."""
        return self._levels.adjust(now_ns), self._apply(now_ns, configured=False)

    def arrive(self, now_ns: int, request: S) -> Sequence[S]:
        """Classify a request and send it to its level."""
        self._classify(request)
        queue_set = self.queue_sets[request.level]
        started = queue_set.arrive(now_ns, request)
        self._note_demand(now_ns, request.level, queue_set)
        return started

    def finish(self, now_ns: int, request: S) -> Sequence[S]:
        """See `QueueSet.finish`."""
        queue_set = self.queue_sets[request.level]
        started = queue_set.finish(now_ns, request)
        self._note_demand(now_ns, request.level, queue_set)
        return started

    def release(self, now_ns: int, request: S) -> Sequence[S]:
        """See `QueueSet.release`."""
        queue_set = self.queue_sets[request.level]
        started = queue_set.release(now_ns, request)
        self._note_demand(now_ns, request.level, queue_set)
        return started

    def give_up(self, now_ns: int, request: S) -> None:
        """See `QueueSet.give_up`."""
        queue_set = self.queue_sets[request.level]
        queue_set.give_up(now_ns, request)
        self._note_demand(now_ns, request.level, queue_set)

    def _classify(self, request: S) -> None:
        attributes = request.attributes
        if attributes is None:
            raise ValueError("a request without attributes cannot be classified")
        found = self._remembered.get(attributes)
        if found is None:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            found = self._remembered[attributes] = classify(self._classifier, attributes)
        request.schema = found.schema.name
        request.level = found.level.name
        request.flow_hash = found.hash

    def _note_demand(self, now_ns: int, name: str, queue_set: QueueSet[S]) -> None:
        level = self._levels.by_name.get(name)
        # None: the level is gone, only lingering seats are left of it.
        if level is not None and level.demand.seats != queue_set.demand:
            level.demand.set(now_ns, queue_set.demand)

    def _apply(self, now_ns: int, *, configured: bool) -> Sequence[S]:
        """Give all queue sets their new limits, in the order of their names."""
        started: list[S] = []
        for name, level in sorted(self._levels.by_name.items()):
            queue_set = self.queue_sets.get(name)
            exempt, queuing = level.config.exempt, level.config.queuing
            if queue_set is None:
                self.queue_sets[name] = QueueSet(queuing, level.current, now_ns, exempt=exempt)
                continue
            if configured:
                started += queue_set.reconfigure(now_ns, queuing, level.current, exempt=exempt)
            else:
                started += queue_set.set_limit(now_ns, level.current)
            self._note_demand(now_ns, name, queue_set)
        for name in self.queue_sets.keys() - self._levels.by_name.keys():
            if not self.queue_sets[name].seats_in_use:
                del self.queue_sets[name]
        return started
