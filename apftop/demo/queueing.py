"""The queues of one priority level: hands, fair choice, seats.

Nothing else of the demo knows how requests queue; a queue set is driven by `arrive`, `finish`, `release`, `give_up` and
`resize`, and tells its Listener what comes of it. The rules are those of 1.28.5 to 1.37, but that final seats over the
limit are not reshaped at dispatch, and that queues are never removed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from apftop.apf.work import SERVICE_TIME_GUESS_NS, total_work, work
from apftop.demo.request import Request

Refusal = Literal["queue-full", "concurrency-limit"]

NANOSECONDS_PER_UNIT = 10
"""Virtual time and work are whole units of 1e-8 seat-second."""


class Listener(Protocol):
    """Who is told what happens in a queue set, while it happens."""

    def enqueued(self, request: Request, length: int) -> None:
        """A request was put into its queue, which is now so long."""

    def dispatched(self, request: Request) -> None:
        """A request begins to execute; `started_ns` is set."""

    def unfit(self, request: Request) -> None:
        """The request whose turn it is needs more seats than are free."""


@dataclass(slots=True, eq=False)
class Queue:
    """One queue: who waits (the head first), who executes out of it, and its virtual time."""

    waiting: deque[Request] = field(default_factory=deque)
    executing: dict[Request, None] = field(default_factory=dict)
    seats_in_use: int = 0
    next_dispatch_r: int = 0
    waiting_work: int = 0

    def bound(self) -> None:
        """A queue gets no credit for the time before its head arrived."""
        if self.waiting and self.next_dispatch_r < self.waiting[0].arrival_r:
            self.next_dispatch_r = self.waiting[0].arrival_r


@dataclass(frozen=True, slots=True)
class LastDispatch:
    """The virtual times at the last dispatch from a queue: R, the winner's S, least and greatest S of all that waited.

    The discounted ones are S less 3 ms for each seat that the queue has in use.
    """

    r: int
    latest_s: int
    next_s: tuple[int, int]
    discounted_s: tuple[int, int]


class QueueSet:
    """The queues of one level; a level that rejects has none, nor has an exempt one, which is never full.

    `limit` is the current limit in seats. All times are nanoseconds and must not fall from call to call.
    """

    def __init__(self, queues: int, length_limit: int, *, exempt: bool, listener: Listener, now: int) -> None:
        self.queues = tuple(Queue() for _ in range(queues))
        self.length_limit = length_limit
        self.exempt = exempt
        self.limit = 0
        self.r = 0
        self.synced_ns = now
        self.seats_in_use = 0
        self.waiting = 0
        self.waiting_seats = 0
        self.executing: dict[Request, None] = {}
        self.last_dispatch: LastDispatch | None = None
        self._listener = listener
        self._enqueues = 0
        self._robin = 0
        self._nonempty: set[int] = set()
        self._busy = 0

    @property
    def active_queues(self) -> int:
        """Queues in which something waits."""
        return len(self._nonempty)

    def arrive(self, request: Request, now: int) -> Refusal | None:
        """Take a request in, which may start at once, or refuse it."""
        self._sync(now)
        if not self.queues:
            if not self._fits(request):
                return "concurrency-limit"
            self._start(request, now)
            return None
        index = self._choose(request.place.hand)
        queue = self.queues[index]
        if self.seats_in_use >= self.limit and len(queue.waiting) >= self.length_limit:
            return "queue-full"
        taken = request.work
        request.queue = index
        request.arrival_r = self.r
        request.total_work = total_work(taken.initial_seats, taken.final_seats, taken.additional_latency_ns)
        if not queue.waiting and not queue.executing:
            queue.next_dispatch_r = self.r
            self._busy += 1
        queue.waiting.append(request)
        queue.waiting_work += request.total_work
        self._nonempty.add(index)
        self.waiting += 1
        self.waiting_seats += request.work.width
        self._listener.enqueued(request, len(queue.waiting))
        queue.bound()
        self._dispatch_all(now)
        return None

    def finish(self, request: Request, now: int) -> None:
        """The handler of a request is done; its seats are free at once, or after `release` if it lingers."""
        self._sync(now)
        request.ended = True
        del self.executing[request]
        if request.queue >= 0 and request.started_ns is not None:
            queue = self.queues[request.queue]
            del queue.executing[request]
            self._busy -= not queue.waiting and not queue.executing
            longer = now - request.started_ns - SERVICE_TIME_GUESS_NS
            owed = work(request.work.initial_seats, abs(longer))
            queue.next_dispatch_r += owed if longer > 0 else -owed
            queue.bound()
        if not request.work.additional_latency_ns:
            self._free(request)
        self._dispatch_all(now)

    def release(self, request: Request, now: int) -> None:
        """A request that lingered after its end gives its seats back."""
        self._sync(now)
        self._free(request)
        self._dispatch_all(now)

    def give_up(self, request: Request, now: int) -> None:
        """A waiting request leaves its queue unserved. What may now come first waits for the next dispatch."""
        self._sync(now)
        request.ended = True
        queue = self.queues[request.queue]
        queue.waiting.remove(request)
        self._left(request, queue)
        self._busy -= not queue.waiting and not queue.executing
        queue.bound()

    def resize(self, limit: int, now: int) -> None:
        """Enforce another limit from now on."""
        self._sync(now)
        self.limit = limit
        self._dispatch_all(now)

    def shift(self, nanoseconds: int) -> None:
        """Stand still for some time: who is inside is as old after it as before."""
        self.synced_ns += nanoseconds
        for request in (*self.executing, *(one for queue in self.queues for one in queue.waiting)):
            request.arrived_ns += nanoseconds
            if request.started_ns is not None:
                request.started_ns += nanoseconds

    def _sync(self, now: int) -> None:
        """Let virtual time run up to now, at the seats that are used for each queue in which something happens."""
        if self._busy:
            rate = min(self.seats_in_use + self.waiting_seats, self.limit) / self._busy
            self.r += int(rate * (now - self.synced_ns) / NANOSECONDS_PER_UNIT + 0.5)
        self.synced_ns = now

    def _choose(self, hand: Sequence[int]) -> int:
        """The queue of the hand with the least waiting work, looked through from another card each time."""
        cards = hand or (0,)
        offset = self._enqueues % len(cards)
        self._enqueues += 1
        queues = self.queues
        return min((*cards[offset:], *cards[:offset]), key=lambda card: queues[card].waiting_work)

    def _dispatch_all(self, now: int) -> None:
        while self.waiting and self.seats_in_use < self.limit and self._dispatch_one(now):
            pass

    def _dispatch_one(self, now: int) -> bool:
        """Start the request with the least virtual finish, and nothing else if it does not fit."""
        count, first = len(self.queues), self._robin + 1
        best, best_finish, best_turn = -1, 0, 0
        for index in self._nonempty:
            queue = self.queues[index]
            finish, turn = queue.next_dispatch_r + queue.waiting[0].total_work, (index - first) % count
            if best < 0 or (finish, turn) < (best_finish, best_turn):
                best, best_finish, best_turn = index, finish, turn
        queue = self.queues[best]
        request = queue.waiting[0]
        if not self._fits(request):
            self._listener.unfit(request)
            return False
        self._robin = best
        self.last_dispatch = self._virtual_times(queue)
        queue.waiting.popleft()
        self._left(request, queue)
        queue.executing[request] = None
        queue.seats_in_use += request.work.width
        queue.next_dispatch_r += request.total_work
        queue.bound()
        self._start(request, now)
        return True

    def _virtual_times(self, winner: Queue) -> LastDispatch:
        starts, discounted = [], []
        for index in self._nonempty:
            queue = self.queues[index]
            starts.append(queue.next_dispatch_r)
            discounted.append(max(0, queue.next_dispatch_r - work(queue.seats_in_use, SERVICE_TIME_GUESS_NS)))
        bounds = (min(starts), max(starts)), (min(discounted), max(discounted))
        return LastDispatch(self.r, winner.next_dispatch_r, *bounds)

    def _fits(self, request: Request) -> bool:
        """Whether there are seats; a request wider than the whole limit runs alone."""
        if self.exempt:
            return True
        width = request.work.width
        return not self.executing if width > self.limit else self.seats_in_use + width <= self.limit

    def _start(self, request: Request, now: int) -> None:
        request.started_ns = now
        self.executing[request] = None
        self.seats_in_use += request.work.width
        self._listener.dispatched(request)

    def _left(self, request: Request, queue: Queue) -> None:
        """Take a request, which is out of its queue already, out of the sums of what waits."""
        queue.waiting_work -= request.total_work
        if not queue.waiting:
            self._nonempty.discard(request.queue)
        self.waiting -= 1
        self.waiting_seats -= request.work.width

    def _free(self, request: Request) -> None:
        self.seats_in_use -= request.work.width
        if request.queue >= 0:
            self.queues[request.queue].seats_in_use -= request.work.width
