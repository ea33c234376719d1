"""The meters of a level against the model that they watch."""

from __future__ import annotations

from apftop.apf.attributes import attributes
from apftop.apf.estimate import WorkEstimate
from apftop.apf.objects import FlowSchema, Meta, PriorityLevelConfiguration, Queuing
from apftop.apf.replica import Replica
from apftop.demo.build import RELEASE
from apftop.demo.inflight import Inflight
from apftop.demo.level import LastDispatch, Level
from apftop.demo.meters import Tally
from apftop.demo.plane import ControlPlane
from apftop.demo.request import Request
from tests.demo.planes import EPOCH_NS, HOT, SECOND_NS, a_plane, live

GET = attributes("GET", "/api/v1/pods/x", user="anybody")
MS = 1_000_000


class OneLevel:
    """A level with its meters that takes all requests of its one schema. Instants are milliseconds of its life."""

    def __init__(self, limit: int, queuing: Queuing | None = None) -> None:
        schema = FlowSchema(Meta("catch-all"), "catch-all")
        self.inflight = Inflight({"executing": 10, "waiting": 10}, EPOCH_NS)
        self.replica: Replica[Request] = Replica(limit, RELEASE, EPOCH_NS)
        config = PriorityLevelConfiguration(Meta("catch-all"), exempt=False, shares=1, queuing=queuing)
        self.replica.digest(EPOCH_NS, [schema], [config])
        queue_set = self.replica.queue_sets["catch-all"]
        self.level = Level(self.replica.levels["catch-all"], queue_set, limit, self.inflight, EPOCH_NS)

    @property
    def tally(self) -> Tally:
        return self.level.tallies["catch-all"]

    def arrive(self, at_ms: int, cost: WorkEstimate = WorkEstimate()) -> Request:  # noqa: B008
        now = EPOCH_NS + at_ms * MS
        request = Request(GET, cost, None, 0)
        self.level.arrived(request, self.replica.arrive(now, request), now)
        return request

    def finish(self, at_ms: int, request: Request) -> None:
        now = EPOCH_NS + at_ms * MS
        self.level.finished(request, 0.1, self.replica.finish(now, request), now)

    def release(self, at_ms: int, request: Request) -> None:
        now = EPOCH_NS + at_ms * MS
        self.level.released(request, self.replica.release(now, request), now)


def test_a_head_that_does_not_fit_is_counted_at_each_attempt() -> None:
    one = OneLevel(4, Queuing(1, 1, 10))
    for width in (3, 4, 1):
        one.arrive(0, WorkEstimate(width))

    assert (one.level.queue_set.seats_in_use, one.level.queue_set.waiting) == (3, 2)
    assert one.tally.no_accommodation == 2


def test_virtual_times_are_shown_as_they_were_at_the_last_dispatch() -> None:
    one = OneLevel(1, Queuing(1, 1, 10))
    first = one.arrive(0)
    # One seat in one queue: R grows by 1e-8 seat-second in 10 ns. S was raised to R when the second came, after 20 ms,
    # and now is charged with the 97 ms that the first took beyond the guess of 3 ms.
    one.arrive(20)
    one.arrive(30)
    one.finish(100, first)

    s = 2_000_000 + 9_700_000
    assert one.level.last_dispatch == LastDispatch(10_000_000, s, (s, s), (s, s))
    assert one.level.queue_set.queues[0].next_dispatch_r == s + 300_000


def test_a_level_without_queues_shows_no_virtual_times_and_no_queue_lengths() -> None:
    one = OneLevel(1)
    one.arrive(0)
    one.arrive(0)

    assert one.level.last_dispatch is None
    assert (one.tally.queue_lengths.count, one.tally.waiting) == (0, 0)
    assert (one.tally.dispatched, one.tally.rejected) == (1, {"concurrency-limit": 1})


def test_the_length_after_enqueue_counts_the_newcomer_also_if_it_starts_at_once() -> None:
    one = OneLevel(1, Queuing(1, 1, 20))
    for _ in range(12):
        one.arrive(0)

    # 1 for the one that starts, then 1 to 11.
    assert one.tally.queue_lengths.sum == 1 + sum(range(1, 12))


def test_lingering_seats_are_held_until_their_release() -> None:
    one = OneLevel(5, Queuing(1, 1, 10))
    request = one.arrive(0, WorkEstimate(1, 3, 5 * MS))
    one.finish(10, request)
    assert (one.tally.executing, one.tally.seats_in_use, one.level.queue_set.executing) == (0, 3, 0)

    one.release(15, request)
    assert one.tally.seats_in_use == one.level.queue_set.seats_in_use == 0


def test_final_seats_that_are_cut_at_dispatch_leave_waiting_seats_behind_as_in_the_server() -> None:
    one = OneLevel(3, Queuing(1, 1, 10))
    request = one.arrive(0, WorkEstimate(1, 7, 5 * MS))

    assert (request.width, one.tally.seats_in_use, one.tally.waiting) == (3, 3, 0)
    assert one.tally.waiting_seats == one.level.queue_set.seats_waiting == 4
    assert one.tally.widths.sum == 7


def test_gauges_are_those_of_the_model_at_every_second_of_the_cycle() -> None:
    plane: ControlPlane = a_plane()
    server = plane.servers[HOT]
    for second in range(180):
        live(server, float(second))
        assert server.now == EPOCH_NS + second * SECOND_NS
        for level in server.levels.values():
            held, tallies = level.queue_set, level.tallies.values()
            assert sum(tally.waiting for tally in tallies) == held.waiting
            assert sum(tally.waiting_seats for tally in tallies) == held.seats_waiting
            assert sum(tally.executing for tally in tallies) == held.executing == len(level.executing)
            assert sum(tally.seats_in_use for tally in tallies) == held.seats_in_use
            assert level.model.current == held.limit
            assert level.model.demand.seats == held.demand
    for phase in ("waiting", "executing"):
        counted = sum(peak.value for (one, _), peak in server.inflight.peaks.items() if one == phase)
        assert counted == sum(getattr(level.queue_set, phase) for level in server.levels.values())
