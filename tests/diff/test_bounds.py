"""What is a change, and what chance and buckets make of themselves."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from apftop.diff.bounds import Counted, Spot, averages, counted_of, exact, momentary, quantiles, rates, shares
from apftop.records.measures import Quantile

SPOT = Spot("load")
COUNTS = st.integers(0, 10**6)
SECONDS = st.floats(0.5, 1000.0)


@given(COUNTS, SECONDS, COUNTS, SECONDS)
def test_rates_differ_only_where_what_their_counts_tell_does_not_overlap(n: int, t: float, m: int, u: float) -> None:
    found = rates(SPOT, "dispatched_per_s", counted_of(n, t), counted_of(m, u))
    apart = abs(m / u - n / t)
    bound = 3 * math.sqrt(max(n, 1)) / t + 3 * math.sqrt(max(m, 1)) / u

    if not math.isclose(apart, bound, rel_tol=1e-9):
        assert (found.how == "changed") == (apart > bound)


def test_a_handful_of_events_is_noise() -> None:
    assert rates(SPOT, "rejected_per_s", counted_of(3, 5.0), counted_of(7, 5.0)).how == "within"
    assert rates(SPOT, "rejected_per_s", counted_of(0, 5.0), counted_of(3, 5.0)).how == "within"
    assert rates(SPOT, "rejected_per_s", counted_of(300, 5.0), counted_of(700, 5.0)).how == "changed"


def test_unknown_is_never_nought() -> None:
    before = rates(SPOT, "dispatched_per_s", None, counted_of(500, 5.0))
    after = exact(SPOT, "nominal", 30.0, None, "seats")

    assert (before.how, before.difference, before.note) == ("unknown", None, "unknown before")
    assert (after.how, after.difference, after.note) == ("unknown", None, "unknown after")
    assert exact(SPOT, "nominal", math.nan, 3.0, "seats").how == "unknown"


def test_intervals_that_overlap_are_the_blur_of_buckets() -> None:
    low, over, high = Quantile(0.1, 0.5, 0.3), Quantile(0.2, 1.0, 0.5), Quantile(0.5, None, None)

    assert quantiles(SPOT, "p99", low, over, 50).how == "within"
    assert quantiles(SPOT, "p99", low, high, 50).how == "changed"
    assert quantiles(SPOT, "p99", low, high, 1).how == "within"
    assert quantiles(SPOT, "p99", over, high, 50).note == "within the buckets' blur"


def _share(those: float, others: float, seconds: float = 5.0, others_s: float = 5.0) -> tuple[Counted, Counted]:
    return counted_of(those, seconds), counted_of(others, others_s)


def test_a_longer_window_is_no_larger_share() -> None:
    """Metrics of each server come at their own times: 8 seconds of one lie beside 2 of another."""
    found = shares(SPOT, "share_of_dispatch", _share(8000, 2000, 8.0, 2.0), _share(5000, 5000))

    assert (found.how, found.old, found.new) == ("equal", 0.5, 0.5)


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_over_one_window_a_share_is_known_as_well_as_a_binomial_one(those: int, others: int) -> None:
    share, total = those / (those + others), those + others
    found = shares(SPOT, "refused_share", _share(those, others), _share(those, others))

    assert found.bound is not None
    assert math.isclose(found.bound, 2 * 3 * math.sqrt(share * (1 - share) / total), rel_tol=1e-9)


def test_shares_and_means_need_requests_to_differ() -> None:
    assert shares(SPOT, "refused_share", _share(1, 9), _share(3, 7)).how == "within"
    assert shares(SPOT, "refused_share", _share(100, 900), _share(300, 700)).how == "changed"
    assert shares(SPOT, "refused_share", _share(0, 0), _share(3, 7)).how == "unknown"
    assert averages(SPOT, "utilization", (0.5, 10), (0.8, 10), "share").how == "within"
    assert averages(SPOT, "utilization", (0.5, 10_000), (0.8, 10_000), "share").how == "changed"
    assert averages(SPOT, "utilization", (0.1, None), (0.9, 10), "share").how == "within"


def test_what_waits_at_one_moment_spreads_too() -> None:
    assert momentary(SPOT, "waiting", 3, 6, "requests").how == "within"
    assert momentary(SPOT, "waiting", 3, 90, "requests").how == "changed"
