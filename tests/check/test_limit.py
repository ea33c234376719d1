"""What the limit allows, and what it must not leave idle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from apftop.apf.objects import EXEMPT
from apftop.check.limit import over_limit, work_conservation
from apftop.check.point import LevelPoint, Point
from apftop.check.window import LevelWindow
from apftop.records.parsed import Histogram
from tests.check.build import (
    LEVEL,
    SEAT_BOUNDS,
    a_config,
    a_level,
    a_point,
    a_window,
    at_end,
    empty,
    held,
    later,
    spent,
)

BEGIN = 20.0


def window(*parts: tuple[float, dict[str, Any]], begin: dict[str, Any] | None = None, **point: Any) -> LevelWindow:
    """A window of these parts: seconds, and what there was in the level."""
    level = later(a_level(**(begin or {})), BEGIN)
    first = a_point(level, **point)
    for seconds, there in parts:
        level = later(level, seconds, **{"widths": [1] * 10, **there})
    return a_window(first, a_point(level, **point))


def moving(*limits: float, executing: float = 10, seconds: float = 3.0) -> LevelWindow:
    """So many requests of one seat, while the limit moves from one answer to the next."""
    level = later(a_level(current=limits[0]), BEGIN, executing=executing, widths=[1] * 10)
    points = [a_point(level)]
    for limit in limits[1:]:
        level = later(replace(level, current=limit), seconds, executing=executing)
        points.append(a_point(level))
    return a_window(*points)


# Above the limit


def test_all_seats_may_be_taken_all_the_time() -> None:
    check = held(over_limit, window((10.0, {"executing": 10})))

    assert check.verdict == "ok" and check.unit == "s"
    assert check.observed == 0.0 and check.tolerance == pytest.approx(0.01)


@pytest.mark.parametrize(("seconds", "verdict"), [(0.009, "ok"), (0.02, "off")])
def test_one_seat_above_the_limit_is_off(seconds: float, verdict: str) -> None:
    check = held(over_limit, window((10.0 - seconds, {"executing": 10}), (seconds, {"executing": 11})))

    assert check.verdict == verdict
    assert bool(check.reason) == (verdict == "off")


def test_a_limit_that_fell_may_be_exceeded_and_one_that_rose_may_not() -> None:
    fell, rose = held(over_limit, moving(10.0, 8.0)), held(over_limit, moving(10.0, 12.0))
    over = held(over_limit, moving(10.0, 12.0, executing=13))

    assert fell.verdict == "unknown" and "fell" in fell.missing
    assert rose.verdict == "ok"
    assert over.verdict == "unknown" and "before" in over.missing


def test_seats_from_before_the_limit_fell_may_exceed_it() -> None:
    check = held(over_limit, moving(8.0, 8.0))

    assert check.verdict == "unknown" and "before the limit fell" in check.missing


def test_in_a_long_step_the_limit_may_have_fallen_and_risen() -> None:
    level = later(a_level(), BEGIN)
    points = (a_point(level), a_point(later(level, 12.0, executing=11, widths=[1])))
    check = held(over_limit, a_window(*points))

    assert check.verdict == "unknown" and "may have moved" in check.missing


def test_a_request_wider_than_the_limit_runs_alone_above_it() -> None:
    limits = {"current": 3.0, "nominal": 3.0}
    alone = window((10.0, {"executing": 1, "seats": 5, "widths": [4] * 10}), begin=limits)
    narrow = window((10.0, {"executing": 2, "seats": 4, "widths": [2] * 10}), begin=limits)
    check = held(over_limit, alone)

    assert check.verdict == "unknown" and "runs alone" in check.missing
    assert held(over_limit, narrow).verdict == "off"


def test_the_limit_of_the_exempt_level_is_not_enforced() -> None:
    level = later(a_level(), BEGIN)
    points = (a_point(one, name=EXEMPT) for one in (level, later(level, 10.0, executing=40)))

    assert over_limit(a_window(*points, name=EXEMPT)) is None


def without_seats(executing: float, config: Any = None, release: str = "1.30.4") -> LevelWindow:
    level = later(a_level(current=0.0, nominal=0.0), BEGIN, divisor=9)
    last = later(level, 10.0, waiting=4, executing=executing, divisor=9, widths=[1] * 9)
    return a_window(*(a_point(one, config=config, release=release) for one in (level, last)))


def test_without_seats_nothing_is_let_out_of_a_queue() -> None:
    assert held(over_limit, without_seats(0)).verdict == "ok"
    assert held(over_limit, without_seats(1)).verdict == "off"


def test_without_seats_a_level_that_rejects_lets_one_run() -> None:
    check = held(over_limit, without_seats(1, a_config(queues=None)))

    assert check.verdict == "unknown" and "one request run" in check.missing


def test_without_seats_a_level_that_was_given_queues_may_still_run_what_it_had() -> None:
    found = without_seats(1)
    before = replace(found.first.point, configs={LEVEL: a_config(queues=None)})
    check = held(over_limit, a_window(before, found.last.point))

    assert check.verdict == "unknown" and "object" in check.missing


def test_without_seats_up_to_1_27_ratios_say_nothing() -> None:
    for law in (over_limit, work_conservation):
        assert held(law, without_seats(0, release="1.27.3")).verdict == "unknown"


# Free seats


def test_requests_may_wait_as_long_as_all_seats_are_taken() -> None:
    check = held(work_conservation, window((4.0, {"executing": 10, "waiting": 3}), (6.0, {"executing": 10})))

    assert check.verdict == "ok"
    assert check.observed == pytest.approx(4.0)
    assert check.expected is not None and check.expected[0] is None and check.expected[1] == pytest.approx(10.0)


@pytest.mark.parametrize(("seconds", "verdict"), [(0.09, "ok"), (0.2, "off")])
def test_requests_that_wait_while_a_seat_is_free_are_off(seconds: float, verdict: str) -> None:
    parts = ((5.0, {"executing": 4}), (5.0 - seconds, {"executing": 10, "waiting": 3}))
    check = held(work_conservation, window(*parts, (seconds, {"executing": 9, "waiting": 3})))

    assert check.verdict == verdict
    assert ("fewer seats than it says" in check.reason) == (verdict == "off")


def test_two_histograms_that_were_read_apart_are_allowed_for() -> None:
    good = window((10.0, {"executing": 10, "waiting": 3}))

    def read_early(seconds: float) -> Histogram:
        return spent(spent(empty(SEAT_BOUNDS), BEGIN, 0.0), 10.0 - seconds, 1.0)

    torn = at_end(good, seat_time=read_early(0.3))

    assert held(work_conservation, torn).verdict == "ok"
    assert held(work_conservation, torn).tolerance == pytest.approx(0.4)


def test_behind_a_request_that_does_not_fit_others_wait_rightly() -> None:
    blocked = {"executing": 4, "seats": 8, "waiting": 3}
    counted = held(work_conservation, window((10.0, {**blocked, "no_accommodation": 1.0})))
    possible = held(work_conservation, window((10.0, {**blocked, "widths": [1, 4]})))

    assert counted.verdict == "unknown" and "wider than the seats that are free" in counted.missing
    assert possible.verdict == "unknown" and "one seat" in possible.missing


def test_a_request_that_did_not_fit_excuses_nothing_that_needs_no_excuse() -> None:
    check = held(work_conservation, window((10.0, {"executing": 10, "waiting": 3, "no_accommodation": 5.0})))

    assert check.verdict == "ok"


def test_without_seats_requests_wait_rightly() -> None:
    check = held(work_conservation, without_seats(0))

    assert check.verdict == "unknown" and "seats" in check.missing


def test_levels_without_queues_keep_nobody_waiting() -> None:
    busy = (10.0, {"executing": 4})
    level = later(a_level(), BEGIN)
    exempt = a_window(*(a_point(one, name=EXEMPT) for one in (level, later(level, 10.0, executing=4))), name=EXEMPT)

    assert work_conservation(window(busy, config=a_config(queues=None))) is None
    assert work_conservation(exempt) is None


# What is missing


def _without_bucket(point: Point, measure: str, bound: float) -> Point:
    level: LevelPoint = point.levels[LEVEL]
    histogram: Histogram = getattr(level, measure)
    at = histogram.bounds.index(bound)
    bounds, counts = list(histogram.bounds), list(histogram.cumulative)
    del bounds[at], counts[at]
    fewer: dict[str, Any] = {measure: replace(histogram, bounds=tuple(bounds), cumulative=tuple(counts))}
    return replace(point, levels={LEVEL: replace(level, **fewer)})


@pytest.mark.parametrize(
    ("law", "measure", "bound"),
    [(over_limit, "seat_time", 1.0), (work_conservation, "seat_time", 0.99), (work_conservation, "waiting_time", 0.0)],
)
def test_a_bucket_that_was_dropped_is_named(law: Any, measure: str, bound: float) -> None:
    found = window((10.0, {"executing": 10}))
    check = held(law, a_window(*(_without_bucket(one.point, measure, bound) for one in found.instants)))

    assert check.verdict == "unknown" and f"a bucket at {bound:g}" in check.missing


@pytest.mark.parametrize(
    ("law", "field", "missing"),
    [
        (over_limit, "seat_time", "seats"),
        (over_limit, "current", "current limit"),
        (work_conservation, "waiting_time", "waiting"),
        (work_conservation, "current", "current limit"),
    ],
)
def test_what_the_limit_needs_is_named(law: Any, field: str, missing: str) -> None:
    check = held(law, at_end(window((10.0, {"executing": 10})), **{field: None}))

    assert check.verdict == "unknown" and missing in check.missing


def test_widths_that_are_not_exposed_excuse_what_they_might() -> None:
    over = at_end(window((9.0, {}), (1.0, {"executing": 11})), widths=None)
    idle = at_end(window((10.0, {"executing": 4, "waiting": 3})), widths=None)

    for check in (held(over_limit, over), held(work_conservation, idle)):
        assert check.verdict == "unknown" and "widths" in check.missing
