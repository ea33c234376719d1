"""Metrics against dumps of priority levels, and against the times of their questions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.objects import CATCH_ALL, EXEMPT, Meta
from apftop.check.point import Fetched, Point, Track
from apftop.check.same import metrics_moment, same_server
from apftop.check.window import LevelWindow, level_window
from apftop.records.parsed import LevelRow
from tests.check.build import LEVEL, START, a_config, a_level, a_point, a_window, held, later
from tests.check.recorded import windows
from tests.recording import recordings

OBJECT_OF_OLD = Meta(LEVEL, creation="2023-11-14T22:13:19Z")
"""Written a second before the level's series began."""

OBJECT_OF_LATE = Meta(LEVEL, creation="2023-11-14T22:13:40Z")


def row(dispatched: int | None, name: str = LEVEL) -> LevelRow:
    return LevelRow(name, 0, False, False, 0, 0, dispatched, 0, 0, 0)


def window(
    *counts: tuple[float, int | None], name: str = LEVEL, meta: Meta = OBJECT_OF_OLD, **more: Any
) -> LevelWindow:
    """A level each 5 s, by what the metrics and the dump just before them have counted."""
    config = replace(a_config(name, exempt=name == EXEMPT), meta=replace(meta, name=name))
    points = [
        a_point(
            later(a_level(dispatched=counted), 20.0 + 5.0 * number),
            name=name,
            dumped=row(dumped, name),
            config=config,
            **more,
        )
        for number, (counted, dumped) in enumerate(counts)
    ]
    return a_window(*points, name=name)


def test_metrics_between_two_dumps_count_no_less_than_the_first_and_no_more_than_the_second() -> None:
    check = held(same_server, window((100, 100), (150, 150), (200, 197)))

    assert check.verdict == "ok" and check.unit == "requests"


@pytest.mark.parametrize(("counted", "verdict"), [(99, "off"), (100, "ok"), (149, "ok"), (150, "ok"), (151, "off")])
def test_one_request_too_few_or_too_many_is_off(counted: float, verdict: str) -> None:
    check = held(same_server, window((counted, 100), (151, 150)))

    assert check.verdict == verdict
    if counted < 100:
        assert (check.observed, check.expected) == (-1, (0, 50)) and "old" in check.reason
    if counted > 150:
        assert (check.observed, check.expected) == (51, (0, 50)) and "different servers" in check.reason


def test_without_a_later_dump_many_at_once_are_not_told_from_another_server() -> None:
    assert held(same_server, window((100, 100), (215, 200))).verdict == "ok"
    assert held(same_server, window((100, 100), (1000, 200))).missing.startswith("a later dump")
    assert held(same_server, window((100, 100), (90000, 200))).verdict == "off"


def test_a_later_dump_right_after_the_metrics_bounds_nothing() -> None:
    """A request that is stopped between its two counts is in the metrics before it is in a dump."""
    first = a_point(later(a_level(dispatched=102), 20.0), dumped=row(100))
    soon = a_point(later(a_level(dispatched=104), 20.1), dumped=row(101))

    assert held(same_server, a_window(first, soon)).verdict == "ok"


def test_a_dump_from_after_the_metrics_may_count_more() -> None:
    first = a_point(later(a_level(dispatched=100), 20.0), dumped=row(108), lag_s=-0.5)
    last = a_point(later(a_level(dispatched=140), 25.0), dumped=row(148), lag_s=-0.5)
    many = a_point(later(a_level(dispatched=140), 25.0), dumped=row(1480), lag_s=-0.5)
    far = a_point(later(a_level(dispatched=140), 25.0), dumped=row(14800), lag_s=-0.5)

    assert held(same_server, a_window(first, last)).verdict == "ok"
    assert held(same_server, a_window(first, many)).verdict == "unknown"
    assert held(same_server, a_window(first, far)).verdict == "off"


def test_of_answers_with_one_time_nobody_knows_which_came_first() -> None:
    noted = Fetched(START, START, START)
    points = [
        replace(a_point(later(a_level(dispatched=100), 20.0), dumped=row(dumped)), metrics=noted, levels_fetched=noted)
        for dumped in (110, 400)
    ]

    assert held(same_server, a_window(points[0])).verdict == "ok"
    assert held(same_server, a_window(points[1])).verdict == "unknown"


@given(
    came=st.lists(st.floats(0.0, 30.0), max_size=200),
    looks=st.lists(st.tuples(st.floats(0.2, 5.0), st.floats(0.0, 0.5)), min_size=2, max_size=6),
    stopped_s=st.floats(0.0, 0.05),
)
def test_one_server_is_never_off_however_its_requests_come(
    came: list[float], looks: list[tuple[float, float]], stopped_s: float
) -> None:
    """Each request is counted in the metrics first, and a little later in the dumps."""
    points, at = [], 1.0
    for pause_s, lag_s in looks:
        at += pause_s + lag_s
        dumped = sum(moment + stopped_s <= at - lag_s for moment in came)
        counted = sum(moment <= at for moment in came)
        points.append(a_point(later(a_level(dispatched=counted), at), dumped=row(dumped), lag_s=lag_s))

    assert held(same_server, a_window(*points)).verdict != "off"


def test_a_level_made_anew_counts_from_nothing_in_dumps_only() -> None:
    anew = held(same_server, window((900, 100), (950, 150), (1000, 200), meta=OBJECT_OF_LATE))

    assert anew.verdict == "unknown" and "made anew" in anew.missing
    assert held(same_server, window((900, 100), (950, 150), (1000, 200))).verdict == "off"
    assert held(same_server, window((900, 100), (950, 150), (960, 2), meta=OBJECT_OF_LATE)).verdict == "unknown"


def test_a_level_made_anew_must_still_count_alike_from_then_on() -> None:
    apart = held(same_server, window((900, 100), (990, 150), (1080, 200), meta=OBJECT_OF_LATE))

    assert apart.verdict == "off"


@pytest.mark.parametrize("name", [EXEMPT, CATCH_ALL])
def test_a_mandatory_level_is_never_made_anew(name: str) -> None:
    check = held(same_server, window((900, 100), (950, 150), (1000, 200), name=name, meta=OBJECT_OF_LATE))

    assert check.verdict == "off"


def test_what_is_missing_is_said() -> None:
    point = a_point(later(a_level(), 20.0), dumped=row(0))

    assert "dump of priority levels" in held(same_server, a_window(replace(point, dumped=None))).missing
    untimed = replace(point, levels_fetched=Fetched(None, None, None))
    assert "when" in held(same_server, a_window(untimed)).missing


def test_metrics_that_were_reset_count_less_for_good_and_are_unknown() -> None:
    reset = {"waiting_time": None, "executing_time": None, "seat_time": None, "demand_time": None}
    points = [
        a_point(a_level(dispatched=counted, **reset), dumped=row(dumped)) for counted, dumped in ((5, 100), (9, 104))
    ]
    alone = held(same_server, a_window(*points))
    # A mandatory level has such series again soon after.
    exempt = window((5, 100), (9, 104), name=EXEMPT)
    others = [replace(one.point, live=frozenset({EXEMPT, LEVEL})) for one in exempt.instants]
    beside = held(same_server, a_window(*others, name=EXEMPT))

    assert held(same_server, exempt).verdict == "off"
    assert [check.verdict for check in (alone, beside)] == ["unknown", "unknown"] and "reset" in alone.missing


def test_metrics_that_do_not_count_dispatches_cannot_be_compared() -> None:
    check = held(same_server, window((0, 100), (0, 150), measures=frozenset({"current"})))

    assert check.verdict == "unknown" and check.missing == "the counter of dispatched requests"


def test_dumps_that_do_not_count_dispatches_have_no_such_law() -> None:
    assert same_server(window((100, None), (150, None), release="1.26.3")) is None


def track(
    *late_s: float,
    trip_s: float = 0.05,
    ahead_s: float = 0.0,
    first: float = 20.0,
    every_s: float = 3.1,
    slewed: float = 0.0,
) -> Track:
    """A server asked each 3.1 s and a bit, whose metrics are so much older than the middle of the trip.

    This machine's clock is behind, and further by so much each second.
    """
    points = []
    for number, late in enumerate(late_s):
        at = first + every_s * number + 0.2 * (number % 2)
        point = a_point(later(a_level(), at - late))
        asked = START + at - ahead_s - slewed * (at - first)
        points.append(
            replace(
                point,
                metrics=Fetched(asked - trip_s / 2, asked + trip_s / 2, asked + trip_s),
                requests_fetched=Fetched(asked - 0.1, asked - 0.09, asked - 0.08),
                clock=replace(point.clock, dump_time=START + at - 0.095),
            )
        )
    return Track(tuple(points), {LEVEL: START})


@pytest.mark.parametrize("ahead_s", [0.0, 5.0, -5.0])
def test_metrics_lie_between_question_and_answer_whatever_the_clock(ahead_s: float) -> None:
    check = metrics_moment(track(0.0, 0.0, 0.0, ahead_s=ahead_s))

    assert check is not None and check.verdict == "ok"
    assert check.observed == pytest.approx(0.025, abs=0.01) and check.expected == pytest.approx((0.0, 0.05), abs=0.011)


@pytest.mark.parametrize(("late_s", "verdict"), [(0.06, "ok"), (0.12, "off"), (3.1, "off")])
def test_one_answer_that_is_older_than_its_question_is_off(late_s: float, verdict: str) -> None:
    check = metrics_moment(track(0.0, 0.0, late_s))

    assert check is not None and check.verdict == verdict
    if verdict == "off":
        assert check.observed == pytest.approx(0.05 + 0.01 - late_s, abs=0.03) and "older" in check.reason


def test_a_clock_that_is_being_corrected_makes_no_answer_old() -> None:
    check = metrics_moment(track(*[0.0] * 4, every_s=60.0, slewed=0.0005))
    late = metrics_moment(track(0.0, 0.0, 0.0, 1.0, every_s=60.0, slewed=0.0005))

    assert check is not None and check.verdict == "ok"
    assert late is not None and late.verdict == "off"


def test_an_old_answer_among_the_earlier_ones_is_off_too() -> None:
    check = metrics_moment(track(0.0, 2.0, 0.0, 0.0))

    assert check is not None and check.verdict == "off"


def test_an_answer_that_was_long_in_coming_says_less() -> None:
    check = metrics_moment(track(0.0, 0.0, 0.4, trip_s=1.0))

    assert check is not None and check.verdict == "ok"


def test_a_series_that_begins_later_does_not_look_like_an_old_answer() -> None:
    """A new server's levels have the histogram of executing requests first."""
    whole = track(0.0, 0.0)
    first = whole.points[0]
    level = replace(first.levels[LEVEL], waiting_time=None)
    younger = replace(whole.points[1].levels[LEVEL], waiting_time=later(a_level(), 3.0).waiting_time)
    points = (replace(first, levels={LEVEL: level}), replace(whole.points[1], levels={LEVEL: younger}))
    check = metrics_moment(replace(whole, points=points))

    assert check is not None and check.verdict == "ok"


def test_a_clock_that_was_set_leaves_the_moment_unknown() -> None:
    before, after = track(0.0, 0.0), track(0.0, 0.0, 0.0, ahead_s=7.0)
    check = metrics_moment(Track((*before.points, after.points[2])))

    assert check is not None and check.verdict == "unknown" and "clock" in check.missing


def test_answers_that_were_not_timed_leave_the_moment_unknown() -> None:
    whole = track(0.0, 0.0)
    noted = tuple(
        replace(point, metrics=Fetched(point.metrics.time, point.metrics.time, point.metrics.time))
        for point in whole.points
    )

    for missing in (Track(), replace(whole, points=noted), replace(whole, points=whole.points[:1])):
        check = metrics_moment(missing)
        assert check is not None and check.verdict == "unknown" and check.missing


@pytest.mark.parametrize("recording", recordings(), ids=lambda one: one.name)
def test_real_servers_agree_with_themselves(recording: Any) -> None:
    for track, points in windows(recording):
        assert not offs(track, points)


@pytest.mark.parametrize("recording", recordings(), ids=lambda one: one.name)
def test_metrics_that_are_one_scrape_old_are_noticed_in_every_window(recording: Any) -> None:
    found = [offs(track, points) for track, points in windows(recording, late=True)]

    assert all(found)


def offs(track: Track, points: tuple[Point, ...]) -> list[str]:
    """What is off on any level of a server."""
    levels = [level_window(name, points, track.born) for name in sorted(points[-1].levels.keys() & points[-1].live)]
    checks = [*(same_server(level) for level in levels if level is not None), metrics_moment(track)]
    return [check.law for check in checks if check is not None and check.verdict == "off"]
