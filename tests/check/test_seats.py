"""The time that seats were taken, counted in several ways."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from apftop.apf.objects import EXEMPT, FlowSchema, Meta
from apftop.check.point import LevelPoint
from apftop.check.seats import demand_time, executing_time, seat_time
from apftop.check.window import LevelWindow
from apftop.records.parsed import RequestRow
from tests.check.build import (
    REQUEST_BOUNDS,
    SECONDS_BOUNDS,
    WATCHERS_BOUNDS,
    a_config,
    a_level,
    a_point,
    a_row,
    a_window,
    at_end,
    counted,
    empty,
    held,
    later,
    spent,
)

BEGIN, END = 20.0, 30.0


def running(*ages: float, at: float = END, lag_s: float = 0.02) -> list[RequestRow]:
    """Executing rows that started so long before the dump before `at`."""
    return [a_row(at - lag_s - age, at - lag_s - age, queue=queue) for queue, age in enumerate(ages)]


def begun(**changed: Any) -> LevelPoint:
    """After twenty seconds without requests; how many watches writes have is not known without other words."""
    return later(a_level(**{"watchers": None, **changed}), BEGIN)


def busy(begin: LevelPoint, **changed: Any) -> LevelPoint:
    """Ten seconds with all ten seats taken by requests of one seat: 99 of a second each, and ten that still run."""
    known: dict[str, Any] = {"executing": 10, "widths": [1] * 109, "execution": [1.0] * 99, "dispatched": 109.0}
    return later(begin, END - BEGIN, **{**known, **changed})


def window(
    ages: tuple[float, ...] | None = (0.1,) * 10, begin: dict[str, Any] | None = None, **changed: Any
) -> LevelWindow:
    first = begun(**(begin or {}))
    rows = None if ages is None else running(*ages)
    return a_window(a_point(first), a_point(busy(first, **changed), rows))


def with_limits(*limits: float, seconds: float = 2.0, requests: int = 8) -> LevelWindow:
    """`requests` of one seat execute all the time, while the limit moves from one answer to the next."""
    level = later(a_level(current=limits[0]), BEGIN, executing=requests)
    levels = [level]
    for limit in limits[1:]:
        level = later(replace(level, current=limit), seconds, executing=requests, execution=[seconds] * requests)
        levels.append(level)
    ages = [0.0] * requests
    return a_window(*(a_point(one, running(*ages, at=BEGIN + at * seconds)) for at, one in enumerate(levels)))


# Requests


def test_executions_and_the_ages_of_those_that_execute_are_the_time_spent_executing() -> None:
    check = held(executing_time, window())

    assert check.verdict == "ok" and check.unit == "request-seconds"
    assert check.observed == pytest.approx(100.0) and check.expected == pytest.approx((100.0, 100.0))


@pytest.mark.parametrize(("told", "verdict"), [(5.0, "off"), (9.5, "ok"), (10.5, "ok"), (11.5, "off")])
def test_a_limit_that_is_told_wrong_is_off(told: float, verdict: str) -> None:
    check = held(executing_time, window(begin={"current": told}, divisor=10))

    assert check.verdict == verdict
    if verdict == "off":
        assert ("smaller" if told > 10 else "larger") in check.reason


@pytest.mark.parametrize(
    ("service", "verdict"), [(0.33, "off"), (0.95, "ok"), (1.05, "ok"), (1.3, "off"), (3.0, "off")]
)
def test_executions_that_do_not_last_as_long_as_they_run_are_off(service: float, verdict: str) -> None:
    assert held(executing_time, window(execution=[service] * 99)).verdict == verdict


def test_where_the_limit_moved_in_a_short_step_both_limits_count() -> None:
    check = held(executing_time, with_limits(10.0, 10.0, 12.0))

    # Divided by 12 over all of the second step, times 10 or 12.
    assert check.verdict == "ok" and check.observed == pytest.approx(32.0)
    assert check.expected == pytest.approx((16 + 16 * 10 / 12, 32.0))


def test_where_a_step_is_long_the_limit_may_have_moved_and_moved_back() -> None:
    moved = with_limits(10.0, 10.0, seconds=12.0)
    check = held(executing_time, at_end(moved, execution=counted(empty(SECONDS_BOUNDS), [20.0] * 8)))

    assert held(executing_time, moved).verdict == "ok"
    assert check.verdict == "unknown" and "moved" in check.missing


def test_where_objects_changed_the_limit_may_have_moved_twice() -> None:
    check = held(executing_time, at_end(window(execution=[3.0] * 99), nominal=12.0))

    assert check.verdict == "unknown" and "moved" in check.missing


def test_where_schemas_changed_the_limit_may_have_moved_twice() -> None:
    wrong = window(execution=[3.0] * 99)
    first, last = (one.point for one in wrong.instants)
    schema = FlowSchema(Meta("load"), "load")
    check = held(executing_time, a_window(first, replace(last, schemas={"load": schema})))

    assert held(executing_time, wrong).verdict == "off"
    assert check.verdict == "unknown" and "moved" in check.missing


def test_at_a_limit_of_0_times_are_divided_by_a_tenth_of_the_servers_seats() -> None:
    config = a_config(queues=None)
    begin = later(a_level(current=0.0), BEGIN, divisor=9)
    last = later(begin, 10.0, executing=1, divisor=9, execution=[1.0] * 10)
    check = held(executing_time, a_window(a_point(begin, config=config), a_point(last, running(0.0), config=config)))

    assert check.verdict == "ok" and check.expected == pytest.approx((10.0, 10.0))


def test_up_to_1_27_a_limit_of_0_divides_by_0() -> None:
    begin = later(a_level(current=0.0), BEGIN, divisor=9)
    points = (a_point(level, release="1.27.3") for level in (begin, later(begin, 10.0, divisor=9)))
    check = held(executing_time, a_window(*points))

    assert check.verdict == "unknown" and "limit" in check.missing


def test_a_sum_that_is_no_number_is_unknown() -> None:
    good = window()
    spoilt = replace(spent(empty(REQUEST_BOUNDS), END, 0.0), sum=math.nan)
    check = held(executing_time, at_end(good, executing_time=spoilt))

    assert check.verdict == "unknown" and "no number" in check.missing


def test_up_to_1_27_nothing_lists_those_that_execute() -> None:
    begin = begun()
    idle = later(begin, 10.0, execution=[0.1] * 10)
    idle = replace(idle, executing_time=later(begin, 10.0, executing=0.1).executing_time)

    def old(last: LevelPoint) -> LevelWindow:
        return a_window(*(a_point(level, release="1.27.3", lists_executing=False) for level in (begin, last)))

    check = held(executing_time, old(busy(begin)))

    assert check.verdict == "unknown" and "1.27" in check.missing
    assert held(executing_time, old(idle)).verdict == "ok"


def test_without_a_dump_those_that_execute_have_no_age() -> None:
    check = held(executing_time, window(None))

    assert check.verdict == "unknown"
    assert check.missing == "no dump of requests next to the metrics while 10 execute"


def test_one_that_ended_after_the_dump_is_not_counted_twice() -> None:
    begin = begun()
    last = later(begin, 10.0, execution=[5.0])
    last = replace(last, executing_time=later(begin, 10.0, executing=0.5).executing_time)
    check = held(executing_time, a_window(a_point(begin), a_point(last, running(4.99))))

    assert check.verdict == "ok" and check.observed == pytest.approx(5.0)


def test_where_requests_wait_one_that_ended_may_have_been_replaced_at_once() -> None:
    calm = window((9.0, *(0.1,) * 9))
    waiting = a_row(END - 1, queue=11)
    crowded = a_window(
        calm.first.point, replace(calm.last.point, requests={"load": (*(calm.last.rows or ()), waiting)})
    )
    one, other = held(executing_time, calm), held(executing_time, crowded)

    assert one.tolerance is not None and one.tolerance < 9.0
    assert other.tolerance is not None and other.tolerance > 9.0


def test_the_exempt_level_is_held_against_its_limit_since_1_28() -> None:
    begin = begun()

    def exempt(release: str) -> LevelWindow:
        first = a_point(begin, name=EXEMPT, release=release)
        return a_window(first, a_point(busy(begin), running(*[0.1] * 10), name=EXEMPT, release=release), name=EXEMPT)

    assert held(executing_time, exempt("1.28.0")).verdict == "ok"
    assert [law(exempt("1.27.16")) for law in (executing_time, seat_time, demand_time)] == [None] * 3


# Seats


def test_requests_of_one_seat_take_as_many_seats_as_they_are() -> None:
    check = held(seat_time, window())

    assert check.verdict == "ok" and check.unit == "seat-seconds"
    assert check.observed == pytest.approx(100.0) and check.expected is not None
    # A write of one seat may linger for 5 ms.
    assert check.expected == pytest.approx((100.0, 100.0 + 99 * 0.005))


@pytest.mark.parametrize(("seats", "verdict"), [(9.7, "off"), (9.9, "ok"), (10.1, "ok"), (10.4, "off")])
def test_seats_that_no_request_takes_were_not_given_back(seats: float, verdict: str) -> None:
    check = held(seat_time, window(seats=seats))

    assert check.verdict == verdict
    if verdict == "off":
        assert ("not given back" if seats > 10 else "widths") in check.reason


def test_the_time_between_two_histograms_of_one_answer_is_allowed_for() -> None:
    late = busy(begun())
    late = replace(late, seat_time=late.seat_time and spent(late.seat_time, 0.3, 1.0))
    check = held(seat_time, a_window(a_point(begun()), a_point(late, running(*[0.1] * 10))))

    assert check.verdict == "ok" and check.observed == pytest.approx(103.0)


def test_a_limit_that_moves_changes_nothing_as_both_are_divided_by_it() -> None:
    for limits in ((10.0, 20.0, 8.0), (10.0, 0.0, 8.0)):
        check = held(seat_time, with_limits(*limits))
        assert check.verdict == "ok" and check.expected is not None and check.expected[0] == check.observed


def wide(widths: list[float], seats: float, rows: list[RequestRow], **begin: Any) -> LevelWindow:
    """Ten requests that execute all the time, on a level of 60 seats whose cap is 9."""
    first = begun(nominal=60.0, current=60.0, **begin)
    last = busy(first, widths=widths, seats=seats)
    return a_window(a_point(first), a_point(last, rows))


def a_write(final: int, linger_s: float) -> RequestRow:
    return a_row(END - 0.1, END - 0.1, final=final, linger_s=linger_s)


def test_wide_requests_may_be_the_slow_ones_or_the_quick_ones() -> None:
    mixed = [1.0] * 100 + [4.0] * 9
    high = 400.0 + 99 * 4 * 0.005

    assert held(seat_time, wide(mixed, 10.0, [])).expected == pytest.approx((100.0, high))
    assert [held(seat_time, wide(mixed, seats, [])).verdict for seats in (9.5, 10, 40, 42)] == [
        "off",
        "ok",
        "ok",
        "off",
    ]


def test_writes_that_are_cut_to_the_cap_linger_as_long_as_their_rows_say() -> None:
    capped = [9.0] * 109
    unseen, seen = held(seat_time, wide(capped, 60.0, [])), held(seat_time, wide(capped, 60.0, [a_write(9, 0.05)]))

    assert unseen.expected == pytest.approx((500.0, None)) and unseen.verdict == "ok"
    assert seen.expected == pytest.approx((500.0, 1000.0 + 99 * 9 * 0.05)) and seen.verdict == "ok"


def test_a_level_whose_cap_is_one_seat_may_linger_for_long() -> None:
    small = window(begin={"nominal": 7.0}, seats=14)
    check = held(seat_time, small)

    assert check.verdict == "ok" and check.expected == pytest.approx((100.0, None))


def test_the_watches_that_writes_tell_of_bound_what_lingers() -> None:
    """A hundred writes with 40 watches each hold 4 seats for 5 ms, whatever their width was cut to."""
    none, held_s = empty(WATCHERS_BOUNDS), (40 * 0.1 + 1) * 0.005

    def after(watchers: list[float], **changed: Any) -> LevelWindow:
        return window(begin={"nominal": 7.0, "watchers": none}, watchers=watchers, **changed)

    assert held(seat_time, after([])).expected == pytest.approx((100.0, 100.0))
    assert held(seat_time, after([40.0] * 100)).expected == pytest.approx((100.0, 100.0 + 100 * held_s))
    assert held(seat_time, after([40.0] * 100, seats=10.4)).verdict == "off"


def test_writes_from_before_the_window_linger_as_the_largest_ever_seen() -> None:
    first = later(a_level(nominal=7.0), BEGIN, executing=2, seats=4, watchers=[400.0])
    last = busy(first, watchers=[])

    check = held(seat_time, a_window(a_point(first), a_point(last, running(*[0.1] * 10))))

    assert check.expected == pytest.approx((100.0, 100.0 + 6 * (1000 * 0.1 + 1) * 0.005))


def test_watches_beyond_all_buckets_bound_nothing() -> None:
    first = later(a_level(nominal=7.0), BEGIN, watchers=[20_000.0])
    check = held(seat_time, a_window(a_point(first), a_point(busy(first), running(*[0.1] * 10))))

    assert check.expected == pytest.approx((100.0, None))


def test_a_request_wider_than_the_limit_is_cut_to_it() -> None:
    first = begun(nominal=60.0, current=2.0)
    last = busy(first, widths=[4] * 109, executing=1, seats=2)
    check = held(seat_time, a_window(a_point(first), a_point(last, running(0.0))))

    assert check.verdict == "ok" and check.expected is not None and check.expected[0] == pytest.approx(20.0)


def test_those_that_were_there_before_the_window_have_widths_too() -> None:
    def from_before(rows: list[RequestRow] | None) -> LevelWindow:
        first = later(a_level(nominal=60.0, current=60.0), BEGIN, executing=2, seats=6, widths=[1, 4, 4])
        last = busy(first, executing=2, seats=6, widths=[])
        return a_window(a_point(first, rows), a_point(last, []))

    both = [a_row(BEGIN - 1, BEGIN - 1, initial=4), a_row(BEGIN - 1, BEGIN - 1, initial=3)]
    known, unseen = held(seat_time, from_before(both)), held(seat_time, from_before(None))

    assert known.expected is not None and known.expected[0] == pytest.approx(60.0)
    assert unseen.expected is not None and unseen.expected[0] == pytest.approx(20.0)


def test_widths_that_are_not_exposed_are_unknown() -> None:
    check = held(seat_time, at_end(window(), widths=None))

    assert check.verdict == "unknown" and check.missing == "widths of requests are not known"


# Demand


def test_demand_is_seats_taken_and_seats_waited_for() -> None:
    check = held(demand_time, window(waiting=6))

    assert check.verdict == "ok" and check.unit == "seat-seconds"
    assert check.observed == pytest.approx(160.0) and check.expected == pytest.approx((160.0, 160.0))


@pytest.mark.parametrize(("demand", "verdict"), [(15.5, "off"), (15.9, "ok"), (16.1, "ok"), (16.5, "off")])
def test_demand_that_nobody_makes_was_left_behind_by_wide_requests(demand: float, verdict: str) -> None:
    check = held(demand_time, window(waiting=6, demand=demand))

    assert check.verdict == verdict
    if verdict == "off":
        assert ("wider than the limit" in check.reason) == (demand > 16)


def test_demand_that_stays_on_an_idle_level_is_off() -> None:
    begin = begun()
    check = held(demand_time, a_window(a_point(begin), a_point(later(begin, 10.0, demand=3))))

    assert check.verdict == "off" and "wider than the limit" in check.reason


def test_wide_requests_that_wait_want_more_seats() -> None:
    first = begun(nominal=60.0, current=60.0)
    last = busy(first, widths=[1, 4] * 50, waiting=6, waiting_seats=18)
    check = held(demand_time, a_window(a_point(first), a_point(last, running(*[0.1] * 10))))

    assert check.verdict == "ok" and check.expected == pytest.approx((160.0, 340.0))


def test_where_the_limit_moved_only_seats_waited_for_are_blurred() -> None:
    idle = held(demand_time, with_limits(10.0, 10.0, 14.0))
    level = later(a_level(), BEGIN)
    one = later(level, 2.0, executing=8, waiting=5)
    two = later(replace(one, current=14.0), 2.0, executing=8, waiting=5)
    crowded = held(demand_time, a_window(a_point(level), a_point(one), a_point(two)))

    assert idle.verdict == crowded.verdict == "ok"
    assert idle.tolerance is not None and idle.tolerance < 0.5
    # Five waited for two seconds, which were divided by 10 or 14, times 12.
    assert crowded.tolerance == pytest.approx(idle.tolerance + 10 * 2 / 14 + 0.01 * 20, abs=0.05)


def test_up_to_1_27_demand_is_divided_by_the_nominal_limit() -> None:
    begin = begun(nominal=20.0)
    last = busy(begin, waiting=6)
    last = replace(last, demand_time=begin.demand_time and spent(begin.demand_time, 10.0, 16 / 20))

    def under(release: str) -> str:
        return held(demand_time, a_window(a_point(begin, release=release), a_point(last, release=release))).verdict

    assert under("1.27.3") == "ok" and under("1.28.0") == "off"


def test_a_level_without_queues_demands_the_seats_that_it_takes() -> None:
    config = a_config(queues=None)
    begin = begun()
    # Its series of waiting requests may not be there yet.
    first = a_point(replace(begin, waiting_time=None), config=config)
    check = held(demand_time, a_window(first, a_point(busy(begin), config=config)))

    assert check.verdict == "ok" and check.expected == pytest.approx((100.0, 100.0))


@pytest.mark.parametrize(
    ("field", "missing"), [("demand_time", "demand"), ("seat_time", "seats"), ("widths", "widths")]
)
def test_what_demand_needs_is_named(field: str, missing: str) -> None:
    check = held(demand_time, at_end(window(), **{field: None}))

    assert check.verdict == "unknown" and missing in check.missing


def test_without_a_release_nobody_knows_what_demand_is_divided_by() -> None:
    known = window()
    check = held(demand_time, a_window(known.first.point, replace(known.last.point, release=None)))

    assert check.verdict == "unknown" and "release" in check.missing
