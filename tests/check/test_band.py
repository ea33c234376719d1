"""Waits that a load could give, and those that it could not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.check.band import EMPTY, Results, band_check, prediction, with_result
from apftop.check.point import Track
from apftop.check.runs import Result
from apftop.check.window import LevelWindow
from apftop.records.checks import Check
from tests.check.build import LEVEL, a_config, a_level, a_point, a_row, a_window, later
from tests.check.synthetic import Shape
from tests.crosscheck.bands import synthetic

BEGIN = 20.0
WAIT_S = 0.5


def a_load(seconds: float = 9.0, widths: float = 1.0, seats: float = 10.0) -> LevelWindow:
    """Two intervals of twenty requests each that waited for half a second, beside ten that execute."""
    first = later(a_level(), BEGIN, executing=10)
    level, points = first, [a_point(first, [a_row(BEGIN - 1)])]
    for step in (1, 2):
        level = later(
            level,
            seconds / 2,
            waiting=2,
            executing=10,
            seats=seats,
            waits=[WAIT_S] * 20,
            widths=[widths] * 20,
            execution=[1.0] * 20,
            dispatched=20.0,
        )
        points.append(replace(a_point(level, [a_row(BEGIN + step * seconds / 2 - 1)]), number=step + 1))
    return a_window(*points)


def results(*means: float, window: LevelWindow | None = None) -> Results:
    """Each run of each interval gives one of these mean waits, to a hundred requests."""
    found = {}
    for one in (window or a_load()).instants[1:]:
        made = Result("kas-1", LEVEL, "waits", one.point.number, tuple((100 * mean, 100) for mean in means))
        found[made.key] = made
    return found


def check(of: Results, window: LevelWindow | None = None) -> Check:
    found = band_check(window or a_load(), of)
    assert found is not None
    return found


def test_runs_are_summed_over_the_intervals_of_a_window_run_by_run() -> None:
    window = a_load()
    one, other = results(0.2, 0.6, window=window).values()
    other = replace(other, waits=tuple(reversed(other.waits)))
    found = prediction(window, {one.key: one, other.key: other})

    assert found is not None and found.observed == pytest.approx(WAIT_S)
    # What is long in the one interval is short in the other.
    assert (found.mean_wait.low, found.mean_wait.high) == pytest.approx((0.4, 0.4))
    assert (found.runs, found.intervals) == (2, 2) and found.seconds == pytest.approx(9.0)


@pytest.mark.parametrize(
    ("mean", "verdict", "words"),
    [
        (0.20, "off", "longer"),
        (0.37, "off", "longer"),
        (0.39, "ok", ""),
        (0.60, "ok", ""),
        (0.63, "off", "shorter"),
        (1.5, "off", "shorter"),
    ],
)
def test_waits_outside_of_the_band_and_its_allowance_are_off(mean: float, verdict: str, words: str) -> None:
    found = check(results(mean))

    assert found.verdict == verdict and found.observed == pytest.approx(WAIT_S)
    assert words in found.reason


def test_more_than_the_runs_have_served_is_off_though_waits_are_as_long() -> None:
    def served(number: int) -> Check:
        found = {key: replace(one, waits=((WAIT_S * number, number),) * 3) for key, one in results(WAIT_S).items()}
        return check(found)

    # Twenty left their queues in each of two intervals: more than 1.1 times 15 and 5 more, in both.
    assert served(16).verdict == "ok" and served(20).verdict == "ok" and served(40).verdict == "ok"
    few = served(15)
    assert (few.verdict, few.observed, few.expected, few.unit) == ("off", 40, (None, 38.0), "requests")
    assert "more requests left their queues" in few.reason


def test_it_is_unknown_without_runs_or_with_too_few_seconds_of_them() -> None:
    short = a_load(4.0)

    assert check(EMPTY).verdict == "unknown"
    assert check(results(0.2, window=short), short).missing == "8 s in which requests waited"
    assert prediction(a_load(), EMPTY) is None


def test_where_wide_requests_are_the_slow_ones_what_is_off_may_be_that() -> None:
    slow = a_load(seats=14.0)

    assert check(results(0.2), slow).verdict == "unknown" and "width" in check(results(0.2), slow).missing
    assert check(results(0.5), slow).verdict == "ok"


def test_where_metrics_come_seldom_what_is_off_may_be_a_load_that_changed() -> None:
    seldom = a_load(12.0)
    outside, inside = check(results(0.2, window=seldom), seldom), check(results(0.5, window=seldom), seldom)

    assert (outside.verdict, inside.verdict) == ("unknown", "ok")
    assert "answers of metrics within 4.5 s" in outside.missing


def test_levels_without_queues_have_no_band() -> None:
    window = a_load()
    rejects = {LEVEL: a_config(queues=None)}
    points = [replace(one.point, configs=rejects) for one in window.instants]

    assert band_check(a_window(*points), results(0.2)) is None


def test_results_of_points_that_are_gone_are_forgotten() -> None:
    old, new = (Result("kas-1", LEVEL, "waits", number) for number in (1, 9))
    track = Track((replace(a_point(a_level()), number=9),))

    assert list(with_result({old.key: old}, new, track)) == [new.key]


def test_a_healthy_level_is_in_its_bands_and_one_with_fewer_seats_is_not() -> None:
    found = synthetic(Shape(), range(2), ["limit halved"])

    assert found.windows > 20 and found.false == 0
    assert found.coverage >= 0.75 and found.width < 1.6
    assert found.share_caught("limit halved") >= 0.95
