"""Trials: how arrivals are spread, what is counted, and which runs are taken where something waits for longer."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from apftop.apf.answers import PAUSE_NS, answering
from apftop.apf.estimate import WorkEstimate
from apftop.apf.forecast import LimitMove, Trial, outcomes
from apftop.apf.objects import Queuing
from apftop.apf.resume import SeenLevel, SeenQueue, SeenRequest, resume
from apftop.apf.service_times import ServiceTimes
from apftop.apf.shards import flow_hash
from apftop.apf.simulate import Event, SimulatedRequest, Simulation
from apftop.apf.starts import Onward, start_bands
from apftop.apf.traffic import Sample, Traffic

MS = 10**6
SECOND = 10**9
QUEUING = Queuing(8, 3, 10)
BOUNDS, COUNTS = (50 * MS, 100 * MS, 200 * MS, 500 * MS), (10, 20, 10, 4, 0)
OWN = ServiceTimes(BOUNDS, COUNTS, own=True)
SAMPLES = [Sample(WorkEstimate(), flow_hash("s", f"user-{index}")) for index in (0, 0, 0, 1, 2)]
TRAFFIC = Traffic(100, SAMPLES, OWN)
IDLE = SeenLevel(SECOND, QUEUING, 4, 0, [SeenQueue(0, 0)] * QUEUING.queues, [])
TRIAL = Trial(IDLE, TRAFFIC, SECOND, 5 * SECOND, "seed", runs=16)


def drawn(traffic: Traffic, manner: str | float = "batches", seed: int = 1) -> list[int]:
    """Moments of arrivals over four seconds."""
    found = traffic.draw(random.Random(seed), SECOND, 5 * SECOND, manner)  # type: ignore[arg-type]
    return [one.arrive_ns for one in found]


def gaps(moments: Sequence[int]) -> list[int]:
    return [after - before for before, after in pairwise([SECOND, *moments, 5 * SECOND])]


def test_service_times_of_requests_that_were_counted_are_spread_as_these_were() -> None:
    other = ServiceTimes(BOUNDS, COUNTS)
    own, others = ([sum(one.draws(random.Random(seed), 44)) for seed in range(50)] for one in (OWN, other))

    assert max(own) - min(own) < (max(others) - min(others)) / 4
    assert sum(own) / 50 == pytest.approx(44 * OWN.mean_ns, rel=0.01)
    assert sorted(sum(time <= bound for time in OWN.draws(random.Random(1), 44)) for bound in BOUNDS) == [
        10,
        30,
        40,
        44,
    ]


def test_what_is_left_of_them_is_spread_alike_and_longer_than_their_ages() -> None:
    ages = [0, 60 * MS, 150 * MS, 10 * SECOND] * 10
    left = OWN.draws_beyond(random.Random(1), ages)

    assert all(time > age for time, age in zip(left, ages, strict=True))
    assert OWN.draws(random.Random(1), 0) == OWN.draws_beyond(random.Random(1), []) == []


def test_arrivals_come_in_batches_evenly_or_as_a_crowd() -> None:
    batches, even, crowd = (drawn(TRAFFIC, manner) for manner in ("batches", "even", 0.6))

    assert len(batches) == len(even) == len(crowd) == TRAFFIC.count
    assert max(gaps(even)) < 2 * 4 * SECOND / TRAFFIC.count < max(gaps(batches))
    assert max(sum(at <= one <= at + 100 * MS for one in crowd) for at in crowd) >= 60


def test_nothing_comes_in_a_quiet_span() -> None:
    quiet = [max(gaps(drawn(replace(TRAFFIC, quiet_ns=2 * SECOND), "even", seed))) for seed in range(20)]

    assert max(quiet) > SECOND
    assert all(gap < 2.1 * SECOND for gap in quiet)


def test_arrivals_that_are_known_come_when_they_did_each_in_place_of_another() -> None:
    wide = Sample(WorkEstimate(4), 9)
    known = [(at, wide) for at in (0, 2 * SECOND, 2 * SECOND + 1, 9 * SECOND)]
    found = replace(TRAFFIC, known=known).draw(random.Random(1), SECOND, 5 * SECOND)

    assert len(found) == TRAFFIC.count
    assert [one.arrive_ns for one in found if one.initial_seats == 4] == [2 * SECOND, 2 * SECOND + 1]
    assert [one.arrive_ns for one in found] == sorted(one.arrive_ns for one in found)
    assert len(replace(TRAFFIC, count=1, known=known).draw(random.Random(1), SECOND, 5 * SECOND)) == 1


def test_arrivals_are_like_those_seen_by_their_weights() -> None:
    samples = [Sample(WorkEstimate(1)), Sample(WorkEstimate(5))]
    found = replace(TRAFFIC, samples=samples, weights=[3.0, 0.0]).draw(random.Random(1), SECOND, 5 * SECOND)

    assert {one.initial_seats for one in found} == {1}


def test_who_waits_for_answers_sends_again_as_others_are_done_and_not_before() -> None:
    level, rng = resume(IDLE, OWN, random.Random(1))[0], random.Random(2)
    requests = replace(TRAFFIC, wait_limit_ns=15 * SECOND).draw(rng, SECOND, 5 * SECOND)
    first, waiting = requests[:4], requests[4:]
    simulation = answering(level, waiting, SECOND, rng)
    simulation.run([arriving_at(one, SECOND) for one in first], 2 * SECOND)

    came = sorted(one.arrive_ns for one in waiting if one.state != "new")
    ends = sorted(one.end_ns for one in (*first, *waiting) if one.end_ns is not None)
    assert len(came) in (len(ends), len(ends) - 1) and len(came) > 10
    assert all(end < arrival for end, arrival in zip(ends, came, strict=False))
    assert sum(arrival - end for end, arrival in zip(ends, came, strict=False)) < 3 * PAUSE_NS * len(came)
    assert all(one.time_out_ns == one.arrive_ns + 15 * SECOND for one in waiting if one.state != "new")


def test_whom_such_an_arrival_turns_out_of_its_queue_has_an_end() -> None:
    lazy = replace(IDLE, queuing=Queuing(1, 1, 10), queues=IDLE.queues[:1], limit=1, lazy_limit_ns=30 * MS)
    level, rng = resume(lazy, OWN, random.Random(1))[0], random.Random(2)
    requests = TRAFFIC.draw(rng, SECOND, 5 * SECOND)
    answering(level, requests[8:], SECOND, rng).run([arriving_at(one, SECOND) for one in requests[:8]], 5 * SECOND)

    gone = [one for one in requests if one.state == "gone"]
    assert gone and all(one.end_ns is not None and one.end_ns - one.arrive_ns >= 30 * MS for one in gone)


def arriving_at(request: SimulatedRequest, at: int) -> SimulatedRequest:
    request.arrive_ns = at
    return request


def test_what_comes_before_the_time_counted_fills_the_level_and_is_not_counted() -> None:
    late = replace(TRIAL, counted_from_ns=3 * SECOND, traffic=replace(TRAFFIC, count=0), before=30)

    assert [one.dispatched + one.waiting for one in outcomes(late)] <= [26] * 16
    assert all(one.dispatched == 0 for one in outcomes(replace(late, before=0)))
    assert any(one.dispatched for one in outcomes(replace(late, before=60)))


def test_a_limit_moves_at_a_moment_between_its_bounds() -> None:
    seen = replace(IDLE, limit=0, requests=[SeenRequest(2, SECOND - MS, None, WorkEstimate())])
    move = LimitMove(4, 2 * SECOND, 3 * SECOND)
    found = outcomes(replace(TRIAL, seen=seen, traffic=replace(TRAFFIC, count=0), move=move))
    starts = [one.starts[0] or 0 for one in found]

    assert all(SECOND <= start <= 2 * SECOND for start in starts)
    assert len(set(starts)) > 10
    assert [one.waiting_ns for one in found] == starts


def test_the_time_in_which_something_waits_is_that_which_the_server_counts() -> None:
    rows = [SeenRequest(2, 0, SECOND // 2, WorkEstimate()), SeenRequest(2, SECOND - MS, None, WorkEstimate())]
    seen = replace(IDLE, requests=rows, limit=2)
    for seed in range(5):
        trial = replace(TRIAL, seen=seen, seed=seed, runs=1, counted_from_ns=2 * SECOND, before=10)
        (outcome,) = outcomes(trial)

        assert outcome.waiting_ns == waiting_ns(trial)
        assert 0 < outcome.waiting_ns < 3 * SECOND


def waiting_ns(trial: Trial) -> int:
    """The same by an observer that looks after each event."""
    rng = random.Random(f"{trial.seed}/0")
    level, inside = resume(trial.seen, trial.traffic.service, rng)
    last, was, total = trial.seen.at_ns, level.waiting, 0

    def look(at: int, event: Event | None, request: SimulatedRequest | None, started: Sequence[object]) -> None:
        nonlocal last, was, total
        total += max(0, at - max(last, trial.counted_from_ns)) if was else 0
        last, was = at, level.waiting

    simulation = Simulation(level, look)
    for one in inside:
        simulation.go_on(one)
    early = replace(trial.traffic, count=trial.before).draw(rng, trial.seen.at_ns, trial.counted_from_ns)
    simulation.run([*early, *trial.traffic.draw(rng, trial.counted_from_ns, trial.until_ns)], trial.until_ns)
    look(trial.until_ns, None, None, ())
    return total


def test_where_something_waited_for_longer_than_in_the_runs_they_have_crowds() -> None:
    light = replace(TRIAL, traffic=replace(TRAFFIC, count=40), runs=32)
    plain, as_seen, longer = (
        outcomes(replace(light, waiting_ns=waiting)) for waiting in (None, 50 * MS, round(0.6 * SECOND))
    )

    assert as_seen == plain
    assert len(longer) == 32
    means = [sum(one.waited_ns for one in found) / sum(one.waits for one in found) for found in (plain, longer)]
    assert means[1] > 3 * means[0]
    assert outcomes(replace(light, waiting_ns=round(0.6 * SECOND))) == longer


def test_requests_that_wait_start_in_order_and_runs_end_when_all_have() -> None:
    rows = [SeenRequest(2, SECOND - MS, None, WorkEstimate())] * 12
    onward = Onward(replace(IDLE, requests=rows), replace(TRAFFIC, count=10), SECOND // 4, 60 * SECOND, "seed", 8)
    found = start_bands(onward)

    middles = [one.middle for one in found if one is not None]
    assert len(middles) == 12 and middles == sorted(middles) and middles[3] < middles[4] < 2 * SECOND
    assert start_bands(replace(onward, until_ns=SECOND + 1)) == (None,) * 12
    assert start_bands(replace(onward, seen=replace(onward.seen, limit=0), until_ns=2 * SECOND)) == (None,) * 12


def test_starts_are_less_sure_where_service_may_drift() -> None:
    rows = [SeenRequest(2, SECOND - MS, None, WorkEstimate())] * 40
    onward = Onward(replace(IDLE, requests=rows), replace(TRAFFIC, count=10), SECOND // 4, 60 * SECOND, "seed", 32)

    def spread(drift: float) -> float:
        last = start_bands(replace(onward, drift=drift))[-1]
        return 0.0 if last is None else (last.high - last.low) / last.middle

    assert spread(0.5) > 2 * spread(0.0) > 0
