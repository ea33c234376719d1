"""A level that serves first come, first served: what a fair one must be told apart from."""

from __future__ import annotations

from apftop.apf.dispatch_order import DispatchOrder
from apftop.apf.queue import Queue
from apftop.apf.queueset import QueueSet
from apftop.apf.request import R


class Fifo(QueueSet[R]):
    """A queue set of the same queues, seats and refusals, whose next request is the one that has waited longest."""

    __slots__ = ()

    def _relist(self) -> None:
        super()._relist()
        self._order = ByArrival(self.queues)


class ByArrival(DispatchOrder[R]):
    """The queue whose head came first; of heads that came in the same nanosecond the one of the lowest queue."""

    __slots__ = ()

    def note(self, queue: Queue[R]) -> None:
        """Nothing is listed: all queues are looked at each time."""

    def first(self, robin: int) -> Queue[R]:
        return min((queue for queue in self._queues if queue.waiting), key=lambda queue: queue.waiting[0].arrive_ns)
