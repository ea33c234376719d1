"""Fair shares against first come, first served: on rows of dumps, and on simulated levels of both kinds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from apftop.apf.objects import Queuing
from apftop.check.choices import choices
from apftop.check.fairness import light_flows, overtaking
from apftop.check.window import LevelWindow
from apftop.records.parsed import RequestRow
from tests.check.build import a_config, a_level, a_point, a_row, a_window, held, later
from tests.crosscheck.fair_figures import told
from tests.crosscheck.simulated import Client, Situation
from tests.crosscheck.situations import KINDS, like_recordings, situation

STEP_S = 2.0
SERVICE_S = 0.4


def over(*dumps: list[RequestRow] | None, queues: int | None = 16, lists_executing: bool = True) -> LevelWindow:
    """A window with these rows of the level in its dumps, one each two seconds."""
    level, points, config = a_level(), [], a_config(queues=queues)
    for rows in dumps:
        level = later(level, STEP_S)
        points.append(a_point(level, rows, lag_s=0.0, config=config, lists_executing=lists_executing))
    return a_window(*points)


def crowded(at: float, *, fair: bool, width: int = 1, depth: int = 8) -> list[RequestRow]:
    """A dump at a time: a heavy flow waits and executes in four queues, and of four mice two execute.

    By fair shares these came just before they started; first come, first served, before all that wait.
    """
    heavy = [
        *(
            a_row(at - 1.8 + 0.2 * index + 0.01 * queue, queue=queue, index=index, initial=width)
            for queue in range(4)
            for index in range(depth)
        ),
        *(
            a_row(at - 2.2 + 0.1 * index + 0.01 * queue, at - 0.1, queue=queue, initial=width)
            for queue in range(4)
            for index in range(3)
        ),
    ]
    mice = [
        a_row(at - (0.3 if fair else 3.0) - 0.01 * number, at - 0.1, queue=8 + number, flow=f"mouse{number}")
        for number in range(round(at) // 2 % 2, 4, 2)
    ]
    return heavy + mice


def dumps(*, fair: bool, width: int = 1, depth: int = 8, count: int = 6) -> Iterator[list[RequestRow]]:
    return (crowded(STEP_S * number, fair=fair, width=width, depth=depth) for number in range(1, count + 1))


def older(row: RequestRow) -> RequestRow:
    """The same request, that came four seconds earlier, and started two seconds earlier if it executes."""
    if row.start_ns is None:
        return replace(row, arrive_ns=row.arrive_ns - 4 * 10**9)
    return replace(row, start_ns=row.start_ns - 2 * 10**9, arrive_ns=row.arrive_ns - 4 * 10**9)


def test_later_requests_of_other_queues_that_are_served_first_are_fair() -> None:
    check = held(overtaking, over(*dumps(fair=True)))

    assert check.verdict == "ok"
    assert check.observed is not None
    assert check.observed > 10
    assert (check.expected, check.unit) == ((5.0, None), "%")


def test_first_come_first_served_is_off_and_says_so() -> None:
    check = held(overtaking, over(*dumps(fair=False)))

    assert (check.verdict, check.observed) == ("off", 0.0)
    assert "in the order in which they came" in check.reason


def test_a_pair_counts_once_although_two_dumps_show_it() -> None:
    rows = crowded(STEP_S, fair=True)

    assert choices(over(rows, rows).instants).pairs == choices(over(rows).instants).pairs > 0


def test_those_who_came_after_the_start_were_no_choice() -> None:
    waiting = [a_row(1.5 + 0.01 * index, queue=1, index=index) for index in range(5)]

    assert choices(over([a_row(1.0, 1.4, queue=0), *waiting]).instants).pairs == 0
    assert choices(over([a_row(1.0, 1.6, queue=0), *waiting]).instants).pairs == 5


def test_requests_of_its_own_queue_are_no_choice() -> None:
    waiting = [a_row(1.5 + 0.01 * index, queue=0, index=index) for index in range(5)]

    assert choices(over([a_row(1.0, 1.6, queue=0), *waiting]).instants).pairs == 0


def test_few_pairs_are_unknown_and_say_how_many_there_are() -> None:
    check = held(overtaking, over([a_row(1.0, 1.6), a_row(1.2, queue=1), a_row(1.1, queue=2)]))

    assert check.verdict == "unknown"
    assert "there are 2 of the 30" in check.missing


def test_nobody_overtakes_in_queues_of_like_load_and_that_is_unknown() -> None:
    alike = [
        [
            *(
                a_row(at - 1 + 0.2 * index + 0.01 * queue, queue=queue, index=index)
                for queue in range(8)
                for index in range(4)
            ),
            *(a_row(at - 1.2 + 0.01 * queue, at - 0.1, queue=queue) for queue in range(8)),
        ]
        for at in (2.0, 4.0, 6.0)
    ]

    check = held(overtaking, over(*alike))

    assert choices(over(*alike).instants).pairs > 300
    assert (check.verdict, choices(over(*alike).instants).overtaken) == ("unknown", 0)
    assert "unlike load" in check.missing


def test_one_burst_is_unknown() -> None:
    one = crowded(STEP_S, fair=False)

    assert held(overtaking, over(one, [], [])).verdict == "unknown"


@pytest.mark.parametrize("law", [overtaking, light_flows])
def test_wide_requests_wait_for_seats_so_that_their_order_is_no_proof(law: object) -> None:
    check = held(overtaking, over(*dumps(fair=False, width=4)))

    assert check.verdict == "unknown"
    assert "from 1 to 4 seats" in check.missing


def test_long_requests_are_unknown_since_queues_are_charged_at_their_end() -> None:
    slow = [[older(row) for row in rows] for rows in dumps(fair=False)]

    check = held(overtaking, over(*slow))

    assert check.verdict == "unknown"
    assert "their queues pay at their end" in check.missing


def test_dumps_without_executing_requests_are_unknown() -> None:
    check = held(overtaking, over(*dumps(fair=True), lists_executing=False))

    assert check.verdict == "unknown"
    assert "1.27" in check.missing


def test_no_dump_is_unknown() -> None:
    assert held(overtaking, over(None, None)).verdict == "unknown"
    assert held(light_flows, over(None, None)).verdict == "unknown"


@pytest.mark.parametrize("queues", [None, 1])
def test_without_several_queues_there_is_no_order_of_queues(queues: int | None) -> None:
    window = over([a_row(1.0, 1.5)], queues=queues)

    assert overtaking(window) is None
    assert light_flows(window) is None


def test_light_flows_that_wait_less_than_the_heaviest_are_fair() -> None:
    check = held(light_flows, over(*dumps(fair=True)))

    assert check.verdict == "ok"
    assert check.observed is not None
    assert check.observed < 0.5


def test_light_flows_that_wait_as_long_as_the_heaviest_are_off() -> None:
    check = held(light_flows, over(*dumps(fair=False)))

    assert check.verdict == "off"
    assert "do not get their shares" in check.reason


def test_light_flows_beside_shallow_queues_may_wait_as_long() -> None:
    check = held(light_flows, over(*dumps(fair=False, depth=3)))

    assert check.verdict == "unknown"
    assert "deeper queues" in check.missing


def test_light_flows_in_queues_of_the_heaviest_wait_with_it_rightly() -> None:
    shared = [[replace(row, queue=row.queue % 4) for row in rows] for rows in dumps(fair=False)]

    check = held(light_flows, over(*shared))

    assert check.verdict == "unknown"
    assert "in queues of their own: there are 0" in check.missing


@pytest.mark.parametrize("kind", KINDS)
def test_a_fair_level_is_never_called_unfair(kind: str) -> None:
    found = told(((seed, situation(kind, seed)) for seed in range(4)), fair=True, count=3)

    assert found.windows >= 10
    assert found.overtaking["off"] == 0
    assert found.light_flows["off"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_first_come_first_served_is_never_called_fair(kind: str) -> None:
    found = told(((seed, situation(kind, seed)) for seed in range(4)), fair=False, count=3)

    assert found.windows >= 10
    assert found.overtaking["ok"] == 0


def test_first_come_first_served_is_caught_where_one_flow_crowds_a_level() -> None:
    crowd = Client("elephant", population=60, think_s=0.05, service_s=0.25)
    mice = tuple(Client(f"mouse{number}", rate=1.0, service_s=0.25) for number in range(8))
    level = Situation("crowd", 10, Queuing(16, 4, 12), (crowd, *mice))

    found = told(((seed, level) for seed in range(4)), fair=False)

    assert found.paired == found.windows == found.overtaking["off"]


def test_fair_levels_like_the_recorded_ones_are_told_to_be_fair() -> None:
    found = told(((seed, like_recordings(seed)) for seed in range(6)), fair=True)

    assert found.paired == found.windows == found.overtaking["ok"]
