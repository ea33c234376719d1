"""The time spent waiting against what waits added up to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from apftop.apf.objects import EXEMPT, Meta
from apftop.check.point import Point
from apftop.check.waiting import little_s, waiting_time
from apftop.check.window import LevelWindow
from apftop.records.checks import Check
from apftop.records.frame import Clock
from apftop.records.parsed import RequestRow
from tests.check.build import START, a_config, a_level, a_point, a_row, a_window, at_end, held, later

BEGIN, END = 20.0, 30.0


def rows(*ages: float, at: float = END, lag_s: float = 0.02) -> list[RequestRow]:
    """Waiting rows of these ages at the dump before `at`."""
    return [a_row(at - lag_s - age, queue=queue) for queue, age in enumerate(ages)]


def window(
    ages: tuple[float, ...] = (0.5, 1.0, 2.0, 2.5, 4.0), *, first: Point | None = None, end: Any = None, **changed: Any
) -> LevelWindow:
    """Ten seconds with five waiting all the time: 40 waits of a second, and ten seconds in those that wait still."""
    begin = later(a_level(), BEGIN)
    known: dict[str, Any] = {"waiting": 5, "executing": 10, "waits": [1.0] * 40}
    last = later(begin, END - BEGIN, **{**known, **changed})
    return a_window(first or a_point(begin), a_point(last, rows(*ages), **(end or {})))


def test_waits_and_the_ages_of_those_that_wait_are_the_time_spent_waiting() -> None:
    check = held(waiting_time, window())

    assert check.verdict == "ok" and check.unit == "request-seconds"
    assert check.observed == pytest.approx(50.0) and check.expected == pytest.approx((50.0, 50.0))


@pytest.mark.parametrize(("mean", "verdict"), [(0.7, "off"), (0.93, "ok"), (1.07, "ok"), (1.3, "off")])
def test_a_wait_sum_may_be_wrong_by_less_than_a_tenth(mean: float, verdict: str) -> None:
    assert held(waiting_time, window(waits=[mean] * 40)).verdict == verdict


def test_waits_that_are_a_little_too_long_mean_a_server_short_of_cpu() -> None:
    late = held(waiting_time, window(waits=[1.3] * 40))
    foreign = held(waiting_time, window(waits=[2.5] * 40))

    assert late.verdict == "off" and "short of CPU" in late.reason and "300 ms" in late.reason
    assert foreign.verdict == "off" and "another server" in foreign.reason


def test_many_short_waits_with_a_slow_wake_up_mean_a_server_short_of_cpu() -> None:
    begin = later(a_level(), BEGIN)
    busy = later(begin, 10.0, executing=10, waits=[0.08] * 2000)
    check = held(waiting_time, a_window(a_point(begin), a_point(busy)))

    assert check.verdict == "off" and "short of CPU" in check.reason and "80 ms" in check.reason


def test_fewer_waits_than_were_spent_waiting_were_lost() -> None:
    check = held(waiting_time, window(waits=[1.0] * 20))

    assert check.verdict == "off" and "lost" in check.reason


@pytest.mark.parametrize(("config", "word"), [({"queues": 32}, "fewer or shorter"), ({"length": 5}, "more or longer")])
def test_queues_that_are_not_as_the_object_says_are_off(config: dict[str, int], word: str) -> None:
    begin = later(a_level(), BEGIN)
    last = later(begin, 10.0, waiting=5, executing=10, waits=[1.0] * 40)
    known = a_config(**config)  # type: ignore[arg-type]
    points = (a_point(begin, config=known), a_point(last, rows(0.5, 1.0, 2.0, 2.5, 4.0), config=known))
    check = held(waiting_time, a_window(*points))

    assert check.verdict == "off" and word in check.reason


def test_a_queue_length_limit_of_0_counts_as_1() -> None:
    config = a_config(queues=8, length=0)
    begin = later(a_level(), BEGIN)
    last = later(begin, 10.0, waiting=2, slots=8, waits=[1.0] * 20)
    check = held(waiting_time, a_window(a_point(begin, config=config), a_point(last, rows(0.0, 0.0), config=config)))

    assert check.verdict == "ok" and check.expected == pytest.approx((20.0, 20.0))


def test_those_that_wait_when_the_window_begins_have_waited_before_it() -> None:
    begin = later(a_level(), BEGIN, waiting=5)
    last = later(begin, 10.0, waits=[10.0] * 5)
    check = held(waiting_time, a_window(a_point(begin, rows(*[10.0] * 5, at=BEGIN)), a_point(last)))

    assert check.expected == (0.0, 0.0) and check.observed == pytest.approx(0.0)


def test_time_outs_of_a_level_without_seats_have_waited_like_others() -> None:
    level = a_level(current=0.0, nominal=0.0)
    begin = later(level, BEGIN, divisor=9)
    last = later(begin, 10.0, divisor=9, waiting=4, waits=[5.0] * 6, rejected={"time-out": 6.0})
    check = held(waiting_time, a_window(a_point(begin), a_point(last, rows(1.0, 2.0, 3.0, 4.0))))

    assert check.verdict == "ok" and check.observed == pytest.approx(40.0)


def test_without_a_dump_the_gauge_may_say_that_nobody_waits() -> None:
    begin = later(a_level(), BEGIN)
    last = later(later(begin, 5.0, waiting=4), 5.0, waits=[0.5] * 40)
    check = held(waiting_time, a_window(a_point(begin, None), a_point(last, None)))

    assert check.verdict == "ok" and check.observed == pytest.approx(20.0)


def test_without_a_dump_those_that_wait_have_no_age() -> None:
    begin = later(a_level(), BEGIN)
    last = later(begin, 10.0, waiting=5, waits=[1.0] * 40)
    check = held(waiting_time, a_window(a_point(begin), a_point(last, None)))

    assert check.verdict == "unknown"
    assert check.missing == "no dump of requests next to the metrics while 5 wait"


def test_without_the_servers_clock_those_that_wait_have_no_age() -> None:
    date = Clock(START + END, "the answer's Date header", 1.0, 0.0)
    check = held(waiting_time, window(end={"clock": date}))

    assert check.verdict == "unknown" and "clock" in check.missing


def test_one_that_left_its_queue_after_the_dump_is_not_counted_twice() -> None:
    begin = later(a_level(), BEGIN)
    last = later(begin, 10.0, waits=[5.0])
    last = replace(last, waiting_time=later(begin, 10.0, waiting=0.5).waiting_time)
    check = held(waiting_time, a_window(a_point(begin), a_point(last, rows(4.99))))

    assert check.verdict == "ok" and check.observed == pytest.approx(5.0)


def test_of_several_that_wait_any_may_have_left_after_the_dump() -> None:
    certain = held(waiting_time, window((5.0, 5.0, 0.0, 0.0, 0.0)))
    one_left = held(waiting_time, window((5.0, 5.0, 5.0, 0.0, 0.0, 0.0)))

    assert certain.observed == pytest.approx(50.0) and one_left.observed == pytest.approx(52.5)
    assert one_left.tolerance is not None and certain.tolerance is not None
    assert one_left.tolerance > certain.tolerance + 2.4


def test_between_dump_and_metrics_those_that_wait_grow_older_unseen() -> None:
    near, far = held(waiting_time, window()), held(waiting_time, window(end={"lag_s": 0.5}))

    assert near.tolerance is not None and far.tolerance == pytest.approx(near.tolerance + 5 * 0.48)


def test_levels_without_queues_are_left_out() -> None:
    begin = later(a_level(), BEGIN)
    last = later(begin, 10.0, executing=5)
    reject = a_config(queues=None)

    assert waiting_time(a_window(a_point(begin, config=reject), a_point(last, config=reject))) is None
    assert waiting_time(a_window(a_point(begin, name=EXEMPT), a_point(last, name=EXEMPT), name=EXEMPT)) is None


def test_an_object_that_changed_or_is_not_known_leaves_it_unknown_if_someone_waited() -> None:
    begin = later(a_level(), BEGIN)
    changed = held(waiting_time, window(first=a_point(begin, config=a_config(queues=8))))
    nameless = a_window(*(replace(one.point, configs=None) for one in window().instants))
    idle = later(begin, 10.0, executing=3, waits=[0.0] * 30)
    quiet = a_window(*(replace(a_point(level), configs=None) for level in (begin, idle)))

    assert changed.verdict == "unknown" and "object" in changed.missing
    assert held(waiting_time, nameless).verdict == "unknown"
    assert held(waiting_time, quiet).verdict == "ok"


def test_an_object_that_has_just_been_written_may_not_be_what_the_server_goes_by_yet() -> None:
    def written(time: str) -> Check:
        config = replace(a_config(), meta=Meta("load", creation=time))
        return held(waiting_time, window(first=a_point(later(a_level(), BEGIN), config=config), end={"config": config}))

    check = written("2023-11-14T22:13:37Z")

    assert check.verdict == "unknown" and "just been written" in check.missing
    assert written("2023-11-14T22:13:30Z").verdict == "ok"


def test_waits_of_an_instant_are_less_than_the_tolerance_and_tell_nothing() -> None:
    begin = later(a_level(), BEGIN)
    busy = later(begin, 10.0, executing=10, waiting=0.01, waits=[0.0001] * 1000)
    check = held(waiting_time, a_window(a_point(begin), a_point(replace(busy, waiting=0.0))))

    assert check.verdict == "unknown" and check.missing.startswith("more to compare: 0.1")


@pytest.mark.parametrize(("field", "missing"), [("waits", "waits"), ("waiting_time", "waiting requests")])
def test_a_histogram_that_is_not_exposed_is_named(field: str, missing: str) -> None:
    check = held(waiting_time, at_end(window(), **{field: None}))

    assert check.verdict == "unknown" and missing in check.missing


def test_littles_law_gives_the_mean_wait_whatever_the_histogram_says() -> None:
    assert little_s(window()) == pytest.approx(1.0)
    assert little_s(window(waits=[3.0] * 40)) == pytest.approx(1.0)


def test_littles_law_says_nothing_where_no_wait_ended_or_ages_are_not_known() -> None:
    begin = later(a_level(), BEGIN)
    last = later(begin, 10.0, waiting=5, waits=[1.0] * 40)

    assert little_s(window(waits=[])) is None
    assert little_s(a_window(a_point(begin), a_point(last, None))) is None
