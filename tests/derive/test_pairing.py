"""Two answers: of one server or not, how much time lies between them, and what rose in it."""

from __future__ import annotations

import pytest

from apftop.derive.deltas import Step, subtract
from apftop.derive.pairing import pair
from apftop.records.parsed import Histogram
from apftop.records.view import Key, View
from tests.derive.build import UTILIZATION_BOUNDS, a_view, dispatched, histogram, rejected, series

LOAD = Key("load", "load")


def nanoseconds(seconds: float, level: str = "load", idle: float | None = None) -> list[str]:
    """The time that a level has lived, and how much of it nobody held a seat."""
    name, labels = "priority_level_seat_utilization", {"phase": "executing", "priority_level": level}
    whole, low = (f"{value * 1e9:.0f}" for value in (seconds, seconds if idle is None else idle))
    lines = [
        series(f"{name}_bucket", low if bound == "0" else whole, **labels, le=bound)
        for bound in (*UTILIZATION_BOUNDS, "+Inf")
    ]
    return [*lines, series(f"{name}_sum", 0, **labels), series(f"{name}_count", whole, **labels)]


def step_of(before: View, after: View, t0: float | None = 2000.0, t1: float | None = 2010.0) -> Step:
    pairing = pair(before, after, t0, t1)
    assert pairing.step is not None, pairing.note
    return pairing.step


def refused(before: View, after: View, t0: float | None = 2000.0, t1: float | None = 2010.0) -> str:
    pairing = pair(before, after, t0, t1)
    assert pairing.step is None
    return pairing.note


def test_a_counter_rises() -> None:
    step = step_of(a_view(dispatched(100)), a_view(dispatched(130)))

    assert step.counters("dispatched") == {LOAD: 30}
    assert (step.window.seconds, step.window.clock, step.window.reset) == (10.0, "stamps", False)


def test_a_newborn_series_counts_whole() -> None:
    step = step_of(a_view(dispatched(100)), a_view(dispatched(100), rejected(40, "queue-full")))

    assert step.counters("rejected") == {Key("load", "load", "queue-full"): 40}


def test_a_restart_counts_from_its_start() -> None:
    step = step_of(a_view(dispatched(900), start=1000.0), a_view(dispatched(12), start=2004.0))

    assert step.counters("dispatched") == {LOAD: 12}
    assert (step.window.seconds, step.window.reset) == (6.0, True)


def test_the_age_of_a_restarted_server_is_its_own() -> None:
    # The taker's clock is 102 s ahead; the server has lived 6 s.
    before = a_view(dispatched(900), *nanoseconds(5000), start=1000.0)
    step = step_of(before, a_view(dispatched(12), *nanoseconds(6), start=1902.0))

    assert step.counters("dispatched") == {LOAD: 12}
    assert (step.window.seconds, step.window.clock) == (6.0, "server")


def test_a_reset_of_the_metrics_counts_from_there() -> None:
    step = step_of(a_view(dispatched(900), *nanoseconds(5000)), a_view(dispatched(12), *nanoseconds(4)))

    assert step.counters("dispatched") == {LOAD: 12}
    assert (step.window.seconds, step.window.reset) == (4.0, True)


def test_another_server_that_started_earlier_gives_no_rates() -> None:
    note = refused(a_view(dispatched(900), start=1000.0), a_view(dispatched(131040), start=500.0))

    assert "different servers" in note


def test_another_server_that_started_later_but_long_ago_gives_no_rates() -> None:
    before = a_view(dispatched(900), *nanoseconds(900), start=1100.0)

    assert "different servers" in refused(before, a_view(dispatched(950), *nanoseconds(300), start=1710.0))


def test_another_server_of_the_same_start_shows_by_its_idle_time() -> None:
    # A quiet replica, then a busy one that started within the same second: no counter fell, the idle time did.
    quiet = a_view(dispatched(100), *nanoseconds(1000, idle=999))
    busy = a_view(dispatched(9000), *nanoseconds(1010.2, idle=400))

    assert "different servers" in refused(quiet, busy)


def test_answers_in_the_wrong_order_give_no_rates() -> None:
    assert "order" in refused(a_view(dispatched(130)), a_view(dispatched(100)))
    assert "order" in refused(a_view(dispatched(100)), a_view(dispatched(130)), 2010.0, 2000.0)


def test_a_stepped_clock_of_the_host_is_no_restart() -> None:
    step = step_of(a_view(dispatched(100), start=1000.0), a_view(dispatched(130), start=1001.0))

    assert step.counters("dispatched") == {LOAD: 30}
    assert not step.window.reset


def test_a_series_that_went_gives_no_rates() -> None:
    assert "no rates" in refused(a_view(dispatched(900)), a_view(dispatched(3, "other", "other")))


@pytest.mark.parametrize("lines", [(), ('nominal_limit_seats{priority_level="load"} 5',)])
def test_metrics_without_counters_are_no_beginning(lines: tuple[str, ...]) -> None:
    assert "earlier metrics hold no dispatched" in refused(a_view(*lines), a_view(dispatched(131040)))
    assert "later metrics hold no dispatched" in refused(a_view(dispatched(131040)), a_view(*lines))


def test_a_series_of_two_values_has_no_rise() -> None:
    torn = a_view(
        series("dispatched_requests_total", 5, flow_schema="load", job="a", priority_level="load"),
        series("dispatched_requests_total", 9, flow_schema="load", job="b", priority_level="load"),
        dispatched(1, "other", "other"),
    )
    step = step_of(torn, a_view(dispatched(131040), dispatched(2, "other", "other")))

    assert step.counters("dispatched") == {Key("other", "other"): 1}
    assert step.torn("dispatched") == {LOAD}


def test_the_servers_clock_gives_the_length() -> None:
    step = step_of(a_view(dispatched(1), *nanoseconds(50.0)), a_view(dispatched(1), *nanoseconds(54.4)), 100.0, 105.0)

    assert (step.window.seconds, step.window.clock) == (4.4, "server")


def test_the_servers_clock_stands_in_for_unknown_times() -> None:
    step = step_of(a_view(dispatched(1), *nanoseconds(50.0)), a_view(dispatched(1), *nanoseconds(60.0)), None, None)

    assert (step.window.seconds, step.window.clock) == (10.0, "server")


def test_the_servers_clock_wins_over_times_that_somebody_noted_and_says_so() -> None:
    pairing = pair(a_view(dispatched(1), *nanoseconds(50.0)), a_view(dispatched(1), *nanoseconds(80.0)), 100.0, 160.0)

    assert pairing.step is not None
    assert (pairing.step.window.seconds, pairing.step.window.clock) == (30.0, "server")
    assert "60 s apart by their times, but 30 s by the server's own clock" in pairing.note


def test_servers_of_unknown_start_are_not_paired_against_their_clock() -> None:
    before = a_view(dispatched(1), *nanoseconds(50.0), start=None)

    assert "no rates" in refused(before, a_view(dispatched(9), *nanoseconds(5000.0), start=None))


def test_levels_of_one_server_age_alike() -> None:
    before = a_view(dispatched(1), *nanoseconds(50.0), *nanoseconds(900.0, "other"))
    after = a_view(dispatched(9), *nanoseconds(60.0), *nanoseconds(990.0, "other"))

    assert "different servers" in refused(before, after)


def test_without_any_clock_there_is_no_window() -> None:
    assert "no rates" in refused(a_view(dispatched(1)), a_view(dispatched(2)), None, None)


def test_histograms_subtract_bucket_by_bucket() -> None:
    def waits(*samples: float) -> list[str]:
        name = "request_wait_duration_seconds"
        return histogram(name, list(samples), execute="true", flow_schema="load", priority_level="load")

    before, after = waits(0.001, 3.0), waits(0.001, 3.0, 0.3)
    rise = step_of(a_view(dispatched(2), *before), a_view(dispatched(3), *after)).histograms("wait")[
        Key("load", "load", "true")
    ]

    assert (rise.count, round(rise.sum, 9)) == (1, 0.3)
    assert rise.cumulative[rise.bounds.index(0.5)] - rise.cumulative[rise.bounds.index(0.2)] == 1


def test_histograms_with_other_buckets_do_not_subtract() -> None:
    old = Histogram(5, 1.0, (1.0, 10.0), (4, 5, 5))
    new = Histogram(7, 2.0, (1.0, 10.0, 15.0), (6, 7, 7, 7))

    assert subtract(new, old) is None


def test_another_certificate_gives_no_rates() -> None:
    pairing = pair(a_view(dispatched(100)), a_view(dispatched(130)), 2000.0, 2010.0, "peer")

    assert pairing.step is None
    assert "another certificate" in pairing.note


def test_another_start_in_the_header_is_a_restart_where_the_server_is_young() -> None:
    # Both starts are within what a stepped clock explains.
    before, after = a_view(dispatched(9), *nanoseconds(8.0), start=1000.0), a_view(dispatched(12), start=1001.5)

    assert pair(before, after, 1000.5, 1010.5, "start").step is not None
    step = pair(before, a_view(dispatched(12), *nanoseconds(4.0), start=1001.5), 1000.5, 1010.5, "start").step
    assert step is not None
    assert (step.counters("dispatched"), step.window.reset, step.window.seconds) == ({LOAD: 12}, True, 4.0)
