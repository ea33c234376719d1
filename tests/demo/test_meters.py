"""The instruments of a simulated server."""

from __future__ import annotations

import pytest

from apftop.demo.meters import Distribution, SecondPeak, TimedRatio

SECOND_NS = 1_000_000_000


def test_every_nanosecond_counts_in_the_bucket_of_the_ratio_that_held_in_it() -> None:
    ratio = TimedRatio((0.0, 0.5, 1.0), 100)
    ratio.divide_by(4, 100)
    ratio.set(2, 110)
    ratio.set(5, 130)
    ratio.divide_by(10, 160)

    found = ratio.read(200)

    assert (found.count, found.cumulative) == (100, (10, 70, 70, 100))
    assert found.sum == pytest.approx(20 * 0.5 + 30 * 1.25 + 40 * 0.5)


def test_a_value_on_a_bound_belongs_below_it() -> None:
    waits = Distribution((0.0, 0.005, 15.0))
    for value in (0.0, 0.005, 14.99, 15.0, 15.1):
        waits.observe(value)
    waits.age(3)

    assert waits.read().cumulative == (3, 6, 12, 15)
    assert waits.read().sum == pytest.approx(3 * 45.095)


def test_the_peak_shown_is_that_of_the_last_whole_second() -> None:
    peak = SecondPeak(0)
    for change, at in ((1, 0.1), (1, 0.2), (-2, 0.3), (1, 1.5)):
        peak.add(change, int(at * SECOND_NS))

    assert peak.read(int(1.9 * SECOND_NS)) == 2
    assert peak.read(int(2.1 * SECOND_NS)) == 1
    assert peak.read(int(9.0 * SECOND_NS)) == 1
    assert peak.value == 1
