"""How the levels went lately: a point for each time that they were sampled."""

from __future__ import annotations

from dataclasses import replace

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.moment import TREND_LENGTH, Trend
from apftop.records.raw import Endpoint, Sample
from apftop.trends import Trends, trends
from tests.derive.build import a_sample, dispatched, exposition, level_row, levels_dump, series

LOAD = ("kas", "load")


def dump(t: float, waiting: int, *names: str) -> Sample:
    rows = (level_row(name, waiting, 1, 1, 0, 0, 0) for name in names or ("load",))
    return a_sample(levels_dump(*rows), t, Endpoint.LEVELS)


def metrics(t: float, waiting: int, seats: int) -> Sample:
    labels = {"flow_schema": "load", "priority_level": "load"}
    gauges = {"current_inqueue_requests": waiting, "current_executing_seats": seats}
    return a_sample(exposition(dispatched(1), *(series(name, n, **labels) for name, n in gauges.items())), t)


def after_each(*samples: Sample) -> Trends:
    """The trends after frames of the first sample, of the first two, and so on."""
    found: Trends = {}
    for number in range(1, len(samples) + 1):
        found = trends(found, frame(fold(samples[:number])))
    return found


def test_each_dump_of_the_levels_is_a_point() -> None:
    found = after_each(dump(1.0, 3), metrics(1.1, 3, 8), dump(3.0, 5), metrics(3.1, 5, 9), dump(5.0, 0))

    assert found == {LOAD: Trend((3, 5, 0), (None, 8, 9), 5.0)}


def test_the_same_samples_are_no_new_point() -> None:
    seen = frame(fold([dump(1.0, 3)]))

    assert trends(trends({}, seen), seen) == {LOAD: Trend((3,), (None,), 1.0)}


def test_metrics_are_the_points_of_a_server_that_gives_no_dump() -> None:
    denied = Sample("kas", Endpoint.LEVELS, status=403, sent=0.0, received=0.0)

    assert after_each(denied, metrics(1.0, 3, 8), metrics(6.0, 4, 9))[LOAD] == Trend((3, 4), (8, 9), 6.0)


def test_a_dump_that_fails_makes_way_for_the_metrics() -> None:
    failed = Sample("kas", Endpoint.LEVELS, error="timed out", sent=3.0, received=3.0)

    assert after_each(metrics(0.5, 1, 1), dump(1.0, 3), failed, metrics(6.0, 4, 9))[LOAD].waiting[-1] == 4


def test_a_level_that_is_gone_has_no_trend() -> None:
    assert set(after_each(dump(1.0, 3, "load", "gone"), dump(3.0, 3))) == {LOAD}


def test_only_the_latest_points_are_kept() -> None:
    found = after_each(*(dump(float(t), t) for t in range(TREND_LENGTH + 5)))[LOAD]

    assert found.waiting == tuple(range(5, TREND_LENGTH + 5))


def test_points_go_on_where_the_clock_was_set_back() -> None:
    def dated(sample: Sample, date: float) -> Sample:
        return replace(sample, server_date=date)

    dumps = dated(dump(5000.0, 3), 9000.0), dated(dump(1402.0, 5), 9002.0), dated(dump(1404.0, 6), 9004.0)
    denied = Sample("kas", Endpoint.LEVELS, status=403, sent=0.0, received=0.0)
    only = dated(metrics(5000.0, 3, 8), 9000.0), dated(metrics(1402.0, 5, 8), 9002.0)

    assert after_each(*dumps)[LOAD].waiting == (3, 5, 6)
    assert after_each(denied, *only)[LOAD].waiting == (3, 5)


def test_metrics_that_stand_in_for_a_dump_are_no_point_before_it() -> None:
    failed = Sample("kas", Endpoint.LEVELS, error="timed out", sent=3.0, received=3.0)

    assert after_each(metrics(0.5, 1, 1), dump(1.0, 3), failed)[LOAD].waiting == (1, 3)
