"""Waits of served requests out of a histogram that also counts those that gave up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.release import Release
from apftop.derive.waits import buckets, quantile, wait_limit, waits
from apftop.records.measures import WaitLimit
from apftop.records.parsed import Histogram

BOUNDS = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0)
LIMIT = WaitLimit(15.0, "test")


def histogram(samples: list[float]) -> Histogram:
    cumulative = (*(sum(one <= bound for one in samples) for bound in BOUNDS), len(samples))
    return Histogram(len(samples), sum(samples), BOUNDS, cumulative)


def test_time_outs_just_past_five_seconds_are_no_waits_of_served_requests() -> None:
    # The four-phase experiment: 400 served at once, 34 gave up after 5.01 s; dashboards read 9.7 s.
    found = waits(histogram([0.0001] * 400 + [5.01] * 34), unserved=34, refused=0, own=0, limit=LIMIT)

    assert found.executed == 400
    assert found.timed_out == 34
    assert found.p99 is not None
    assert (found.p99.low, found.p99.high) == (0.0, 0.005)
    assert found.time_outs_within_s == (5.0, 10.0)
    assert found.naive_p99_s is not None
    assert 9 < found.naive_p99_s < 10


def test_nothing_served_has_no_quantile() -> None:
    found = waits(histogram([15.001] * 7), unserved=7, refused=3, own=0, limit=LIMIT)

    assert (found.executed, found.refused, found.p50, found.mean_s) == (0, 3, None, None)


def test_mixed_time_outs_widen_the_interval_instead_of_choosing() -> None:
    # Fifty short-lived requests gave up at 2.5 s while ten patient ones were served after 12 s: nothing tells which.
    found = waits(histogram([2.5] * 50 + [12.0] * 10), unserved=50, refused=0, own=0, limit=LIMIT)

    assert found.p99 is not None
    assert found.p99.low <= 2.5
    assert found.p99.high == 15.0
    assert found.p99.estimate is None
    assert found.mean_s is None
    assert found.mean_bounds_s is not None
    assert found.mean_bounds_s[0] <= 2.5 <= 12.0 <= found.mean_bounds_s[1]


def test_beyond_the_last_bound_is_open() -> None:
    found = waits(histogram([4.0] * 500 + [22.0] * 200 + [41.7] * 300), unserved=0, refused=0, own=0, limit=LIMIT)

    assert found.p99 is not None
    assert (found.p99.low, found.p99.high, found.p99.estimate) == (30.0, None, None)
    assert found.over_last_bound == pytest.approx(0.3)
    assert found.overflow_mean_bounds_s == pytest.approx((34.7, 49.7))
    assert found.naive_p99_s == 30.0


def test_own_requests_widen_the_bounds() -> None:
    few = waits(histogram([0.001] * 3 + [3.0]), unserved=0, refused=0, own=2, limit=LIMIT)

    assert few.p95 is not None
    assert few.p95.low == 0.0
    assert few.p95.high == 5.0


def test_native_only_histogram_is_open_from_zero() -> None:
    found = waits(Histogram(4, 2.0, (), (4,), native_only=True), unserved=0, refused=0, own=0, limit=LIMIT)

    assert found.p50 is not None
    assert (found.p50.low, found.p50.high) == (0.0, None)
    assert found.mean_s == 0.5


def test_wait_limit_is_given_or_seen_or_assumed() -> None:
    release = Release(1, 30, 4)
    given_limit = wait_limit(release, 120.0, None, 0)
    seen = wait_limit(release, None, histogram([0.001] * 5 + [5.02] * 9), 9)
    both = wait_limit(release, None, histogram([0.001] * 5 + [4.99] * 4 + [5.02] * 9), 13)
    assumed = wait_limit(release, None, histogram([0.001] * 5), 0)

    assert given_limit.seconds == 30.0
    assert (seen.seconds, "between 5 and 10 s" in seen.assumed_from) == (5.0, True)
    assert (both.seconds, "both sides of 5 s" in both.assumed_from) == (5.0, True)
    assert (assumed.seconds, "default" in assumed.assumed_from) == (15.0, True)


def test_wait_limit_is_capped_only_where_the_server_caps_it() -> None:
    assert wait_limit(Release(1, 28, 5), 600.0, None, 0).seconds == 60.0
    assert wait_limit(Release(1, 28, 4), 600.0, None, 0).seconds == 150.0


samples = st.lists(st.floats(0, 70), max_size=60)
# Nobody gives up before the least wait limit of rules.toml: the assumption under which the bounds hold.
time_outs = st.lists(st.floats(1.001, 60), max_size=30)


@given(samples, time_outs, st.sampled_from([0.5, 0.95, 0.99]))
def test_the_true_quantile_of_the_served_lies_in_the_interval(
    served: list[float], given_up: list[float], share: float
) -> None:
    found = waits(histogram(served + given_up), unserved=len(given_up), refused=0, own=0, limit=LIMIT)
    truth = quantile(buckets(histogram(served)), share)
    shown = {0.5: found.p50, 0.95: found.p95, 0.99: found.p99}[share]

    assert found.executed == len(served)
    if truth is None:
        assert shown is None
    else:
        assert shown is not None
        assert shown.low <= truth.low
        assert shown.high is None or (truth.high is not None and truth.high <= shown.high)
        if shown.estimate is not None:
            assert truth.estimate == pytest.approx(shown.estimate)


@given(samples.filter(bool), time_outs)
def test_the_true_mean_of_the_served_lies_in_its_bounds(served: list[float], given_up: list[float]) -> None:
    found = waits(histogram(served + given_up), unserved=len(given_up), refused=0, own=0, limit=LIMIT)
    truth = sum(served) / len(served)

    if found.mean_s is not None:
        assert found.mean_s == pytest.approx(truth)
    if found.mean_bounds_s is not None:
        low, high = found.mean_bounds_s
        assert low - 1e-6 <= truth <= high + 1e-6


@given(samples.filter(bool))
def test_bounds_of_the_overflow_hold_its_mean(served: list[float]) -> None:
    found = waits(histogram(served), unserved=0, refused=0, own=0, limit=LIMIT)
    over = [one for one in served if one > 30]

    assert found.over_last_bound == pytest.approx(len(over) / len(served))
    if over:
        assert found.overflow_mean_bounds_s is not None
        low, high = found.overflow_mean_bounds_s
        assert low - 1e-6 <= sum(over) / len(over) <= high + 1e-6
