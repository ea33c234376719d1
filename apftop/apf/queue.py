"""One queue of a priority level."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Generic

from apftop.apf.request import R

NOT_LISTED = 1 << 256
"""Greater than every key in the order of dispatch."""


@dataclass(frozen=True, slots=True)
class QueueState:
    """A queue as `dump_queues` shows it: sums over waiting requests, R and work in units of 1e-8 seat-second."""

    index: int
    waiting: int
    executing: int
    seats_in_use: int
    next_dispatch_r: int
    initial_seats_sum: int
    max_seats_sum: int
    total_work: int


class Queue(Generic[R]):
    """Requests of some flows: those that wait, in order of arrival, and what the others hold.

    `index` is -1 once the queue is removed. `listed_key` is the key under which the order of dispatch has the queue.
    """

    __slots__ = ("executing", "index", "listed_key", "next_dispatch_r", "seats_in_use", "waiting", "waiting_work")

    def __init__(self, index: int) -> None:
        self.index = index
        self.waiting: deque[R] = deque()
        self.executing = 0
        self.seats_in_use = 0
        self.next_dispatch_r = 0
        self.waiting_work = 0
        self.listed_key = NOT_LISTED

    def bound(self) -> None:
        """Let the queue save up no more than its head has waited."""
        if self.waiting:
            arrival_r = self.waiting[0].arrival_r
            if self.next_dispatch_r < arrival_r:
                self.next_dispatch_r = arrival_r

    def state(self) -> QueueState:
        return QueueState(
            index=self.index,
            waiting=len(self.waiting),
            executing=self.executing,
            seats_in_use=self.seats_in_use,
            next_dispatch_r=self.next_dispatch_r,
            initial_seats_sum=sum(request.initial_seats for request in self.waiting),
            max_seats_sum=sum(request.width for request in self.waiting),
            total_work=self.waiting_work,
        )
