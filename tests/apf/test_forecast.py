"""Runs that start from a dump: what they take over, what they draw, and whether their bands hold what then happens."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.demand import DemandStats
from apftop.apf.estimate import WorkEstimate
from apftop.apf.forecast import Band, band, forecast, generators
from apftop.apf.objects import Queuing
from apftop.apf.queueset import QueueSet
from apftop.apf.release import Release
from apftop.apf.replica import Replica
from apftop.apf.resume import SeenLevel, SeenQueue, SeenRequest, resume
from apftop.apf.service_times import ServiceTimes
from apftop.apf.shards import flow_hash
from apftop.apf.simulate import SimulatedRequest, Simulation
from apftop.apf.traffic import Sample, Traffic

MS = 10**6
SECOND = 10**9
QUEUING = Queuing(8, 3, 10)
SERVICE = ServiceTimes((50 * MS, 100 * MS, 200 * MS, 500 * MS), (10, 20, 10, 4, 0))
SAMPLES = [Sample(WorkEstimate(), flow_hash("s", f"user-{index}")) for index in (0, 0, 0, 1, 2)]
# Eight seats and a mean service of 130 ms: a load of 1.3.
TRAFFIC = Traffic(80 * 4, SAMPLES, SERVICE, batches=(1, 1, 4))


def running(seed: int, until_ns: int) -> tuple[QueueSet[SimulatedRequest], Simulation, list[SimulatedRequest]]:
    level: QueueSet[SimulatedRequest] = QueueSet(QUEUING, 8)
    simulation = Simulation(level)
    rng = random.Random(seed)
    requests = replace(TRAFFIC, count=80 * 4).draw(rng, 0, 4 * SECOND)
    simulation.run(requests, until_ns)
    return level, simulation, requests


def seen(level: QueueSet[SimulatedRequest], requests: list[SimulatedRequest], at_ns: int) -> SeenLevel:
    inside = [one for one in requests if one.state in ("waiting", "executing") and one.queue is not None]
    return SeenLevel(
        at_ns,
        QUEUING,
        level.limit,
        level.r,
        [SeenQueue(queue.next_dispatch_r, queue.seats_in_use) for queue in level.queues],
        [
            SeenRequest(
                one.queue.index if one.queue else -1,
                one.arrive_ns,
                None if one.state == "waiting" else one.start_ns,
                WorkEstimate(one.initial_seats, one.final_seats, one.additional_latency_ns),
                one.flow_hash,
            )
            for one in inside
        ],
    )


def test_a_resumed_level_shows_the_same_queues() -> None:
    level, _, requests = running(1, 2 * SECOND)
    assert level.waiting

    resumed, inside = resume(seen(level, requests, 2 * SECOND), SERVICE, random.Random(1))

    assert [queue.state() for queue in resumed.queues] == [queue.state() for queue in level.queues]
    assert (resumed.waiting, resumed.executing, resumed.seats_in_use, resumed.demand, resumed.r) == (
        level.waiting,
        level.executing,
        level.seats_in_use,
        level.demand,
        level.r,
    )
    for one in inside:
        if one.state == "executing":
            assert one.start_ns + one.service_ns > 2 * SECOND
        else:
            assert 0 <= one.arrival_r <= level.r


def test_what_a_dump_hides_is_drawn_anew_for_each_run() -> None:
    level, _, requests = running(1, 2 * SECOND)
    dump = seen(level, requests, 2 * SECOND)
    drawn = {(one.robin, one.arrivals) for one in (resume(dump, SERVICE, rng)[0] for rng in generators(1, 200))}

    assert {robin for robin, _ in drawn} == set(range(8))
    assert {arrivals for _, arrivals in drawn} == set(range(3))


def test_seats_that_linger_are_given_back_in_time() -> None:
    dump = SeenLevel(
        SECOND,
        QUEUING,
        4,
        100,
        [SeenQueue(200, 3), *[SeenQueue(0, 0)] * 7],
        [
            SeenRequest(0, SECOND - MS, SECOND - MS, WorkEstimate()),
            SeenRequest(0, SECOND - MS, None, WorkEstimate(1, 3, 20 * MS)),
        ],
    )
    level, inside = resume(dump, SERVICE, random.Random(1))
    simulation = Simulation(level)
    for one in inside:
        simulation.go_on(one)

    assert (level.seats_in_use, level.executing, level.waiting) == (3, 1, 1)
    simulation.run([], SECOND + 20 * MS)
    assert inside[2].state == "done"
    simulation.run([])
    assert [one.state for one in inside] == ["done", "done", "done"]
    assert (level.seats_in_use, level.executing, level.waiting) == (0, 0, 0)


def test_a_queue_where_seats_only_linger_is_not_active() -> None:
    dump = SeenLevel(SECOND, QUEUING, 4, 100, [SeenQueue(200, 3), *[SeenQueue(0, 0)] * 7], [])
    level, _ = resume(dump, SERVICE, random.Random(1))

    level.set_limit(2 * SECOND, 4)

    assert (level.seats_in_use, level.r) == (3, 100)


def test_what_happens_before_the_interval_is_not_counted() -> None:
    row = SeenRequest(2, SECOND - MS, None, WorkEstimate())
    dump = SeenLevel(SECOND, QUEUING, 1, 0, [SeenQueue(0, 0)] * 8, [SeenRequest(2, 0, 0, WorkEstimate()), row])
    slow = replace(TRAFFIC, count=0)

    counted = [
        forecast(dump, slow, 4 * SECOND, counted_from_ns=start, seed=1, runs=3) for start in (SECOND, 3 * SECOND)
    ]

    assert [one.dispatched.middle for one in counted] == [1, 0]
    assert counted[1].mean_wait is None


def test_a_level_without_queues_goes_on_too() -> None:
    rows = [SeenRequest(-1, 0, 0, WorkEstimate())] * 2
    level, inside = resume(SeenLevel(SECOND, None, 2, 0, [], rows), SERVICE, random.Random(1))
    refused = SimulatedRequest(SECOND, MS)

    level.arrive(SECOND, refused)

    assert refused.refusal == "concurrency-limit"
    level.finish(2 * SECOND, inside[0])
    assert (level.executing, level.seats_in_use) == (1, 1)


def test_a_replica_goes_on_from_what_was_seen_of_a_level() -> None:
    release = Release(1, 37, 2)
    replica: Replica[SimulatedRequest] = Replica(600, release)
    replica.digest(0, builtin_schemas(release).values(), builtin_levels().values())
    queuing = builtin_levels()["system"].queuing
    assert queuing is not None
    rows = [SeenRequest(3, 0, SECOND, WorkEstimate()), SeenRequest(3, SECOND, None, WorkEstimate())]
    dump = SeenLevel(2 * SECOND, queuing, 1, 10**9, [SeenQueue(10**9, int(index == 3)) for index in range(64)], rows)
    level, inside = resume(dump, SERVICE, random.Random(1))

    replica.resume(2 * SECOND, "system", level, inside, DemandStats(5, 4.0, 1.0, 80.0))
    simulation = Simulation(replica)
    inside[0].service_ns = inside[1].service_ns = 2 * SECOND
    for one in inside:
        simulation.go_on(one)
    system = replica.levels["system"]
    assert (system.current, system.demand.seats, replica.queue_sets["system"]) == (1, 2, level)
    simulation.change_at(2 * SECOND + MS, lambda now: replica.adjust(now)[1])
    simulation.run([], 2 * SECOND + MS)

    # The demand of before is remembered: 0.977 * 80 + 0.023 * 2 seats.
    assert system.stats.smoothed == pytest.approx(78.2, abs=0.01)
    assert system.current > 74
    assert [one.state for one in inside] == ["executing", "executing"]
    simulation.run([])
    assert (system.demand.seats, level.idle) == (0, True)


def test_requests_seen_waiting_keep_their_limit() -> None:
    dump = SeenLevel(SECOND, QUEUING, 0, 0, [SeenQueue(0, 0)] * 8, [SeenRequest(2, SECOND - MS, None, WorkEstimate())])
    found = forecast(dump, replace(TRAFFIC, count=0, wait_limit_ns=10 * MS), 2 * SECOND, seed=1, runs=3)

    assert found.timed_out == Band(1, 1, 1)
    assert found.mean_wait == Band(10 * MS, 10 * MS, 10 * MS)
    assert found.starts == (None,)


def test_a_level_that_has_more_queues_than_it_should_goes_on_to_shed_them() -> None:
    rows = [SeenRequest(9, SECOND - MS, SECOND - MS, WorkEstimate()), SeenRequest(9, SECOND, None, WorkEstimate())]
    dump = SeenLevel(SECOND, QUEUING, 1, 100, [SeenQueue(100, int(index == 9)) for index in range(10)], rows)
    drawn = [resume(dump, SERVICE, rng) for rng in generators(1, 100)]
    assert {level.robin for level, _ in drawn} == set(range(10))
    level, inside = drawn[0]

    later = [SimulatedRequest(SECOND, 0, flow_hash=flow) for flow in range(50)]
    for one in later:
        level.arrive(SECOND, one)
    assert {one.queue.index for one in later if one.queue} == set(range(8))
    assert level.finish(SECOND, inside[0])
    assert len(level.queues) == 10
    while level.executing:
        level.finish(SECOND, next(one for one in (*inside, *later) if one.state == "executing"))
    # Those go that are empty when something ends in them, surplus by their number or not.
    assert (level.waiting, [queue.index for queue in level.queues]) == (0, list(range(8)))

    level, _ = resume(replace(dump, queuing=None), SERVICE, random.Random(1))
    assert (len(level.queues), level.waiting) == (10, 1)
    assert level.arrive(SECOND, SimulatedRequest(SECOND, 0)) == ()


def test_a_request_that_should_have_left_before_the_dump_leaves_at_once() -> None:
    rows = [SeenRequest(2, 0, 0, WorkEstimate()), SeenRequest(2, 0, None, WorkEstimate())]
    dump = SeenLevel(SECOND, QUEUING, 1, 10**7, [SeenQueue(10**7, int(index == 2)) for index in range(8)], rows)
    found = forecast(dump, replace(TRAFFIC, count=0, wait_limit_ns=10 * MS), 2 * SECOND, seed=1, runs=3)

    assert found.timed_out == Band(1, 1, 1)
    level, inside = resume(dump, SERVICE, random.Random(1), 10 * MS)
    simulation = Simulation(level)
    for one in inside:
        simulation.go_on(one)
    simulation.run([], SECOND + 1)
    assert (inside[1].state, inside[1].end_ns, level.r > 10**7) == ("gone", SECOND + 1, False)


def test_the_head_of_a_queue_came_no_later_than_its_queue_stands() -> None:
    rows = [SeenRequest(2, SECOND - 1, None, WorkEstimate()), SeenRequest(2, SECOND, None, WorkEstimate())]
    dump = SeenLevel(SECOND, QUEUING, 0, 500, [SeenQueue(400, 0)] * 8, rows)

    _, inside = resume(dump, SERVICE, random.Random(1))

    assert [one.arrival_r for one in inside] == [400, 500]


def test_before_1_28_5_a_resumed_level_notices_wait_limits_late() -> None:
    row = SeenRequest(2, 0, None, WorkEstimate())
    dump = SeenLevel(SECOND, Queuing(1, 1, 9), 0, 0, [SeenQueue(0, 0)], [replace(row, queue=0)], lazy_limit_ns=5 * MS)

    quiet = forecast(dump, replace(TRAFFIC, count=0), 9 * SECOND, seed=1, runs=3)
    busy = forecast(dump, replace(TRAFFIC, count=1), 9 * SECOND, seed=1, runs=3)

    assert (quiet.timed_out, busy.timed_out) == (Band(0, 0, 0), Band(1, 1, 1))


def test_rows_and_queues_must_fit_the_level() -> None:
    with pytest.raises(ValueError, match="7 queues were seen of 8"):
        resume(SeenLevel(0, QUEUING, 4, 0, [SeenQueue(0, 0)] * 7, []), SERVICE, random.Random(1))
    with pytest.raises(ValueError, match="no queue"):
        resume(SeenLevel(0, None, 4, 0, [], [SeenRequest(-1, 0, None, WorkEstimate())]), SERVICE, random.Random(1))
    row = SeenRequest(8, 0, None, WorkEstimate())
    with pytest.raises(ValueError, match="queue 8 of 8"):
        resume(SeenLevel(0, QUEUING, 4, 0, [SeenQueue(0, 0)] * 8, [row]), SERVICE, random.Random(1))


def test_the_same_seed_gives_the_same_forecast() -> None:
    level, _, requests = running(3, 2 * SECOND)
    dump = seen(level, requests, 2 * SECOND)
    traffic = replace(TRAFFIC, count=60)

    first = forecast(dump, traffic, 3 * SECOND, seed=7, runs=8)

    assert first == forecast(dump, traffic, 3 * SECOND, seed=7, runs=8)
    assert first != forecast(dump, traffic, 3 * SECOND, seed=8, runs=8)


def test_bands_hold_what_then_happens() -> None:
    held: Counter[str] = Counter()
    seeds, seen_waiting = range(16), 0
    for seed in seeds:
        level, simulation, requests = running(seed, 2 * SECOND)
        dump = seen(level, requests, 2 * SECOND)
        waiting = [one for one in requests if one.state == "waiting"]
        later = [one for one in requests if one.state == "new"]
        found = forecast(dump, replace(TRAFFIC, count=len(later)), 4 * SECOND, seed=seed, runs=24)
        simulation.run(later, 4 * SECOND)

        served = [one for one in requests if one.start_ns > 2 * SECOND]
        mean = sum(one.start_ns - one.arrive_ns for one in served) / len(served)
        assert found.mean_wait is not None
        held["wait"] += found.mean_wait.low <= mean <= found.mean_wait.high
        held["dispatched"] += found.dispatched.low <= len(served) <= found.dispatched.high
        held["waiting"] += found.waiting.low <= level.waiting <= found.waiting.high
        for one, request in zip(found.starts, waiting, strict=True):
            held["starts"] += one is not None and one.low <= request.start_ns - 2 * SECOND <= one.high
        seen_waiting += len(waiting)

    assert all(held[name] >= 0.75 * len(seeds) for name in ("wait", "dispatched", "waiting")), held
    assert held["starts"] >= 0.75 * seen_waiting, held


def test_a_band_is_made_of_values_that_were_there() -> None:
    assert band([3.0]) == Band(3.0, 3.0, 3.0)
    assert band([float(value) for value in range(100, -1, -1)]) == Band(5.0, 50.0, 95.0)


def test_service_times_have_the_shape_and_the_mean_of_the_histogram() -> None:
    rng = random.Random(1)
    times = ServiceTimes((100, 200), (30, 60, 10))
    drawn = times.draws(rng, 5000)

    assert sum(time < 100 for time in drawn) / 5000 == pytest.approx(0.3, abs=0.03)
    assert sum(time >= 200 for time in drawn) / 5000 == pytest.approx(0.1, abs=0.02)
    assert max(drawn) < 400
    # Middles of the buckets, weighted: 0.3 * 50 + 0.6 * 150 + 0.1 * 300 = 135.
    stretched = ServiceTimes((100, 200), (30, 60, 10), mean_ns=162)
    assert sum(stretched.draws(rng, 5000)) / 5000 == pytest.approx(162, rel=0.03)
    far = ServiceTimes((100, 200), (30, 60, 10), mean_ns=1350)
    assert sum(far.draws(rng, 5000)) / 5000 == pytest.approx(135 * 1.5, rel=0.03)


def test_what_is_left_goes_by_the_age() -> None:
    rng = random.Random(1)
    times = ServiceTimes((100, 200), (30, 60, 10))
    old = times.draws_beyond(rng, [150] * 5000)

    assert min(old) > 150
    assert sum(time >= 200 for time in old) / 5000 == pytest.approx(10 / 40, abs=0.03)
    assert all(401 <= time < 800 for time in times.draws_beyond(rng, [400] * 100))
    assert times.draws_beyond(rng, [0])[0] > 0


@pytest.mark.parametrize(("bounds", "counts"), [((), (1,)), ((10,), (1,)), ((10,), (0, 0))])
def test_a_histogram_without_counts_gives_no_times(bounds: tuple[int, ...], counts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError):
        ServiceTimes(bounds, counts)


def test_arrivals_are_as_many_as_counted_in_batches_and_in_order() -> None:
    drawn = replace(TRAFFIC, count=101, batches=(5,), wait_limit_ns=SECOND).draw(random.Random(1), SECOND, 2 * SECOND)
    moments = Counter(one.arrive_ns for one in drawn)

    assert len(drawn) == 101
    assert [one.arrive_ns for one in drawn] == sorted(moments.elements())
    assert sorted(moments.values()) == [1, *[5] * 20]
    assert all(SECOND <= one.arrive_ns <= 2 * SECOND and one.time_out_ns == one.arrive_ns + SECOND for one in drawn)
