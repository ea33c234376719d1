"""The queue set against one that scans and sums everything anew: equal after every event of any random scenario."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.objects import Queuing
from apftop.apf.queueset import QueueSet
from apftop.apf.simulate import Event, SimulatedRequest, Simulation
from tests.apf.dispatches import Dispatches
from tests.apf.naive_queueset import NaiveQueueSet
from tests.apf.queueset_record import state_of

MS = 1_000_000


@dataclass(frozen=True)
class Setting:
    """How a level is set; -1 queues for exempt, 0 for none, as in the server."""

    queues: int
    hand_size: int
    length_limit: int
    limit: int

    @property
    def queuing(self) -> Queuing | None:
        hand_size = 1 + self.hand_size % min(self.queues, 9) if self.queues > 0 else 0
        return Queuing(self.queues, hand_size, self.length_limit) if self.queues > 0 else None

    @property
    def exempt(self) -> bool:
        return self.queues < 0


@dataclass(frozen=True)
class Asked:
    """One request; times in nanoseconds, the gap to the one before, waits from its arrival."""

    gap: int
    service: int
    flow: int
    initial: int
    final: int
    latency: int
    wait_limit: int | None
    cancel: int | None


def times(most_ms: int) -> st.SearchStrategy[int]:
    """On a grid, where much happens at once, or anywhere."""
    grid = st.integers(0, most_ms // 5).map(lambda steps: 5 * steps * MS)
    return grid | st.integers(0, most_ms * MS)


limits = st.integers(0, 12)
levels = st.builds(
    Setting,
    queues=st.sampled_from((-1, 0, 1, 1, 2, 3, 5, 8, 8, 16, 64)),
    hand_size=st.integers(0, 8),
    length_limit=st.integers(1, 5),
    limit=limits,
)
asked = st.builds(
    Asked,
    gap=st.just(0) | times(10),
    service=times(60),
    flow=st.integers(0, 5).map(lambda flow: flow * 0x9E37_79B9_7F4A_7C15 % 2**64) | st.integers(0, 2**64 - 1),
    initial=st.integers(1, 3) | st.integers(1, 15),
    final=st.sampled_from((0, 0, 0, 1, 3, 10, 30)),
    latency=st.just(0) | times(40),
    wait_limit=st.none() | times(60),
    cancel=st.none() | times(90),
)
changes = st.lists(st.tuples(times(250), levels | limits), max_size=5)


class Twins:
    """A level and its naive twin, compared after each event."""

    def __init__(self, first: Setting, lazy_limit_ns: int | None) -> None:
        self.level: QueueSet[SimulatedRequest] = QueueSet(
            first.queuing, first.limit, exempt=first.exempt, lazy_limit_ns=lazy_limit_ns
        )
        self.twin = NaiveQueueSet(first.queuing, first.limit, first.exempt, lazy_limit_ns)
        self.told = Dispatches(self.level)
        self.simulation = Simulation(self.level, self.after)
        self._turned_out: list[SimulatedRequest] = []

    def change(self, at: int, to: Setting | int) -> None:
        def apply(now: int) -> Sequence[SimulatedRequest]:
            if isinstance(to, int):
                started = self.level.set_limit(now, to)
                assert list(started) == self.twin.set_limit(now, to)
                return started
            started = self.level.reconfigure(now, to.queuing, to.limit, exempt=to.exempt)
            assert list(started) == self.twin.reconfigure(now, to.queuing, to.limit, to.exempt)
            return started

        self.simulation.change_at(at, apply)

    def after(
        self, at: int, event: Event, request: SimulatedRequest | None, started: Sequence[SimulatedRequest]
    ) -> None:
        level, twin = self.level, self.twin
        if event == "time-out" and request in level.overdue:
            # Its arrival is told of next; only then does the twin know.
            assert request is not None
            assert (request.state, request.end_ns) == ("gone", at)
            self._turned_out.append(request)
            return
        if request is not None and event == "arrive":
            cost = self._cost[request]
            assert ([*started], request.refusal, self._turned_out) == twin.arrive(at, request, *cost)
            self._turned_out = []
        elif request is not None and event in ("time-out", "cancelled"):
            twin.give_up(at, request)
        elif request is not None:
            assert [*started] == (twin.release if event == "release" else twin.finish)(at, request)
            assert twin.jobs[request].latency_ns == request.additional_latency_ns
        found = [*state_of(level), [astuple(queue.state()) for queue in level.queues]]
        assert found == twin.state()
        assert self.told.all == twin.dispatches
        assert self.told.unfits == twin.unfit
        assert level.demand == twin.seats_in_use + twin.seats_waiting
        assert level.idle == (not twin.waiting and not twin.executing)

    def run(self, stream: list[Asked]) -> None:
        now, requests = 0, []
        for one in stream:
            now += one.gap
            final = one.final if one.latency else 0
            requests.append(
                SimulatedRequest(
                    now,
                    one.service,
                    flow_hash=one.flow,
                    initial_seats=one.initial,
                    final_seats=final,
                    additional_latency_ns=one.latency if final else 0,
                    time_out_ns=None if one.wait_limit is None else now + one.wait_limit,
                    cancel_ns=None if one.cancel is None else now + one.cancel,
                )
            )
        self._cost = {
            one: (one.initial_seats, one.final_seats, one.additional_latency_ns, one.flow_hash) for one in requests
        }
        self.simulation.run(requests)


@given(levels, st.lists(asked, max_size=40), changes)
def test_a_level_goes_the_way_of_its_naive_twin(
    first: Setting, stream: list[Asked], later: list[tuple[int, Setting | int]]
) -> None:
    twins = Twins(first, None)
    for at, to in later:
        twins.change(at, to)
    twins.run(stream)


@given(levels, st.lists(asked, max_size=40), changes, times(40))
def test_with_wait_limits_that_are_noticed_late_too(
    first: Setting, stream: list[Asked], later: list[tuple[int, Setting | int]], lazy_limit_ns: int
) -> None:
    twins = Twins(first, lazy_limit_ns)
    for at, to in later:
        twins.change(at, to)
    twins.run([replace(one, wait_limit=None) for one in stream])
