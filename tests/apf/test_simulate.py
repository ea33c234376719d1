"""The virtual clock: what comes first at one instant, and where a run ends."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from apftop.apf.objects import Queuing
from apftop.apf.queueset import QueueSet
from apftop.apf.simulate import Event, SimulatedRequest, Simulation

Told = tuple[int, str, SimulatedRequest | None]


def simulated(limit: int = 10) -> tuple[Simulation, QueueSet[SimulatedRequest], list[Told]]:
    told: list[Told] = []
    level: QueueSet[SimulatedRequest] = QueueSet(Queuing(1, 1, 10), limit)

    def observe(at: int, event: Event, request: SimulatedRequest | None, started: Sequence[SimulatedRequest]) -> None:
        told.append((at, event, request))

    return Simulation(level, observe), level, told


def test_the_order_at_one_instant() -> None:
    simulation, level, told = simulated(limit=3)
    lingering = SimulatedRequest(0, 5, final_seats=1, additional_latency_ns=5)
    ending = SimulatedRequest(0, 10)
    full = SimulatedRequest(0, 100)
    impatient = SimulatedRequest(1, 1, initial_seats=3, time_out_ns=10)
    gone = SimulatedRequest(2, 1, initial_seats=3, cancel_ns=10)
    later = SimulatedRequest(10, 1, initial_seats=3)
    looked: list[int] = []
    simulation.look_at(10, lambda at: looked.append(len(told)))
    simulation.change_at(10, lambda at: level.set_limit(at, 3))

    simulation.run([lingering, ending, full, impatient, gone, later], until_ns=10)

    assert [one[1:] for one in told if one[0] == 10] == [
        ("change", None),
        ("release", lingering),
        ("finish", ending),
        ("time-out", impatient),
        ("cancelled", gone),
        ("arrive", later),
    ]
    assert looked == [len(told)]


def test_a_cancel_ends_an_execution_there_and_then() -> None:
    simulation, level, told = simulated()
    request = SimulatedRequest(0, 100, cancel_ns=7)

    simulation.run([request])

    assert [one[:2] for one in told] == [(0, "arrive"), (7, "finish-cancelled")]
    assert (request.end_ns, level.executing) == (7, 0)


def test_a_cancel_after_the_end_does_nothing() -> None:
    simulation, _, told = simulated()
    served = SimulatedRequest(0, 5, cancel_ns=7, time_out_ns=6)

    simulation.run([served])

    assert [one[:2] for one in told] == [(0, "arrive"), (5, "finish")]


def test_a_run_goes_on_where_it_ended() -> None:
    simulation, _, told = simulated()
    requests = [SimulatedRequest(at, 8) for at in (0, 10, 20)]

    simulation.run(requests, until_ns=10)
    assert [one[:2] for one in told] == [(0, "arrive"), (8, "finish"), (10, "arrive")]
    simulation.run(requests[2:])

    assert [one.end_ns for one in requests] == [8, 18, 28]


def test_refused_requests_end_on_arrival() -> None:
    simulation, _, _ = simulated(limit=0)
    requests = [SimulatedRequest(0, 1, cancel_ns=3) for _ in range(11)]

    simulation.run(requests)

    assert (requests[10].state, requests[10].refusal, requests[10].end_ns) == ("refused", "queue-full", 0)
    assert {one.state for one in requests[:10]} == {"gone"}


def test_requests_must_come_in_order() -> None:
    simulation, _, _ = simulated()

    with pytest.raises(ValueError, match="after one"):
        simulation.run([SimulatedRequest(5, 1), SimulatedRequest(4, 1)])


def test_those_that_an_arrival_turns_out_are_told_of_before_it() -> None:
    told: list[Told] = []
    lazy: QueueSet[SimulatedRequest] = QueueSet(Queuing(1, 1, 10), 0, lazy_limit_ns=5)
    simulation = Simulation(lazy, lambda at, event, request, started: told.append((at, event, request)))
    early, late = SimulatedRequest(0, 1), SimulatedRequest(6, 1)

    simulation.run([early, late])

    assert told == [(0, "arrive", early), (6, "time-out", early), (6, "arrive", late)]
    assert (early.state, early.end_ns) == ("gone", 6)
