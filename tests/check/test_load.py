"""The load of an interval, out of counts, histograms and the rows of dumps; and when its limit moved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from apftop.apf.traffic import Traffic
from apftop.check.limit_move import limit_move
from apftop.check.load import arrivals, arrivals_before, seen_requests, traffic
from apftop.check.missing import Missing
from apftop.check.point import LevelPoint
from apftop.check.seen_level import seen_level
from apftop.check.window import Instant
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import QueueRow, RequestRow
from tests.check.build import LEVEL, START_NS, a_config, a_level, a_point, a_row, a_window, later

BEGIN, END = 20.0, 24.0
FIRST = later(a_level(), BEGIN, executing=10)


def ends(
    before: Iterable[RequestRow] = (),
    after: Iterable[RequestRow] = (),
    first: LevelPoint = FIRST,
    points: dict[str, Any] | None = None,
    **between: Any,
) -> tuple[Instant, Instant]:
    """Two instants four seconds apart, with rows of their dumps and what happened between them."""
    busy = {"executing": 10, "execution": [0.4] * 100, "widths": [1.0] * 100, **between}
    last = later(first, END - BEGIN, **busy)
    more = points or {}
    return a_window(a_point(first, before, **more), a_point(last, after, **more)).ends


def a_load(before: Instant, after: Instant, *, own: bool = True) -> Traffic:
    return traffic(before, after, seen_requests(LEVEL, [before.point, after.point]), own=own)


def test_each_request_is_seen_once_in_order_of_arrival() -> None:
    row, other = a_row(BEGIN - 0.1, BEGIN), a_row(BEGIN - 0.3)
    first, last = ends([row, other], [a_row(BEGIN - 0.3, BEGIN + 3)])

    assert [one.arrive_ns for one in seen_requests(LEVEL, [first.point, last.point])] == [
        other.arrive_ns,
        row.arrive_ns,
    ]


def test_as_many_come_as_were_counted_by_their_widths_else_by_what_became_of_them() -> None:
    assert arrivals(*ends(widths=[1.0] * 70)) == 70
    blind = ends(first=later(a_level(widths=None), BEGIN), waiting=5, dispatched=60.0, rejected={"queue-full": 3})
    assert arrivals(*blind) == 68


def test_between_dump_and_metrics_as_many_come_as_the_gauges_have_more_and_as_were_served() -> None:
    first = later(a_level(), BEGIN, waiting=12, executing=10)
    rows = [a_row(BEGIN - 1, BEGIN - 0.5)] * 10
    before, _ = ends(rows, first=first, points={"lag_s": 0.1})

    # Of ten that take half a second each, two end in a tenth of one.
    assert arrivals_before(before, 0.5 * NANOSECONDS) == 12 + 2
    assert arrivals_before(ends(rows, points={"lag_s": 0.0})[0], 0.5 * NANOSECONDS) == 0


def test_requests_that_follow_each_other_closely_came_as_one_batch() -> None:
    rows = [a_row(BEGIN - at) for at in (0.5, 0.3, 0.295, 0.29, 0.1)]

    assert a_load(*ends(rows)).batches == (1, 3, 1)


def test_service_takes_what_was_served_in_the_interval_whenever_it_began() -> None:
    older, younger = a_row(BEGIN - 9, BEGIN - 8.02), a_row(END - 1, END - 0.02)

    assert a_load(*ends([older], [older])).service.mean_ns == pytest.approx(0.44 * NANOSECONDS, rel=0.01)
    # The eight seconds of it before the interval were not served in it.
    assert a_load(*ends([older], [younger])).service.mean_ns == pytest.approx(0.32 * NANOSECONDS, rel=0.01)


def test_widths_are_as_those_that_came_though_wide_ones_wait_longer_and_are_seen_more_often() -> None:
    rows = [a_row(BEGIN - 1 - at, initial=width) for at, width in enumerate((1, 4, 4, 4))]
    load = a_load(*ends(rows, widths=[1.0] * 75 + [4.0] * 25))
    assert load.weights is not None

    widths = [one.cost.width for one in load.samples]
    mean = sum(width * weight for width, weight in zip(widths, load.weights, strict=True)) / sum(load.weights)
    assert mean == pytest.approx(1.75, rel=1e-6)
    assert a_load(*ends([a_row(BEGIN - 1)])).weights is None
    with pytest.raises(Missing, match="as wide as those that came: 7 seats"):
        a_load(*ends(rows, widths=[7.0] * 100))


def test_the_wait_limit_is_that_of_those_who_left_else_the_default() -> None:
    def limit(waits: list[float], left: int, release: str = "1.30.4") -> float | None:
        found = a_load(*ends([a_row(BEGIN)], waits=waits, rejected={"time-out": left}, points={"release": release}))
        return None if found.wait_limit_ns is None else found.wait_limit_ns / NANOSECONDS

    assert limit([0.1] * 100, 0) == 15.0
    assert limit([3.0] * 30 + [0.0] * 70, 30) == pytest.approx(3.0)
    assert limit([3.0] * 30 + [2.5] * 10 + [0.15] * 60, 30) == pytest.approx(3.0, abs=0.1)
    assert limit([14.9] * 3 + [0.15] * 60, 3) == 15.0
    assert limit([4.9] * 2 + [5.1] * 2, 4) == 5.0
    assert limit([3.0] * 30, 30, "1.28.4") is None


def test_nothing_came_while_the_level_was_idle_unless_it_had_no_seats() -> None:
    first = later(a_level(), BEGIN)
    idle = ends([a_row(BEGIN - 9, BEGIN - 8)], first=first, executing=0)

    assert a_load(*idle).quiet_ns == pytest.approx((END - BEGIN) * NANOSECONDS)
    assert a_load(*idle, own=False).quiet_ns == 0
    jailed = ends([a_row(BEGIN - 9)], first=later(a_level(current=0.0), BEGIN), executing=0, divisor=9)
    assert a_load(*jailed).quiet_ns == 0


def test_those_that_the_next_dump_shows_came_when_they_did() -> None:
    row = a_row(END - 1)

    assert [at for at, _ in a_load(*ends([], [row])).known] == [row.arrive_ns]
    assert a_load(*ends([], [row]), own=False).known == ()


@pytest.mark.parametrize(
    ("rows", "between", "missing"),
    [
        ([], {}, "a request of the level in a dump"),
        ([a_row(BEGIN)], {"execution": ()}, "a request that was served"),
    ],
)
def test_what_nobody_knows_is_not_made_up(rows: list[RequestRow], between: dict[str, Any], missing: str) -> None:
    with pytest.raises(Missing, match=missing):
        a_load(*ends(rows, **between))


def moved(was: int, now: int, served_s: float, waiting: int = 3, rows: Iterable[RequestRow] = ()) -> tuple[float, ...]:
    """Between which moments the limit moved, in seconds of an interval of four."""
    first = later(a_level(current=float(was)), BEGIN, executing=was, divisor=10)
    execution = [served_s / 100] * 100
    before, after = ends(rows, first=first, executing=now, waiting=waiting, execution=execution, divisor=10)
    changed = a_point(replace(after.level, current=float(now)), ())
    move = limit_move(*a_window(before.point, changed).ends, START_NS, START_NS + 4 * 10**9)
    assert move is not None and move.limit == now
    return (move.earliest_ns - START_NS) / NANOSECONDS, (move.latest_ns - START_NS) / NANOSECONDS


def test_the_limit_moved_when_the_seats_served_tell_it() -> None:
    # Two seconds of 5 seats and two of 10 are 30 seat-seconds, and the other way round.
    assert moved(5, 10, 30.0) == pytest.approx((1.8, 2.2))
    assert moved(10, 5, 30.0) == pytest.approx((1.8, 2.2))


def test_seats_that_were_free_leave_open_when_it_moved() -> None:
    assert moved(5, 10, 30.0, waiting=0) == pytest.approx((0.0, 2.2))
    assert moved(10, 5, 30.0, waiting=0) == pytest.approx((1.8, 4.0))


def test_who_waits_without_seats_does_so_until_there_are_some() -> None:
    earliest, latest = moved(0, 4, 0.4, rows=[a_row(BEGIN - 1)])

    assert (earliest, latest) == pytest.approx((3.7, 4.0))


def test_queues_stand_as_dumped_and_linger_only_where_both_dumps_agree() -> None:
    rows = [a_row(BEGIN - 1, BEGIN - 0.5, queue=1, final=4, linger_s=0.02), a_row(BEGIN - 0.5, queue=2)]

    def queues(*shown: QueueRow) -> list[tuple[int, int]]:
        before, _ = ends(rows, points={"queue_rows": shown or None, "config": a_config(queues=3, hand=2)})
        return [(one.next_dispatch_r, one.seats_in_use) for one in seen_level(LEVEL, before).queues]

    shown = [QueueRow(LEVEL, at, 0, executing, seats, 100 + at, 0, 0, 0) for at, executing, seats in rows_of_queues()]
    assert queues() == [(0, 0), (0, 4), (0, 0)]
    assert queues(*shown) == [(100, 0), (101, 8), (102, 0)]
    assert queues(*shown[:2]) == [(0, 0), (0, 4), (0, 0)]
    with pytest.raises(Missing, match="lies in another one"):
        seen_level(LEVEL, ends([a_row(BEGIN, queue=5)], points={"config": a_config(queues=3, hand=2)})[0])


def rows_of_queues() -> list[tuple[int, int, int]]:
    """Index, executing and seats: one lingers in queue 1, and what queue 2 had has ended by the dump of requests."""
    return [(0, 0, 0), (1, 1, 8), (2, 1, 1)]
