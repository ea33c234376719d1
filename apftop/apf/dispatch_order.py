"""Which queue is next: the one whose head would be done first in virtual time."""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from typing import Generic

from apftop.apf.queue import NOT_LISTED, Queue
from apftop.apf.request import R


class DispatchOrder(Generic[R]):
    """The queues with waiting requests by virtual finish (next dispatch R plus the work of the head), least first.

    A heap of keys, each a finish and the index of its queue in one number. The key of a listed queue may be too low: it
    is put right when it comes to the top, so that a queue whose finish only grows costs nothing. A queue has one valid
    key, `listed_key`; others of it are dropped when they come up.
    """

    __slots__ = ("_bits", "_heap", "_mask", "_queues")

    def __init__(self, queues: list[Queue[R]]) -> None:
        """List all queues anew; needed after queues were added or removed."""
        self._queues = queues
        self._bits = len(queues).bit_length()
        self._mask = (1 << self._bits) - 1
        for queue in queues:
            queue.listed_key = self._key(queue) if queue.waiting else NOT_LISTED
        self._heap = [queue.listed_key for queue in queues if queue.waiting]
        heapify(self._heap)

    def _key(self, queue: Queue[R]) -> int:
        return (queue.next_dispatch_r + queue.waiting[0].work) << self._bits | queue.index

    def note(self, queue: Queue[R]) -> None:
        """Must be told of each queue with waiting requests whose virtual finish may have fallen, or is new."""
        key = (queue.next_dispatch_r + queue.waiting[0].work) << self._bits | queue.index
        if key < queue.listed_key:
            queue.listed_key = key
            heappush(self._heap, key)

    def first(self, robin: int) -> Queue[R]:
        """The next queue; of equal ones the first after index `robin`. Something must be waiting."""
        heap, bits = self._heap, self._bits
        while True:
            top = heap[0]
            queue = self._queues[top & self._mask]
            if queue.listed_key != top:
                heappop(heap)
            elif not queue.waiting:
                heappop(heap)
                queue.listed_key = NOT_LISTED
            else:
                key = (queue.next_dispatch_r + queue.waiting[0].work) << bits | queue.index
                if key == top:
                    break
                heapreplace(heap, key)
                queue.listed_key = key
        finish = top >> bits
        # Keys are never too high, so that an equal finish stands directly below the top.
        size = len(heap)
        if (size > 1 and heap[1] >> bits == finish) or (size > 2 and heap[2] >> bits == finish):
            return self._first_of_equals(finish, robin)
        return queue

    def _first_of_equals(self, finish: int, robin: int) -> Queue[R]:
        equals = [
            queue for queue in self._queues if queue.waiting and queue.next_dispatch_r + queue.waiting[0].work == finish
        ]
        return min(equals, key=lambda queue: (queue.index - robin - 1) % len(self._queues))
