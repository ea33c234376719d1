"""The queue set once more, written to be right and nothing else: every sum is made anew, every queue is looked at.

It follows the rules in the server's own order, and has floating point numbers where the server has them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from apftop.apf.objects import Queuing
from apftop.apf.request import Request

GUESS_NS = 3_000_000


def go_round(value: float) -> int:
    """The nearest whole number, halves away from zero."""
    nearest = math.floor(abs(Fraction(value)) + Fraction(1, 2))
    return nearest if value >= 0 else -nearest


def seat_seconds(seats: float, ns: int) -> int:
    """Seats times duration in units of 1e-8 seat-second."""
    return go_round(seats * float(ns) / 10)


def naive_hand(hash_value: int, queues: int, hand_size: int) -> list[int]:
    """Cards taken one by one out of a deck."""
    deck = list(range(queues))
    hand = []
    for _ in range(hand_size):
        hash_value, place = divmod(hash_value, len(deck))
        hand.append(deck.pop(place))
    return hand


@dataclass(eq=False)
class Job:
    """A request as it came; `request` is the model's."""

    request: Request
    initial: int
    final: int
    latency_ns: int
    arrive_ns: int
    arrival_r: int
    queue: NaiveQueue | None
    start_ns: int = 0

    def __post_init__(self) -> None:
        self.final_work = seat_seconds(self.final, self.latency_ns)
        self.work = seat_seconds(self.initial, GUESS_NS) + self.final_work

    @property
    def width(self) -> int:
        return max(self.initial, self.final)


@dataclass(eq=False)
class NaiveQueue:
    waiting: list[Job] = field(default_factory=list)
    executing: list[Job] = field(default_factory=list)
    lingering: list[Job] = field(default_factory=list)
    next_dispatch_r: int = 0

    @property
    def seats_in_use(self) -> int:
        return sum(job.width for job in self.executing + self.lingering)

    def bound(self) -> None:
        if self.waiting and self.next_dispatch_r < self.waiting[0].arrival_r:
            self.next_dispatch_r = self.waiting[0].arrival_r


class NaiveQueueSet:
    """The events of one level; each returns the requests that it starts.

    `dispatches` are R, the winner's S, least and greatest S of all queues with something waiting, and the same of S
    less the guess for the seats in use, each at one dispatch; `unfit` are heads whose turn it was in vain. `demands`
    are the times at which the server notes the seats in use and waiting, and these.
    """

    def __init__(
        self, queuing: Queuing | None, limit: int, exempt: bool, lazy_limit_ns: int | None = None, now_ns: int = 0
    ) -> None:
        self.queues: list[NaiveQueue] = []
        self.jobs: dict[Request, Job] = {}
        self.executing: list[Job] = []
        self.lingering: list[Job] = []
        self.r = self.robin = self.enqueues = self.seats_waiting = 0
        self.last_ns = now_ns
        self.lazy_limit_ns = lazy_limit_ns
        self.dispatches: list[tuple[int, ...]] = []
        self.unfit: list[Request] = []
        self.demands: list[tuple[int, int]] = []
        self.reconfigure(now_ns, queuing, limit, exempt)

    @property
    def waiting(self) -> int:
        return sum(len(queue.waiting) for queue in self.queues)

    @property
    def seats_in_use(self) -> int:
        return sum(job.width for job in self.executing + self.lingering)

    def note_demand(self) -> None:
        self.demands.append((self.last_ns, self.seats_in_use + self.seats_waiting))

    def state(self) -> list[object]:
        """What the vectors have under `s`, and the rows of all queues."""
        rows = [
            (
                index,
                len(queue.waiting),
                len(queue.executing),
                queue.seats_in_use,
                queue.next_dispatch_r,
                sum(job.initial for job in queue.waiting),
                sum(job.width for job in queue.waiting),
                sum(job.work for job in queue.waiting),
            )
            for index, queue in enumerate(self.queues)
        ]
        level = [self.waiting, len(self.executing), self.seats_in_use, self.seats_waiting]
        return [*level, self.r, self.robin, self.enqueues, len(self.queues), rows]

    def sync(self, now_ns: int) -> None:
        active = sum(bool(queue.waiting or queue.executing) for queue in self.queues)
        wanted = sum(queue.seats_in_use + sum(job.width for job in queue.waiting) for queue in self.queues)
        rate = min(float(wanted), float(self.limit)) / active if active else 0.0
        self.r += seat_seconds(rate, now_ns - self.last_ns)
        self.last_ns = now_ns

    def reconfigure(self, now_ns: int, queuing: Queuing | None, limit: int, exempt: bool) -> list[Request]:
        self.sync(now_ns)
        self.queuing, self.limit, self.exempt = queuing, limit, exempt
        while queuing and len(self.queues) < queuing.queues:
            self.queues.append(NaiveQueue())
        return self.dispatch_all(now_ns)

    def set_limit(self, now_ns: int, limit: int) -> list[Request]:
        return self.reconfigure(now_ns, self.queuing, limit, self.exempt)

    def arrive(
        self, now_ns: int, request: Request, initial: int, final: int, latency_ns: int, flow_hash: int
    ) -> tuple[list[Request], str | None, list[Request]]:
        """What it starts, why it is refused, and what it turns out."""
        self.sync(now_ns)
        job = self.jobs[request] = Job(request, initial, final, latency_ns, now_ns, self.r, None)
        if not self.queuing:
            if not self.fits(job.width):
                return [], "concurrency-limit", []
            job.start_ns = now_ns
            self.executing.append(job)
            self.note_demand()
            return [request], None, []
        cards = naive_hand(flow_hash, self.queuing.queues, self.queuing.hand_size)
        offset = self.enqueues % len(cards)
        self.enqueues += 1
        cards = cards[offset:] + cards[:offset]
        queue = job.queue = self.queues[min(cards, key=lambda card: sum(one.work for one in self.queues[card].waiting))]
        late = [one for one in queue.waiting if self.lazy_limit_ns is not None and self.overdue(one, now_ns)]
        for one in late:
            self.leave(one)
        turned_out = [one.request for one in late]
        if self.seats_in_use >= self.limit and len(queue.waiting) >= self.queuing.queue_length_limit:
            queue.bound()
            return [], "queue-full", turned_out
        if not queue.waiting and not queue.executing:
            queue.next_dispatch_r = self.r
        queue.waiting.append(job)
        self.seats_waiting += job.width
        self.note_demand()
        queue.bound()
        return self.dispatch_all(now_ns), None, turned_out

    def overdue(self, job: Job, now_ns: int) -> bool:
        return self.lazy_limit_ns is not None and now_ns - self.lazy_limit_ns > job.arrive_ns

    def finish(self, now_ns: int, request: Request) -> list[Request]:
        self.sync(now_ns)
        job = self.jobs[request]
        self.executing.remove(job)
        self.lingering.append(job)
        if job.queue:
            job.queue.executing.remove(job)
            job.queue.lingering.append(job)
            job.queue.next_dispatch_r -= seat_seconds(job.initial, GUESS_NS - (now_ns - job.start_ns))
            job.queue.bound()
        if job.latency_ns <= 0:
            self.free(job)
        return self.dispatch_all(now_ns)

    def release(self, now_ns: int, request: Request) -> list[Request]:
        self.sync(now_ns)
        self.free(self.jobs[request])
        return self.dispatch_all(now_ns)

    def give_up(self, now_ns: int, request: Request) -> None:
        self.sync(now_ns)
        self.leave(self.jobs[request])

    def leave(self, job: Job) -> None:
        assert job.queue is not None
        job.queue.waiting.remove(job)
        self.seats_waiting -= job.width
        self.note_demand()
        job.queue.bound()

    def free(self, job: Job) -> None:
        self.lingering.remove(job)
        self.note_demand()
        queue = job.queue
        if queue is None:
            return
        queue.lingering.remove(job)
        desired = self.queuing.queues if self.queuing else 0
        surplus = len(self.queues) > desired and queue in self.queues
        if surplus and not queue.waiting and not queue.executing:
            index = self.queues.index(queue)
            self.queues.remove(queue)
            if self.robin >= index:
                self.robin -= 1

    def fits(self, width: int) -> bool:
        if self.exempt:
            return True
        if width > self.limit:
            return not self.executing
        return self.seats_in_use + width <= self.limit

    def dispatch_all(self, now_ns: int) -> list[Request]:
        started: list[Request] = []
        while self.waiting and self.seats_in_use < self.limit:
            request = self.dispatch(now_ns)
            if request is None:
                break
            started.append(request)
        return started

    def dispatch(self, now_ns: int) -> Request | None:
        best, best_index, least = None, 0, math.inf
        for _ in self.queues:
            self.robin = (self.robin + 1) % len(self.queues)
            queue = self.queues[self.robin]
            if queue.waiting and queue.next_dispatch_r + queue.waiting[0].work < least:
                best, best_index, least = queue, self.robin, queue.next_dispatch_r + queue.waiting[0].work
        assert best is not None
        job = best.waiting[0]
        if not self.fits(job.width):
            self.unfit.append(job.request)
            return None
        starts = [queue.next_dispatch_r for queue in self.queues if queue.waiting]
        # Unsigned, as in the server: less than nothing is a very great number.
        discounted = [
            (queue.next_dispatch_r - seat_seconds(queue.seats_in_use, GUESS_NS)) % 2**64
            for queue in self.queues
            if queue.waiting
        ]
        bounds = min(starts), max(starts), min(discounted), max(discounted)
        self.dispatches.append((self.r, best.next_dispatch_r, *bounds))
        best.waiting.pop(0)
        if job.final > self.limit:
            job.latency_ns = int(float(job.final_work) / float(self.limit) * 10)
            job.final = self.limit
        self.robin = best_index
        self.seats_waiting -= job.width
        job.start_ns = now_ns
        self.executing.append(job)
        best.executing.append(job)
        self.note_demand()
        best.next_dispatch_r += job.work
        best.bound()
        return job.request
