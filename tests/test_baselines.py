"""What levels were asked to do before it hurt, out of the moments gone by."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from apftop.baselines import baselines
from apftop.records.frame import Frame
from apftop.records.load import Load
from apftop.records.measures import Window
from tests.findings.cluster import Did, Of, a_cluster, busier, quiet

LEVEL = "workload-low"
CALM = a_cluster(*quiet("kas-a")).frame
FULL = a_cluster(
    busier(quiet("kas-a")[0], LEVEL, Of((Did("service-accounts", 900, executing=300, waiting=40),), full=1.0))
).frame
T = 1_775_988_120.0
"""2026-04-12T10:02:00Z."""


def at(frame: Frame, t1: float, arrivals_per_s: float = 20.0, execution_s: float = 0.05, **window: object) -> Frame:
    """The frame with a window of 10 s that ends so many seconds after T, and this load of the level."""
    one = frame.replicas["kas-a"]
    span = Window(10.0, "server", T + t1 - 10, T + t1, **window)  # type: ignore[arg-type]
    level = replace(one.levels[LEVEL], load=Load(10.0, arrivals_per_s, 1.0, execution_s), window=span)
    return replace(frame, replicas={"kas-a": replace(one, window=span, levels={**one.levels, LEVEL: level})})


def calm(since: int, until: int, **load: float) -> Iterator[Frame]:
    """Calm moments, two for each window."""
    for t1 in range(since, until, 10):
        yield at(CALM, t1, **load)
        yield at(CALM, t1, **load)


def test_a_full_level_is_compared_with_the_calm_time_before_it() -> None:
    found = baselines([*calm(-350, 10), at(FULL, 10, 90.0), at(FULL, 20, 90.0)])

    baseline = found["kas-a", LEVEL]
    assert baseline.load == Load(360.0, pytest.approx(20.0), pytest.approx(1.0), pytest.approx(0.05))  # type: ignore[arg-type]
    assert baseline.source == "the 6 minutes before 10:02:00 UTC"


def test_windows_count_by_their_requests() -> None:
    quick, slow = (
        calm(-100, -50, arrivals_per_s=90.0, execution_s=0.1),
        calm(-50, 0, arrivals_per_s=10.0, execution_s=1),
    )
    load = baselines([*quick, *slow, at(FULL, 0)])["kas-a", LEVEL].load

    assert load.seconds == 100.0
    assert load.arrivals_per_s == pytest.approx(50.0)
    assert load.execution_s == pytest.approx((90 * 0.1 + 10 * 1) / 100)


def test_a_level_that_is_calm_now_has_no_baseline() -> None:
    assert baselines(list(calm(-300, 0))) == {}


def test_too_short_a_calm_time_is_none() -> None:
    assert baselines([*calm(-20, 0), at(FULL, 0)]) == {}


def test_of_a_level_that_is_full_now_and_then_the_longest_calm_time_counts() -> None:
    found = baselines([*calm(-400, -200), at(FULL, -200), *calm(-190, -170), at(FULL, -170)])

    assert found["kas-a", LEVEL].source == "the 3 minutes before 09:58:30 UTC"


def test_what_an_earlier_process_did_is_left_out() -> None:
    assert baselines([*calm(-300, 0), at(FULL, 0, reset=True), at(FULL, 10)]) == {}


def test_without_moments_there_is_nothing() -> None:
    assert baselines([]) == {}


def test_ten_minutes_of_moments_cost_little() -> None:
    frames = [at(CALM, t1 / 5 // 10 * 10) for t1 in range(3000)]
    frames.append(at(FULL, 610))
    took: list[float] = []
    for _ in range(5):
        begun = time.process_time()
        assert baselines(frames)
        took.append(time.process_time() - begun)

    assert min(took) < 0.02
