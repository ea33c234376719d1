"""What a level tells its observer, in the terms of the server's gauges."""

from __future__ import annotations

from typing import Any

from apftop.apf.queue import Queue
from apftop.apf.queueset import QueueSet
from apftop.apf.work import SERVICE_TIME_GUESS_NS, work

Dispatch = tuple[int, int, int, int, int, int]
"""R, the winner's S, the bounds of S, and those of the discounted S, in units of 1e-8 seat-second."""


class Dispatches:
    """All dispatches of a level, and the requests whose turn it was in vain."""

    def __init__(self, queue_set: QueueSet[Any]) -> None:
        self.all: list[Dispatch] = []
        self.unfits: list[Any] = []
        self._queue_set = queue_set
        queue_set.observer = self

    def dispatching(self, queue: Queue[Any]) -> None:
        held = [one for one in self._queue_set.queues if one.waiting]
        starts = [one.next_dispatch_r for one in held]
        # The server's numbers are unsigned: less than nothing is very great.
        discounted = [(one.next_dispatch_r - work(one.seats_in_use, SERVICE_TIME_GUESS_NS)) % 2**64 for one in held]
        bounds = min(starts), max(starts), min(discounted), max(discounted)
        self.all.append((self._queue_set.r, queue.next_dispatch_r, *bounds))

    def unfit(self, request: Any) -> None:
        self.unfits.append(request)
