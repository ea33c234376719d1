"""What must hold after every event of any level, whatever comes: random levels, requests and changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from apftop.apf.objects import Queuing
from apftop.apf.queue import Queue
from apftop.apf.queueset import QueueSet
from apftop.apf.simulate import Event, SimulatedRequest, Simulation

MS = 1_000_000


@dataclass(frozen=True)
class Settings:
    """How a level is set: -1 queues for exempt, 0 for none, as in the server."""

    queues: int
    hand_size: int
    length_limit: int
    limit: int

    @property
    def queuing(self) -> Queuing | None:
        return Queuing(self.queues, min(self.hand_size, self.queues), self.length_limit) if self.queues > 0 else None


@dataclass(frozen=True)
class Given:
    """One request: milliseconds after the one before, milliseconds of service, and the rest."""

    gap: int
    service: int
    flow: int
    initial: int
    final: int
    latency: int
    wait_limit: int | None
    cancel: int | None


levels = st.builds(
    Settings,
    queues=st.sampled_from((-1, 0, 1, 2, 5, 8)),
    hand_size=st.integers(1, 3),
    length_limit=st.integers(1, 4),
    limit=st.integers(0, 6),
)
streams = st.lists(
    st.builds(
        Given,
        gap=st.integers(0, 8),
        service=st.integers(0, 30),
        flow=st.integers(0, 2**64 - 1),
        initial=st.integers(1, 4),
        final=st.sampled_from((0, 0, 0, 2, 8)),
        latency=st.integers(0, 10),
        wait_limit=st.none() | st.integers(0, 40),
        cancel=st.none() | st.integers(0, 60),
    ),
    max_size=40,
)
changes = st.lists(st.tuples(st.integers(0, 200), levels), max_size=4)


def requests_of(stream: list[Given]) -> list[SimulatedRequest]:
    now, found = 0, []
    for one in stream:
        now += one.gap * MS
        found.append(
            SimulatedRequest(
                now,
                one.service * MS,
                flow_hash=one.flow,
                initial_seats=one.initial,
                final_seats=one.final if one.latency else 0,
                additional_latency_ns=one.latency * MS if one.final else 0,
                time_out_ns=None if one.wait_limit is None else now + one.wait_limit * MS,
                cancel_ns=None if one.cancel is None else now + one.cancel * MS,
            )
        )
    return found


def slow_first(level: QueueSet[SimulatedRequest]) -> Queue[SimulatedRequest]:
    """The next queue by looking at all of them in turn, as the server does."""
    best, found = None, None
    for step in range(1, len(level.queues) + 1):
        queue = level.queues[(level.robin + step) % len(level.queues)]
        if queue.waiting:
            finish = queue.next_dispatch_r + queue.waiting[0].work
            if best is None or finish < best:
                best, found = finish, queue
    assert found is not None
    return found


def fits(level: QueueSet[SimulatedRequest], width: int, *, exempt: bool) -> bool:
    if exempt:
        return True
    return level.executing == 0 if width > level.limit else level.seats_in_use + width <= level.limit


class Watch:
    """Checks a level after each event."""

    def __init__(self, level: QueueSet[SimulatedRequest], requests: list[SimulatedRequest], first: Settings) -> None:
        self.level = level
        self.requests = requests
        self.settings = first
        self.trace: list[tuple[int, str, int, int]] = []
        self._widths = {request: request.width for request in requests}
        self._arrived: list[SimulatedRequest] = []
        self._started: set[SimulatedRequest] = set()
        self._ended: set[SimulatedRequest] = set()

    def __call__(
        self, at: int, event: Event, request: SimulatedRequest | None, started: Sequence[SimulatedRequest]
    ) -> None:
        level = self.level
        self.trace.append((at, event, level.r, level.seats_in_use))
        if event == "arrive" and request is not None:
            self._arrived.append(request)
        self._check_sums()
        self._check_fates(at, event, request, started)
        exempt = self.settings.queues < 0
        if started and level.seats_in_use > level.limit and not exempt:
            # Only a request that is wider than the limit may go over it, and only with no other executing.
            assert self._widths[started[-1]] > level.limit
            assert level.executing == 1
        looked = event not in ("time-out", "cancelled") and not (request and request.refusal)
        if level.waiting:
            first = slow_first(level)
            assert level._order.first(level.robin) is first
            if looked and level.seats_in_use < level.limit:
                assert not fits(level, first.waiting[0].width, exempt=exempt)

    def _check_sums(self) -> None:
        level = self.level
        waiting = [one for one in self._arrived if one.state == "waiting"]
        holding = [one for one in self._arrived if one.state in ("executing", "lingering")]
        assert level.waiting == len(waiting) == sum(len(queue.waiting) for queue in level.queues)
        assert level.executing == sum(one.state == "executing" for one in holding)
        assert level.seats_in_use == sum(one.width for one in holding)
        assert level.queued_seats == sum(one.width for one in waiting)
        assert level.leaked_seats >= 0
        assert level.demand == level.seats_in_use + level.seats_waiting
        assert level.idle == (not waiting and not level.executing)
        for index, queue in enumerate(level.queues):
            inside = [one for one in holding if one.queue is queue]
            state = queue.state()
            assert queue.index == index
            assert state.total_work == sum(one.work for one in queue.waiting)
            assert (state.executing, state.seats_in_use) == (
                sum(one.state == "executing" for one in inside),
                sum(one.width for one in inside),
            )
            assert list(queue.waiting) == sorted(queue.waiting, key=self._arrived.index)
            assert not queue.waiting or queue.next_dispatch_r >= queue.waiting[0].arrival_r

    def _check_fates(
        self, at: int, event: Event, request: SimulatedRequest | None, started: Sequence[SimulatedRequest]
    ) -> None:
        for one in started:
            assert one not in self._started
            assert one.start_ns == at
            assert one.state == "executing"
            self._started.add(one)
        if request is None:
            return
        if event in ("finish", "finish-cancelled"):
            assert request in self._started
            assert request not in self._ended
            assert event != "finish" or at == request.start_ns + request.service_ns
            self._ended.add(request)
        elif event == "time-out":
            assert at == request.time_out_ns
            assert request not in self._started
        elif event == "cancelled":
            assert at == request.cancel_ns

    def check_end(self) -> None:
        assert self._arrived == self.requests
        assert self._started == self._ended
        for one in self.requests:
            assert one.state in ("done", "gone", "refused", "waiting")
            assert (one.state == "done") == (one in self._started)
            # Who still waits has no limit, and nothing is left that could free its seats.
            assert one.state != "waiting" or (one.time_out_ns is None and one.cancel_ns is None)
        assert self.level.executing == self.level.seats_in_use == 0


def play(first: Settings, stream: list[Given], later: list[tuple[int, Settings]]) -> Watch:
    level: QueueSet[SimulatedRequest] = QueueSet(first.queuing, first.limit, exempt=first.queues < 0)
    requests = requests_of(stream)
    watch = Watch(level, requests, first)
    simulation = Simulation(level, watch)
    for at, change in later:

        def apply(now: int, change: Settings = change) -> Sequence[SimulatedRequest]:
            watch.settings = change
            return level.reconfigure(now, change.queuing, change.limit, exempt=change.queues < 0)

        simulation.change_at(at * MS, apply)
    simulation.run(requests)
    watch.check_end()
    return watch


@given(levels, streams)
def test_no_request_is_lost_and_no_seat_is_given_twice(first: Settings, stream: list[Given]) -> None:
    play(first, stream, [])


@given(levels, streams, changes)
def test_it_holds_through_changes_of_configuration(
    first: Settings, stream: list[Given], later: list[tuple[int, Settings]]
) -> None:
    play(first, stream, later)


@settings(max_examples=20, deadline=None)
@given(levels, streams, changes)
def test_the_same_input_gives_the_same_run(
    first: Settings, stream: list[Given], later: list[tuple[int, Settings]]
) -> None:
    assert play(first, stream, later).trace == play(first, stream, later).trace
