"""One queue set under all kinds of load: what must hold after every step."""

from __future__ import annotations

from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from apftop.apf.shards import hand
from apftop.demo.queueing import QueueSet
from apftop.demo.request import Place, Request, Target, Work

GET = Target("get", "/api/v1/pods", api_version="v1", resource="pods")
STEP = st.tuples(
    st.sampled_from(["arrive", "arrive", "arrive", "finish", "release", "give up", "resize"]),
    st.integers(0, 10**9),
    st.integers(0, 5),
    st.sampled_from([(1, 0, 0), (1, 0, 0), (3, 0, 0), (9, 0, 0), (1, 4, 5_000_000)]),
)


class Load:
    """A queue set and everybody who ever came to it."""

    def __init__(self, queues: int, hand_size: int, length: int, limit: int) -> None:
        self.set = QueueSet(queues, length, exempt=False, listener=self, now=0)
        self.set.limit = limit
        self.hand_size = hand_size
        self.order: dict[int, list[int]] = {}
        self.started: list[Request] = []
        self.waiting: list[Request] = []
        self.executing: list[Request] = []
        self.lingering: list[Request] = []
        self.counts = dict.fromkeys(("arrived", "dispatched", "refused", "gave up", "enqueued", "unfit"), 0)

    def enqueued(self, request: Request, length: int) -> None:
        assert length == len(self.set.queues[request.queue].waiting)
        self.counts["enqueued"] += 1
        self.waiting.append(request)

    def dispatched(self, request: Request) -> None:
        self.counts["dispatched"] += 1
        if request in self.waiting:
            same = [one for one in self.waiting if one.queue == request.queue]
            assert same[0] is request, "the head of its queue comes first"
            self.waiting.remove(request)
        alone = request.work.width > self.set.limit and not self.executing
        assert alone or self.set.seats_in_use <= self.set.limit
        self.executing.append(request)

    def unfit(self, request: Request) -> None:
        self.counts["unfit"] += 1

    def arrive(self, flow: int, work: Work, now: int) -> None:
        queues = len(self.set.queues)
        place = Place("load", "load", str(flow), hand("load", str(flow), queues, self.hand_size) if queues else ())
        request = Request(str(flow), GET, place, work, now, None, 0)
        self.counts["arrived"] += 1
        before = len(self.waiting)
        refusal = self.set.arrive(request, now)
        if refusal == "queue-full":
            assert self.set.seats_in_use >= self.set.limit
            assert before
        self.counts["refused"] += refusal is not None
        assert refusal or not place.hand or request.queue in place.hand

    def check(self) -> None:
        held = self.set
        assert list(held.executing) == self.executing
        assert held.waiting == len(self.waiting) == sum(len(queue.waiting) for queue in held.queues)
        assert held.waiting_seats == sum(request.work.width for request in self.waiting)
        assert held.seats_in_use == sum(request.work.width for request in (*self.executing, *self.lingering))
        assert held.active_queues == sum(bool(queue.waiting) for queue in held.queues)
        for queue in held.queues:
            assert queue.waiting_work == sum(request.total_work for request in queue.waiting)
            assert not queue.waiting or queue.next_dispatch_r >= queue.waiting[0].arrival_r
        ended = self.counts["refused"] + self.counts["gave up"]
        assert self.counts["arrived"] == self.counts["dispatched"] + ended + held.waiting


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([(0, 1), (1, 1), (4, 2), (16, 4)]), st.integers(1, 4), st.lists(STEP, max_size=120))
def test_seats_queues_and_counts_add_up_after_every_step(
    shape: tuple[int, int], length: int, steps: list[tuple[str, int, int, tuple[int, int, int]]]
) -> None:
    load, now, limits = Load(*shape, length, limit=6), 0, count()
    for what, passed, pick, (initial, final, latency) in steps:
        now += passed
        match what:
            case "arrive":
                load.arrive(pick, Work(initial, final, latency), now)
            case "finish" if load.executing:
                request = load.executing.pop(pick % len(load.executing))
                if request.work.additional_latency_ns:
                    load.lingering.append(request)
                load.set.finish(request, now)
            case "release" if load.lingering:
                load.set.release(load.lingering.pop(pick % len(load.lingering)), now)
            case "give up" if load.waiting:
                load.counts["gave up"] += 1
                load.set.give_up(load.waiting.pop(pick % len(load.waiting)), now)
            case "resize":
                load.set.resize((6, 0, 3, 12)[next(limits) % 4], now)
        load.check()


def test_flows_share_the_seats_evenly_however_many_requests_they_send() -> None:
    load, now = Load(64, 1, 500, limit=4), 0
    for _ in range(300):
        load.arrive(0, Work(), now)
    for _ in range(20):
        load.arrive(1, Work(), now)
    mouse = load.waiting[-20:]
    for _ in range(60):
        now += 100_000_000
        load.set.finish(load.executing.pop(0), now)

    assert sum(request.started_ns is not None for request in mouse) == 20


def test_a_wide_head_keeps_narrower_requests_waiting_while_seats_are_free() -> None:
    load = Load(1, 1, 10, limit=4)
    for width in (3, 4, 1):
        load.arrive(0, Work(width), 0)

    assert (load.set.seats_in_use, load.set.waiting, load.counts["unfit"]) == (3, 2, 2)


def test_a_limit_of_zero_lets_nothing_out_of_a_queue() -> None:
    load = Load(4, 2, 10, limit=0)
    load.arrive(0, Work(), 0)

    assert (load.set.waiting, len(load.set.executing)) == (1, 0)


def test_a_level_without_queues_and_seats_still_lets_one_request_run_alone() -> None:
    load = Load(0, 1, 0, limit=0)
    load.arrive(0, Work(), 0)
    load.arrive(0, Work(), 0)

    assert (load.counts["dispatched"], load.counts["refused"]) == (1, 1)
