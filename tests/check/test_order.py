"""The order inside of one queue."""

from __future__ import annotations

from typing import Any

import pytest

from apftop.check.order import order
from apftop.check.window import LevelWindow, level_window
from apftop.records.parsed import RequestRow
from tests.check.build import a_config, a_level, a_point, a_row, a_window, held, later
from tests.check.recorded import windows
from tests.recording import recordings


def window(*rows: RequestRow, **more: Any) -> LevelWindow:
    return a_window(a_point(later(a_level(), 20.0)), a_point(later(a_level(), 30.0), rows, **more))


def test_a_queue_in_which_all_is_in_line_is_right() -> None:
    check = held(
        order,
        window(
            a_row(21.0, 25.0, queue=3),
            a_row(22.0, 26.0, queue=3),
            a_row(23.0, queue=3, index=0),
            a_row(24.0, queue=3, index=1),
        ),
    )

    assert (check.verdict, check.observed, check.about) == ("ok", 0, "5 pairs of requests")


def test_one_that_started_before_an_earlier_one_is_off() -> None:
    check = held(order, window(a_row(23.0, 25.0, queue=3), a_row(22.9, queue=3)))

    assert (check.verdict, check.observed, check.unit) == ("off", 1, "pairs")


def test_a_line_out_of_order_is_off() -> None:
    check = held(order, window(a_row(23.0, queue=3, index=0), a_row(22.0, queue=3, index=1)))

    assert check.verdict == "off" and check.observed == 1


def test_other_queues_may_be_overtaken_and_equal_times_are_no_order() -> None:
    fair = held(order, window(a_row(23.0, 25.0, queue=3), a_row(22.0, queue=4), a_row(23.0, queue=3)))

    assert fair.verdict == "ok"


def test_up_to_1_27_those_that_wait_are_compared_alone() -> None:
    level = window(
        a_row(22.0, queue=3, index=0), a_row(23.0, queue=3, index=1), release="1.27.3", lists_executing=False
    )

    assert held(order, level).verdict == "ok"


def test_without_two_in_one_queue_nothing_is_known() -> None:
    assert "one queue" in held(order, window(a_row(21.0, 25.0, queue=3), a_row(24.0, queue=4))).missing
    assert held(order, a_window(a_point(later(a_level(), 20.0), None))).missing == "a dump of requests"


def test_a_level_without_queues_has_no_such_law() -> None:
    assert order(window(a_row(21.0, 22.0, queue=-1), config=a_config(queues=None))) is None


@pytest.mark.parametrize("recording", recordings(), ids=lambda one: one.name)
def test_real_servers_keep_the_order(recording: Any) -> None:
    found = [
        check
        for track, points in windows(recording)
        if (level := level_window(recording.level, points, track.born)) and (check := order(level))
    ]

    assert found and not any(check.verdict == "off" for check in found)
