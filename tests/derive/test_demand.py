"""What a level asks for, for how long it is above its limit, and how full its queues are."""

from __future__ import annotations

import math

import pytest

from apftop.derive.frame import frame
from apftop.live import fold
from apftop.records.frame import Level
from apftop.records.measures import Demand
from tests.derive.build import a_sample, dispatched, exposition, series

NAMES = ("demand_seats_high_watermark", "demand_seats_average", "demand_seats_stdev", "demand_seats_smoothed")
BOUNDS = (0.0, 0.1, 0.25, 0.5, 0.95, 0.99, 1.0)
NS = 1_000_000_000


def gauges(level: str, *values: float | str) -> list[str]:
    """High watermark, average, deviation, smoothed demand and target of a level."""
    named = zip((*NAMES, "target_seats"), values, strict=False)
    return [series(name, value, priority_level=level) for name, value in named]


def the_level(name: str, *answers: list[str], release: str = "v1.30.4") -> Level:
    """The level by these metrics answers, ten seconds apart."""
    bodies = [exposition(*lines, dispatched(9), release=release) for lines in answers]
    found = frame(fold(a_sample(body, 10.0 * at) for at, body in enumerate(bodies)))
    return found.replicas["kas"].levels[name]


def over_time(family: str, phase: str, *ratios: float) -> list[str]:
    """A histogram over nanoseconds, of two seconds at each of these ratios."""
    labels = {"phase": phase, "priority_level": "load"}
    lines = [
        series(
            f"{family}_bucket",
            2 * NS * sum(one <= bound for one in ratios),
            **labels,
            le="+Inf" if bound == math.inf else f"{bound:g}",
        )
        for bound in (*BOUNDS, math.inf)
    ]
    total = series(f"{family}_sum", 2 * NS * sum(ratios), **labels)
    return [*lines, total, series(f"{family}_count", 2 * NS * len(ratios), **labels)]


def used(*ratios: float) -> list[str]:
    return over_time("priority_level_seat_utilization", "executing", *ratios)


def filled(phase: str, *ratios: float) -> list[str]:
    return over_time("priority_level_request_utilization", phase, *ratios)


def test_the_demand_of_a_level_is_what_its_gauges_tell_in_seats() -> None:
    found = the_level("load", gauges("load", 90, 61.5, 12.25, 73.75, 74))

    assert found.demand == Demand(90, 61.5, 12.25, 73.75, 74)


def test_a_demand_that_is_no_number_is_unknown_and_one_that_is_not_told_at_all_is_none() -> None:
    found = the_level("load", gauges("load", 0, "NaN", "NaN", "NaN", "NaN"), release="v1.27.8")

    assert found.demand == Demand(0, None, None, None, None)
    assert the_level("load", used(0.5)).demand is None


def test_a_gauge_that_is_missing_is_unknown_and_not_zero() -> None:
    assert the_level("load", gauges("load", 90)).demand == Demand(90, None, None, None, None)


def test_since_1_31_the_target_of_the_exempt_level_is_that_of_another_level() -> None:
    lines = [*gauges("exempt", 3, 1, 1, 2, 74), *gauges("load", 3, 1, 1, 2, 74)]

    for release, target in (("v1.30.4", 74), ("v1.31.0", None), ("v1.37.2", None), ("", None)):
        found = the_level("exempt", lines, release=release).demand
        assert found is not None and found.target == target
        other = the_level("load", lines, release=release).demand
        assert other is not None and other.target == 74


def test_time_above_the_limit_is_counted_apart_from_time_at_it() -> None:
    found = the_level("load", used(1.25), used(1.25, 0.5, 1.0, 1.0, 1.0, 1.25)).utilization

    assert found is not None
    assert not found.lifetime
    assert [found.gt_99, found.gt_1] == pytest.approx([0.8, 0.2])


def test_queues_are_over_a_quarter_full_for_a_share_of_the_window() -> None:
    found = the_level("load", filled("waiting", 0.9), filled("waiting", 0.9, 0.0, 0.25, 0.3, 0.2, 0.1)).fill

    assert found is not None
    assert not found.lifetime
    assert found.gt_25 == pytest.approx(0.2)


def test_what_executes_fills_no_queue_and_one_answer_tells_of_the_levels_life() -> None:
    assert the_level("load", filled("executing", 0.9)).fill is None
    found = the_level("load", filled("waiting", 0.9, 0.1)).fill
    assert found is not None
    assert (found.gt_25, found.lifetime) == (0.5, True)
