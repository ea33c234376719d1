"""Counters of one server against each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.objects import EXEMPT
from apftop.check.counting import arrivals, enqueued, executed, refusals, served_waits
from apftop.check.point import LevelPoint
from apftop.check.window import LevelWindow
from apftop.records.checks import Check
from apftop.records.parsed import Histogram
from tests.check.build import (
    SECONDS_BOUNDS,
    WIDTH_BOUNDS,
    a_config,
    a_level,
    a_point,
    a_row,
    a_window,
    empty,
    held,
    later,
)

Law = Callable[[LevelWindow], Check | None]
ALL: tuple[Law, ...] = (arrivals, served_waits, refusals, enqueued, executed)


def before() -> LevelPoint:
    return later(a_level(), 20.0, executing=4, dispatched=4, widths=[1] * 4, waits=[0.0] * 4, enqueued=4)


def after(begin: LevelPoint, **changed: Any) -> LevelPoint:
    """Ten seconds with 118 arrivals: 100 dispatched, 8 timed out, 4 refused, 6 in queues."""
    known: dict[str, Any] = {
        "waiting": 6,
        "executing": 8,
        "dispatched": 100.0,
        "widths": [1] * 118,
        "rejected": {"time-out": 5.0, "cancelled": 3.0, "queue-full": 4.0},
        "waits": [0.1] * 108,
        "refused_waits": 4,
        "enqueued": 114,
        "execution": [0.3] * 96,
    }
    return later(begin, 10.0, **{**known, **changed})


def window(**changed: Any) -> LevelWindow:
    begin = before()
    return a_window(a_point(begin), a_point(after(begin, **changed)))


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.__name__)
def test_counters_of_one_server_agree(law: Law) -> None:
    check = held(law, window())

    assert check.verdict == "ok"
    assert check.expected == (check.observed, check.observed)
    assert check.unit == "requests" and check.seconds == pytest.approx(10.0)


FAULTS: tuple[tuple[Law, str, Callable[[int], Any]], ...] = (
    (arrivals, "widths", lambda lost: [1] * (118 - lost)),
    (served_waits, "waits", lambda lost: [0.1] * (108 - lost)),
    (enqueued, "enqueued", lambda lost: 114 - lost),
    (executed, "execution", lambda lost: [0.3] * (96 - lost)),
)


@pytest.mark.parametrize(("law", "name", "value"), FAULTS, ids=lambda one: getattr(one, "__name__", str(one)))
def test_six_lost_requests_are_off(law: Law, name: str, value: Callable[[int], Any]) -> None:
    fewer, more = held(law, window(**{name: value(6)})), held(law, window(**{name: value(-6)}))

    assert fewer.verdict == "off" and "fewer" in fewer.reason
    assert more.verdict == "off" and "more" in more.reason


@pytest.mark.parametrize(("law", "name", "value"), FAULTS, ids=lambda one: getattr(one, "__name__", str(one)))
def test_five_requests_between_two_families_are_no_fault(law: Law, name: str, value: Callable[[int], Any]) -> None:
    for torn in (5, -5):
        assert held(law, window(**{name: value(torn)})).verdict == "ok"


def test_one_refusal_may_be_counted_once_and_two_may_not() -> None:
    two = held(refusals, window(refused_waits=6))

    assert held(refusals, window(refused_waits=5)).verdict == "ok"
    assert two.verdict == "off" and two.reason


def test_without_the_histogram_of_waits_refusals_are_unknown() -> None:
    begin = before()
    points = a_point(begin), a_point(after(begin, refused_waits=0), measures=frozenset({"dispatched", "rejected"}))

    assert held(refusals, a_window(*points)).missing == "the histogram of waits"


@pytest.mark.parametrize("law", [arrivals, served_waits, refusals])
def test_what_differs_while_nothing_counts_rejections_is_unknown(law: Law) -> None:
    begin = before()
    end = replace(after(begin), rejected={})
    points = [a_point(level, measures=frozenset({"dispatched", "wait"})) for level in (begin, end)]
    check = held(law, a_window(*points))

    assert check.verdict == "unknown" and check.missing == "the counter of rejected requests"


def test_three_requests_within_a_tolerance_of_five_tell_nothing() -> None:
    begin = later(a_level(), 20.0)
    end = later(begin, 10.0, dispatched=3, widths=[1] * 3, waits=[0.0] * 3, execution=[0.1] * 3)
    window = a_window(a_point(begin), a_point(end))

    assert held(arrivals, window).missing == "more to compare: 3 requests are within the tolerance of 5"
    assert held(arrivals, a_window(a_point(begin), a_point(later(begin, 10.0)))).verdict == "ok"


@pytest.mark.parametrize("torn", [0, 1, 2])
def test_a_crowd_that_comes_while_an_answer_is_made_up_is_no_fault(torn: int) -> None:
    levels = [later(a_level(), 20.0, dispatched=200)]
    for _ in range(2):
        levels.append(later(levels[-1], 5.0, dispatched=30, widths=[1] * 30))
    levels[torn] = replace(levels[torn], dispatched=levels[torn].dispatched - 100)
    check = held(arrivals, a_window(*map(a_point, levels)))

    assert check.verdict == ("ok" if torn == 1 else "unknown")
    assert torn == 1 or "many requests may have come" in check.missing


def test_counters_that_lose_requests_in_each_step_are_off() -> None:
    levels = [later(a_level(), 20.0)]
    for _ in range(2):
        levels.append(later(levels[-1], 5.0, dispatched=30, widths=[1] * 50))

    assert held(arrivals, a_window(*map(a_point, levels))).verdict == "off"


def test_many_refusals_may_be_torn_like_any_family() -> None:
    many = window(rejected={"queue-full": 400.0}, refused_waits=407)
    lost = window(rejected={"queue-full": 400.0}, refused_waits=409)

    assert held(refusals, many).verdict == "ok"
    assert held(refusals, lost).verdict == "off"


def test_what_is_torn_goes_by_the_rush_at_the_end_of_the_window() -> None:
    begin = before()
    quiet = later(begin, 9.0, executing=4)
    rush = after(quiet, widths=[1] * 125)
    rush = replace(rush, executing_time=later(quiet, 1.0, executing=8).executing_time)
    calm = a_window(a_point(begin), a_point(after(begin, widths=[1] * 125)))

    assert held(arrivals, calm).verdict == "off"
    assert held(arrivals, a_window(a_point(begin), a_point(quiet), a_point(rush))).verdict == "ok"


def test_what_is_torn_goes_by_those_who_have_just_come_when_the_window_ends() -> None:
    begin, lost = before(), {"widths": [1] * 110}
    rush = [a_row(29.9, queue=number) for number in range(6)]

    assert held(arrivals, a_window(a_point(begin), a_point(after(begin, **lost)))).verdict == "off"
    assert held(arrivals, a_window(a_point(begin), a_point(after(begin, **lost), rush))).verdict == "ok"


def test_series_that_appear_within_the_window_count_from_0() -> None:
    nothing = Histogram(0, 0.0, (), (0,))
    born = later(a_level(widths=nothing, waits=nothing, execution=nothing), 20.0)
    shown = replace(born, widths=empty(WIDTH_BOUNDS), waits=empty(SECONDS_BOUNDS), execution=empty(SECONDS_BOUNDS))
    for law in ALL:
        check = held(law, a_window(a_point(born), a_point(after(shown, executing=4))))
        assert check.verdict == "ok" and check.observed


def test_the_exempt_level_counts_executions_and_no_waits() -> None:
    begin = later(a_level(), 20.0, executing=1)
    end = later(begin, 10.0, executing=1, dispatched=50, widths=[1] * 50, execution=[0.01] * 50)
    exempt = a_window(a_point(begin, name=EXEMPT), a_point(end, name=EXEMPT), name=EXEMPT)

    assert held(arrivals, exempt).verdict == "ok"
    assert held(executed, exempt).verdict == "ok"
    assert served_waits(exempt) is refusals(exempt) is enqueued(exempt) is None


def test_up_to_1_27_exempt_requests_have_neither_width_nor_gauge() -> None:
    begin = later(a_level(), 20.0)
    points = [
        a_point(replace(level, executing=None), name=EXEMPT, release="1.27.3")
        for level in (begin, later(begin, 10.0, dispatched=50, execution=[0.01] * 50))
    ]
    exempt = a_window(*points, name=EXEMPT)

    assert arrivals(exempt) is None
    check = held(executed, exempt)

    assert check.verdict == "unknown" and "1.27" in check.missing


def test_a_level_without_queues_measures_waits_but_puts_nobody_in_a_queue() -> None:
    config = a_config(queues=None)
    begin = later(a_level(), 20.0)
    end = later(
        begin,
        10.0,
        executing=2,
        dispatched=30,
        widths=[1] * 37,
        waits=[0.0] * 30,
        rejected={"concurrency-limit": 7.0},
        refused_waits=7,
        execution=[0.2] * 28,
    )
    reject = a_window(a_point(begin, config=config), a_point(end, config=config))

    assert enqueued(reject) is None
    assert {held(law, reject).verdict for law in (arrivals, served_waits, refusals, executed)} == {"ok"}


def test_a_level_that_changed_its_queues_is_unknown() -> None:
    begin = before()
    points = (a_point(begin, config=a_config(queues=None)), a_point(after(begin)))
    nameless = tuple(replace(point, configs=None) for point in points)

    for case in (points, nameless):
        check = held(enqueued, a_window(*case))
        assert check.verdict == "unknown" and "object" in check.missing


@pytest.mark.parametrize(
    ("law", "field", "missing"),
    [
        (arrivals, "widths", "widths"),
        (arrivals, "waiting", "how many wait"),
        (served_waits, "waits", "waits"),
        (enqueued, "enqueued", "queue lengths"),
        (executed, "execution", "executions"),
        (executed, "executing", "how many execute"),
    ],
)
def test_what_an_answer_does_not_tell_is_named(law: Law, field: str, missing: str) -> None:
    begin = before()
    unknown: dict[str, Any] = {field: None}
    check = held(law, a_window(a_point(begin), a_point(replace(after(begin), **unknown))))

    assert check.verdict == "unknown" and missing in check.missing


@given(st.lists(st.integers(0, 200), min_size=6, max_size=6))
def test_any_traffic_that_is_all_counted_agrees(numbers: list[int]) -> None:
    served, timed_out, refused, queued, running, former = numbers
    begin = later(a_level(), 20.0, waiting=former, executing=former)
    came = served + timed_out + refused + queued - former
    put = came - refused
    ended = served - running + former
    if came < 0 or put < 0 or ended < 0:
        return
    end = later(
        begin,
        10.0,
        waiting=queued,
        executing=running,
        dispatched=served,
        widths=[1] * came,
        waits=[0.1] * (served + timed_out),
        rejected={"time-out": timed_out, "queue-full": refused},
        refused_waits=refused,
        enqueued=put,
        execution=[0.1] * ended,
    )
    for law in ALL:
        check = held(law, a_window(a_point(begin), a_point(end)))
        if check.verdict == "unknown":
            assert check.missing.startswith("more to compare")
        else:
            assert check.verdict == "ok" and check.expected == (check.observed, check.observed)
