"""The queue set of one priority level: shuffle sharding, fair queuing and seats, event for event (1.26 to 1.37).

Only the way in which waits end differs: since 1.28.5 by the clock (`give_up`); before, a wait limit is noticed when
another request arrives at the same queue (`lazy_limit_ns`), and `give_up` is for clients that go away. Left out: the
wind-back of R after some 1e11 seat-seconds, and servers of up to 1.27 on arm64, which charge no long service times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Protocol

from apftop.apf.dispatch_order import DispatchOrder
from apftop.apf.objects import Queuing
from apftop.apf.queue import Queue
from apftop.apf.request import R, Refusal, Request
from apftop.apf.shards import deal, deal_fault
from apftop.apf.work import SERVICE_TIME_GUESS_NS, duration_per_seat_ns, work

MOST_HANDS = 4096


class Observer(Protocol):
    """Who is told of a level what its events do not return."""

    def dispatching(self, queue: Queue[Any]) -> None:
        """The head of this queue is about to start; it still stands there."""

    def unfit(self, request: Any) -> None:
        """It is the turn of this request, but there are not seats enough for it."""


class QueueSet(Generic[R]):
    """Requests of one level on one server. Each method is one event; each returns the requests that start by it.

    Times are nanoseconds and must not go back; R is the virtual time in units of 1e-8 seat-second, brought up to date
    by each event and only then, as in the server, so that every rounding is the server's. `limit` is the current limit
    in seats; it does not hold an exempt level. Counts are of requests, `seats_in_use` includes lingering requests.
    `observer` may be set at any time. `overdue` are the requests that the last arrival turned out, as `lazy_limit_ns`
    has it.
    """

    __slots__ = (
        "_active",
        "_desired",
        "_exempt",
        "_hand_size",
        "_hands",
        "_last_ns",
        "_lazy_limit_ns",
        "_length_limit",
        "_order",
        "_outside",
        "arrivals",
        "executing",
        "leaked_seats",
        "limit",
        "observer",
        "overdue",
        "queued_seats",
        "queues",
        "r",
        "robin",
        "seats_in_use",
        "waiting",
    )

    def __init__(
        self,
        queuing: Queuing | None,
        limit: int,
        now_ns: int = 0,
        *,
        exempt: bool = False,
        lazy_limit_ns: int | None = None,
    ) -> None:
        """An empty level; without `queuing` it refuses what does not fit, unless it is exempt.

        An arrival turns out of the queue that it comes to those that have waited there longer than `lazy_limit_ns`, and
        nothing else does; None since 1.28.5. Raises ValueError for a hand that cannot be dealt.
        """
        self.queues: list[Queue[R]] = []
        self.observer: Observer | None = None
        self.overdue: Sequence[R] = ()
        self.r = 0
        self.robin = 0
        self.arrivals = 0
        self.waiting = 0
        self.executing = 0
        self.seats_in_use = 0
        self.queued_seats = 0
        self.leaked_seats = 0
        self._active = 0
        self._outside = 0
        self._last_ns = now_ns
        self._lazy_limit_ns = lazy_limit_ns
        self._hand_size = 1
        self._length_limit = 0
        self._hands: dict[int, tuple[tuple[Queue[R], ...], ...]] = {}
        self.reconfigure(now_ns, queuing, limit, exempt=exempt)

    @property
    def seats_waiting(self) -> int:
        """Seats that the server says are waiting.

        When it cuts final seats to the limit at dispatch it takes off too little, and what is left stays for ever.
        """
        return self.queued_seats + self.leaked_seats

    @property
    def demand(self) -> int:
        """The seat demand that borrowing goes by."""
        return self.seats_in_use + self.queued_seats + self.leaked_seats

    @property
    def idle(self) -> bool:
        """Whether nothing waits or executes; requests that linger do not count."""
        return self.waiting == 0 and self.executing == 0

    def reconfigure(self, now_ns: int, queuing: Queuing | None, limit: int, *, exempt: bool = False) -> Sequence[R]:
        """Take new settings. New queues come at once; surplus ones go when a request from them ends and they are empty.

        Raises ValueError for a hand that cannot be dealt.
        """
        fault = deal_fault(queuing.queues, queuing.hand_size) if queuing else None
        if fault:
            raise ValueError(fault)
        self._sync(now_ns)
        self._exempt = exempt
        self.limit = limit
        self._desired = queuing.queues if queuing else 0
        if queuing:
            self._hand_size = queuing.hand_size
            self._length_limit = queuing.queue_length_limit
            self.queues += [Queue(index) for index in range(len(self.queues), queuing.queues)]
        self._relist()
        return self._dispatch(now_ns)

    def set_limit(self, now_ns: int, limit: int) -> Sequence[R]:
        """Take a new current limit, as each adjustment gives one, changed or not."""
        self._sync(now_ns)
        self.limit = limit
        return self._dispatch(now_ns)

    def arrive(self, now_ns: int, request: R) -> Sequence[R]:
        """A new request comes in: it starts, waits, or is refused (then `request.refusal` says why)."""
        self._sync(now_ns)
        request.arrive_ns = now_ns
        if not self._desired:
            return self._arrive_without_queue(now_ns, request)
        hands = self._hands.get(request.flow_hash) or self._deal(request.flow_hash)
        hand = hands[self.arrivals % self._hand_size]
        self.arrivals += 1
        queue = hand[0]
        least = queue.waiting_work
        if least:
            for card in hand:
                if card.waiting_work < least:
                    queue = card
                    least = card.waiting_work
        request.queue = queue
        waiting = queue.waiting
        if self._lazy_limit_ns is not None:
            self.overdue = self._turn_out(queue, now_ns - self._lazy_limit_ns)
        if self.seats_in_use >= self.limit and len(waiting) >= self._length_limit:
            _refuse(request, "queue-full")
            return ()
        request.arrival_r = self.r
        request.state = "waiting"
        waiting.append(request)
        queue.waiting_work += request.work
        self.queued_seats += request.width
        self.waiting += 1
        if len(waiting) == 1:
            if not queue.executing:
                self._active += 1
                queue.next_dispatch_r = self.r
            elif queue.next_dispatch_r < self.r:
                queue.next_dispatch_r = self.r
            self._order.note(queue)
        return self._dispatch(now_ns) if self.seats_in_use < self.limit else ()

    def finish(self, now_ns: int, request: R) -> Sequence[R]:
        """An executing request is done; it holds its seats on if it has additional latency (then `release` follows)."""
        self._sync(now_ns)
        self.executing -= 1
        queue = request.queue
        if queue is not None:
            queue.executing -= 1
            # The guess of its service time is put right, for its initial seats only.
            seat_time = request.initial_seats * (now_ns - request.start_ns - SERVICE_TIME_GUESS_NS)
            if seat_time >= 0:
                queue.next_dispatch_r += (seat_time + 5) // 10
            else:
                queue.next_dispatch_r -= (5 - seat_time) // 10
                if queue.waiting:
                    queue.bound()
                    self._order.note(queue)
            if not queue.executing and not queue.waiting:
                self._active -= 1
        if request.additional_latency_ns > 0:
            request.state = "lingering"
        else:
            self._free(request)
        return self._dispatch(now_ns)

    def release(self, now_ns: int, request: R) -> Sequence[R]:
        """The additional latency of a finished request is over."""
        self._sync(now_ns)
        self._free(request)
        return self._dispatch(now_ns)

    def give_up(self, now_ns: int, request: R) -> None:
        """A waiting request leaves: its wait limit has passed or its client has gone. Nothing starts by that."""
        self._sync(now_ns)
        queue = request.queue
        if queue is None or request.state != "waiting":
            raise ValueError(f"a request that is {request.state} cannot give up waiting")
        queue.waiting.remove(request)
        self._left(queue, request)

    def take_in(self, request: R, index: int) -> None:
        """Put in a request that was seen inside: waiting, executing or lingering as its state says, in a queue or -1.

        Its queue's next dispatch R must be set before, and its own arrival R or start; queues are filled in order.
        Raises ValueError for one that waits in no queue.
        """
        if request.state == "waiting" and index < 0:
            raise ValueError("a request waits in no queue")
        queue = self.queues[index] if index >= 0 else None
        request.queue = queue
        if queue and not queue.waiting and not queue.executing and request.state != "lingering":
            self._active += 1
        if request.state == "waiting" and queue:
            queue.waiting.append(request)
            queue.waiting_work += request.work
            self.queued_seats += request.width
            self.waiting += 1
            if len(queue.waiting) == 1:
                # What was reckoned may be too high: a queue is never behind the arrival of its head.
                request.arrival_r = min(request.arrival_r, queue.next_dispatch_r)
                self._order.note(queue)
            return
        self.seats_in_use += request.width
        if queue:
            queue.seats_in_use += request.width
        else:
            self._outside += request.width
        if request.state == "executing":
            self.executing += 1
            if queue:
                queue.executing += 1

    def _sync(self, now_ns: int) -> None:
        """Bring R up to date: it grows by the seats in use or asked for, up to the limit, shared by active queues.

        A queue is active while something waits or executes there; one that only lingers is not.
        """
        passed = now_ns - self._last_ns
        self._last_ns = now_ns
        if passed and self._active:
            seats = self.seats_in_use - self._outside + self.queued_seats
            if seats > self.limit:
                seats = self.limit
            growth = seats / self._active * passed / 10
            whole = int(growth)
            self.r += whole + 1 if growth - whole >= 0.5 else whole

    def _arrive_without_queue(self, now_ns: int, request: R) -> Sequence[R]:
        self.overdue = ()
        if not self._fits(request.width):
            _refuse(request, "concurrency-limit")
            return ()
        self._outside += request.width
        self._start(now_ns, request)
        return (request,)

    def _turn_out(self, queue: Queue[R], before_ns: int) -> Sequence[R]:
        """Let those go that came to a queue before a moment and still wait there."""
        late: list[R] = []
        while queue.waiting and queue.waiting[0].arrive_ns < before_ns:
            request = queue.waiting.popleft()
            self._left(queue, request)
            late.append(request)
        return late

    def _left(self, queue: Queue[R], request: R) -> None:
        """Account for a request that has been taken out of its queue unserved."""
        queue.waiting_work -= request.work
        self.queued_seats -= request.width
        self.waiting -= 1
        request.state = "gone"
        if queue.waiting:
            queue.bound()
            self._order.note(queue)
        elif not queue.executing:
            self._active -= 1

    def _deal(self, flow_hash: int) -> tuple[tuple[Queue[R], ...], ...]:
        """The hand of a flow, once for each card that it may begin with."""
        if len(self._hands) >= MOST_HANDS:
            self._hands.clear()
        hand = [self.queues[card] for card in deal(flow_hash, self._desired, self._hand_size)]
        hands = tuple(tuple(hand[start:] + hand[:start]) for start in range(self._hand_size))
        self._hands[flow_hash] = hands
        return hands

    def _dispatch(self, now_ns: int) -> Sequence[R]:
        """Start what can be started. If the head that is next does not fit, no other is tried."""
        if not self.waiting or self.seats_in_use >= self.limit:
            return ()
        started: list[R] = []
        observer = self.observer
        while self.waiting and self.seats_in_use < self.limit:
            queue = self._order.first(self.robin)
            request = queue.waiting[0]
            width = request.width
            if not self._fits(width):
                if observer is not None:
                    observer.unfit(request)
                self.robin %= len(self.queues)
                break
            if observer is not None:
                observer.dispatching(queue)
            queue.waiting.popleft()
            queue.waiting_work -= request.work
            self.queued_seats -= width
            self.waiting -= 1
            if request.final_seats > self.limit:
                self._cut(request)
            self.robin = queue.index
            queue.executing += 1
            queue.seats_in_use += request.width
            queue.next_dispatch_r += request.work
            if queue.waiting:
                queue.bound()
            self._start(now_ns, request)
            started.append(request)
        return started

    def _fits(self, width: int) -> bool:
        if self._exempt:
            return True
        if width > self.limit:
            return self.executing == 0
        return self.seats_in_use + width <= self.limit

    def _cut(self, request: Request) -> None:
        """Make the final seats fit the limit, and last longer for it."""
        width = request.width
        final_work = work(request.final_seats, request.additional_latency_ns)
        request.final_seats = self.limit
        request.additional_latency_ns = duration_per_seat_ns(final_work, self.limit)
        request.width = max(request.initial_seats, self.limit)
        self.leaked_seats += width - request.width

    def _start(self, now_ns: int, request: R) -> None:
        request.state = "executing"
        request.start_ns = now_ns
        self.executing += 1
        self.seats_in_use += request.width

    def _free(self, request: R) -> None:
        """Take back the seats of a request that is done."""
        request.state = "done"
        self.seats_in_use -= request.width
        queue = request.queue
        if queue is None:
            self._outside -= request.width
            return
        queue.seats_in_use -= request.width
        if queue.index < 0:
            self._outside -= request.width
        elif len(self.queues) > self._desired and not queue.waiting and not queue.executing:
            self._remove(queue)

    def _remove(self, queue: Queue[R]) -> None:
        """Take out a surplus queue. Seats that linger in it count for the level, but no more for R.

        The server takes out another queue, or crashes, when a second request of a removed queue ends; this does not.
        """
        del self.queues[queue.index]
        if self.robin >= queue.index:
            self.robin -= 1
        for index in range(queue.index, len(self.queues)):
            self.queues[index].index = index
        queue.index = -1
        self._outside += queue.seats_in_use
        self._relist()

    def _relist(self) -> None:
        """Queues have come, gone or moved: hands and the order of dispatch are made anew."""
        self._hands.clear()
        self._order = DispatchOrder(self.queues)


def _refuse(request: Request, refusal: Refusal) -> None:
    request.state = "refused"
    request.refusal = refusal
