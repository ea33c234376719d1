"""Exact waits of the requests that dumps have shown, by flow, and what became of those that waited."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.check.sampled import flow_waits, following
from apftop.check.window import LevelWindow
from apftop.records.checks import FlowWaits, Followed
from apftop.records.parsed import Details, RequestRow
from tests.check.build import START, a_config, a_level, a_point, a_row, a_window, later

STEP_S = 5.0


def over(*dumps: list[RequestRow] | None, queues: int | None = 16, lists_executing: bool = True) -> LevelWindow:
    """A window with these rows of the level in its dumps, one each five seconds."""
    level, points = a_level(), []
    for rows in dumps:
        level = later(level, STEP_S)
        points.append(a_point(level, rows, lag_s=0.0, config=a_config(queues=queues), lists_executing=lists_executing))
    return a_window(*points)


def by(row: RequestRow, user: str, path: str = "/api/v1/pods") -> RequestRow:
    return replace(row, details=Details(user, "get", path, "", "", "v1", "pods", ""))


def test_waits_of_a_flow_are_from_arrival_to_start() -> None:
    window = over([a_row(1.0, 1.5), a_row(2.0, 4.0), a_row(3.0, 3.25, flow="mouse")])

    assert flow_waits(window) == (
        FlowWaits("load", "elephant", count=2, mean_s=1.25, max_s=2.0, waiting=0, mean_age_s=None),
        FlowWaits("load", "mouse", count=1, mean_s=0.25, max_s=0.25, waiting=0, mean_age_s=None),
    )


def test_a_request_that_executes_in_two_dumps_counts_once() -> None:
    long = a_row(1.0, 1.5)

    (found,) = flow_waits(over([long], [long, a_row(6.0, 8.5)]))

    assert (found.count, found.mean_s, found.max_s) == (2, 1.5, 2.5)


def test_requests_of_one_user_that_came_at_once_are_one_only_within_a_schema() -> None:
    found = flow_waits(over([a_row(1.0, 1.5), a_row(1.0, 2.5, schema="other")]))

    assert [(one.schema, one.count) for one in found] == [("load", 1), ("other", 1)]


def test_those_that_wait_are_those_of_the_last_dump_and_most_come_first() -> None:
    before = [a_row(1.0 + 0.1 * number, index=number) for number in range(5)]
    now = [a_row(9.0, flow="mouse"), a_row(9.0, flow="mouse", index=1), a_row(6.0), a_row(6.0, 7.0, flow="third")]

    found = flow_waits(over(before, now))

    assert [(one.flow, one.waiting, one.count) for one in found] == [
        ("mouse", 2, 0),
        ("elephant", 1, 0),
        ("third", 0, 1),
    ]
    assert found[0].mean_age_s == pytest.approx(1.0, abs=1e-3)
    assert found[1].mean_age_s == pytest.approx(4.0, abs=1e-3)
    assert (found[0].mean_s, found[0].max_s) == (None, None)


def test_on_a_level_with_one_queue_users_are_told_apart_since_the_server_tells_no_flows() -> None:
    rows = [by(a_row(1.0, 2.0, flow=""), "anna"), by(a_row(1.5, 2.0, flow=""), "bert"), by(a_row(4.0, flow=""), "bert")]

    found = flow_waits(over(rows, queues=1))

    assert [(one.flow, one.waiting, one.count) for one in found] == [("bert", 1, 1), ("anna", 0, 1)]


def test_on_a_level_with_queues_a_flow_is_its_distinguisher_whoever_asks() -> None:
    rows = [by(a_row(1.0, 2.0, flow="namespace"), "anna"), by(a_row(1.5, 2.0, flow="namespace"), "bert")]

    (found,) = flow_waits(over(rows))

    assert (found.flow, found.count) == ("namespace", 2)


def test_this_tools_own_requests_are_left_out() -> None:
    path = "/debug/api_priority_and_fairness/dump_requests"
    own = [by(a_row(4.9, 4.99, flow="me"), "me", path), by(a_row(4.0, flow="me"), "me", "/metrics")]
    others = [by(a_row(4.0, 4.5, flow="me"), "me"), by(a_row(4.0, 4.5, flow="prometheus"), "prometheus", "/metrics")]

    found = flow_waits(over([*own, *others]))

    assert [(one.flow, one.count, one.waiting) for one in found] == [("me", 1, 0), ("prometheus", 1, 0)]


def test_ages_are_unknown_where_the_time_of_the_dump_is() -> None:
    window = over([a_row(1.0)])
    (instant,) = window.instants

    (found,) = flow_waits(replace(window, instants=(replace(instant, dump_s=None),)))

    assert (found.waiting, found.mean_age_s) == (1, None)


def test_no_dump_tells_nothing() -> None:
    assert flow_waits(over(None, None)) == ()
    assert following(over(None, [a_row(1.0)])) is None


def test_waiting_requests_are_followed_to_the_last_dump() -> None:
    started, waits, gone = a_row(4.0), a_row(4.1, index=1), a_row(4.2, index=2)
    now = [a_row(4.0, 6.0), a_row(4.1, index=0), a_row(9.0, index=1)]

    assert following(over([a_row(1.0)], [started, waits, gone], now)) == Followed(
        waited=3, executing=1, still_waiting=1, gone=1
    )


def test_a_dump_that_is_missing_is_passed_over() -> None:
    assert following(over([a_row(4.0)], None, [a_row(4.0, 12.0)])) == Followed(1, 1, 0, 0)


def test_nobody_is_followed_up_to_1_27_where_dumps_lack_executing_requests() -> None:
    assert following(over([a_row(4.0)], [a_row(9.0)], lists_executing=False)) is None


def test_times_of_rows_are_those_of_the_server() -> None:
    assert over([a_row(1.0)]).last.dump_s == pytest.approx(START + STEP_S)
