"""Counters and histograms between two answers: resets, newborn series, restarts, and the length of the window."""

from __future__ import annotations

from apftop.derive.deltas import step, subtract
from apftop.records.parsed import Histogram
from apftop.records.view import Key
from tests.derive.build import UTILIZATION_BOUNDS, a_view, dispatched, histogram, rejected, series

LOAD = Key("load", "load")


def nanoseconds(seconds: float, level: str = "load") -> list[str]:
    count = f"{seconds * 1e9:.0f}"
    name, labels = "priority_level_seat_utilization", {"phase": "executing", "priority_level": level}
    lines = [series(f"{name}_bucket", count, **labels, le=bound) for bound in (*UTILIZATION_BOUNDS, "+Inf")]
    return [*lines, series(f"{name}_sum", 0, **labels), series(f"{name}_count", count, **labels)]


def test_a_counter_rises() -> None:
    pair = step(a_view(dispatched(100)), a_view(dispatched(130)), 0.0, 10.0)

    assert pair.counters("dispatched") == {LOAD: 30}
    assert pair.window is not None
    assert (pair.window.seconds, pair.window.clock, pair.window.reset) == (10.0, "stamps", False)


def test_a_newborn_series_counts_whole() -> None:
    pair = step(a_view(dispatched(100)), a_view(dispatched(100), rejected(40, "queue-full")), 0.0, 10.0)

    assert pair.counters("rejected") == {Key("load", "load", "queue-full"): 40}


def test_a_restart_counts_from_its_start() -> None:
    pair = step(a_view(dispatched(900), start=1000.0), a_view(dispatched(12), start=2004.0), 2000.0, 2010.0)

    assert pair.counters("dispatched") == {LOAD: 12}
    assert pair.window is not None
    assert (pair.window.seconds, pair.window.reset) == (6.0, True)


def test_a_reset_without_restart_is_marked() -> None:
    pair = step(a_view(dispatched(900)), a_view(dispatched(12)), 2000.0, 2010.0)

    assert pair.counters("dispatched") == {LOAD: 12}
    assert pair.window is not None
    assert pair.window.reset


def test_a_series_that_went_is_a_reset() -> None:
    pair = step(a_view(dispatched(900)), a_view(dispatched(3, "other", "other")), 2000.0, 2010.0)

    assert pair.window is not None
    assert pair.window.reset


def test_the_servers_clock_gives_the_length() -> None:
    before, after = a_view(*nanoseconds(50.0)), a_view(*nanoseconds(54.4))
    pair = step(before, after, 100.0, 105.0)

    assert pair.window is not None
    assert (pair.window.seconds, pair.window.clock) == (4.4, "server")


def test_the_servers_clock_stands_in_for_unknown_times() -> None:
    pair = step(a_view(*nanoseconds(50.0)), a_view(*nanoseconds(60.0)), None, None)

    assert pair.window is not None
    assert (pair.window.seconds, pair.window.clock) == (10.0, "server")


def test_a_server_clock_that_contradicts_the_stamps_is_not_taken() -> None:
    pair = step(a_view(*nanoseconds(50.0)), a_view(*nanoseconds(51.0)), 100.0, 130.0)

    assert pair.window is not None
    assert (pair.window.seconds, pair.window.clock) == (30.0, "stamps")


def test_without_any_clock_there_is_no_window() -> None:
    assert step(a_view(dispatched(1)), a_view(dispatched(2)), None, None).window is None


def test_histograms_subtract_bucket_by_bucket() -> None:
    def waits(*samples: float) -> list[str]:
        name = "request_wait_duration_seconds"
        return histogram(name, list(samples), execute="true", flow_schema="load", priority_level="load")

    before, after = waits(0.001, 3.0), waits(0.001, 3.0, 0.3)
    pair = step(a_view(*before), a_view(*after), 0.0, 1.0)
    rise = pair.histograms("wait")[Key("load", "load", "true")]

    assert (rise.count, round(rise.sum, 9)) == (1, 0.3)
    assert rise.cumulative[rise.bounds.index(0.5)] - rise.cumulative[rise.bounds.index(0.2)] == 1


def test_histograms_with_other_buckets_start_anew() -> None:
    old = Histogram(5, 1.0, (1.0, 10.0), (4, 5, 5))
    new = Histogram(7, 2.0, (1.0, 10.0, 15.0), (6, 7, 7, 7))

    assert subtract(new, old) == new
