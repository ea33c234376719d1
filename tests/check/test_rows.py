"""Seats, widths and ages of the rows of dumps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from apftop.apf.objects import EXEMPT
from apftop.check.point import Point
from apftop.check.rows import seat_cap, seats_within_limit, wait_limit
from apftop.check.window import level_window
from apftop.records.parsed import Details, RequestRow
from tests.check.build import LEVEL, LIMIT, a_config, a_level, a_point, a_row, a_window, held, later, steady_limit
from tests.check.recorded import windows
from tests.recording import recordings


def at(seconds: float, *rows: RequestRow, level: dict[str, Any] | None = None, **more: Any) -> Point:
    return a_point(later(a_level(**(level or {})), seconds), rows, **more)


def executing(number: int, started: float = 22.0, **more: Any) -> list[RequestRow]:
    return [a_row(started - 0.5 + place / 1e6, started + place / 1e6, queue=1, **more) for place in range(number)]


@pytest.mark.parametrize(("number", "verdict"), [(LIMIT, "ok"), (LIMIT + 1, "off")])
def test_seats_of_those_that_execute_fit_the_limit(number: int, verdict: str) -> None:
    check = held(seats_within_limit, a_window(at(20.0), at(25.0, *executing(number))))

    assert (check.verdict, check.observed, check.expected) == (verdict, number, (None, LIMIT))


def test_widths_count_and_not_requests() -> None:
    fits = held(seats_within_limit, a_window(at(20.0), at(25.0, *executing(5, final=2))))
    over = held(seats_within_limit, a_window(at(20.0), at(25.0, *executing(4, final=3))))

    assert (fits.verdict, fits.observed) == ("ok", 10) and (over.verdict, over.observed) == ("off", 12)


def test_those_that_wait_take_no_seats() -> None:
    waiting = [a_row(21.0, queue=1, index=place) for place in range(40)]

    assert held(seats_within_limit, a_window(at(20.0), at(25.0, *executing(3), *waiting))).observed == 3


def test_a_limit_that_fell_below_what_executes_is_no_fault() -> None:
    larger = at(20.0, level={"current": 20.0})
    fell = held(seats_within_limit, a_window(larger, at(25.0, *executing(15)), at(30.0, *executing(15))))

    assert fell.verdict == "unknown" and "stood" in fell.missing


def test_one_that_starts_after_the_limit_fell_must_fit() -> None:
    larger = at(20.0, level={"current": 20.0})
    rows = [*executing(14), *executing(1, 27.0)]

    assert held(seats_within_limit, a_window(larger, at(25.0, *executing(14)), at(30.0, *rows))).verdict == "off"


def test_a_limit_that_rose_between_metrics_and_a_later_dump_is_no_fault() -> None:
    late = at(25.0, *executing(LIMIT + 1, 25.5), lag_s=-1.0)
    rose, stood = at(30.0, level={"current": LIMIT + 1.0}), at(30.0)

    assert held(seats_within_limit, a_window(at(20.0), late)).verdict == "unknown"
    assert held(seats_within_limit, a_window(at(20.0), late, rose)).verdict == "unknown"
    assert held(seats_within_limit, a_window(at(20.0), late, stood)).verdict == "off"


def test_a_limit_may_move_and_move_back_between_answers_that_are_far_apart() -> None:
    assert held(seats_within_limit, a_window(at(20.0), at(50.0, *executing(15, 40.0)))).verdict == "unknown"


def test_one_wider_than_the_limit_may_execute_alone() -> None:
    level = a_window(at(20.0), at(25.0, *executing(1, final=15)), at(30.0, *executing(2)))
    alone = held(seats_within_limit, level)

    assert (alone.verdict, alone.observed) == ("ok", 2)
    assert held(seats_within_limit, a_window(at(20.0), at(25.0, *executing(1, final=15)))).verdict == "unknown"


def test_a_level_that_rejects_lets_one_through_without_a_seat() -> None:
    none = {"current": 0.0}
    one = a_window(at(20.0, level=none), at(25.0, *executing(1), level=none, config=a_config(queues=None)), name=LEVEL)
    two = a_window(at(20.0, level=none), at(25.0, *executing(2), level=none))

    assert held(seats_within_limit, one).verdict == "unknown" and held(seats_within_limit, two).verdict == "off"


def test_the_exempt_level_and_old_dumps_have_no_limit_to_keep() -> None:
    exempt = a_window(at(20.0, name=EXEMPT), at(25.0, *executing(40, level=EXEMPT), name=EXEMPT), name=EXEMPT)
    old = a_window(at(20.0, a_row(19.0), release="1.27.3", lists_executing=False))

    assert seats_within_limit(exempt) is None and seats_within_limit(old) is None


def capped(*rows: RequestRow, nominal: float = 40.0, before: float = 40.0, **more: Any) -> Any:
    level = {"nominal": nominal}
    first = at(20.0, level={"nominal": before}, **more)
    return held(seat_cap, a_window(first, at(25.0, *rows, level=level, **more), name=more.get("name", LEVEL)))


@pytest.mark.parametrize(("final", "verdict"), [(6, "ok"), (7, "off")])
def test_no_request_is_wider_than_a_share_of_the_nominal_limit(final: int, verdict: str) -> None:
    """15% of 40 seats is 6, and a quarter, for a hand of 4, is more."""
    check = capped(a_row(22.0, final=final))

    assert (check.verdict, check.observed, check.expected) == (verdict, final, (None, 6))


def test_one_that_came_before_the_nominal_limit_moved_may_be_wider() -> None:
    assert capped(a_row(22.0, final=9), before=70.0).verdict == "unknown"
    assert capped(a_row(22.0, final=9), a_row(22.0), before=70.0).verdict == "ok"
    assert capped(a_row(19.0, final=9)).verdict == "unknown"


@pytest.mark.parametrize(
    ("release", "verb", "gate", "width", "verdict"),
    [
        ("1.30.4", "list", None, 10, "ok"),
        ("1.30.4", "list", None, 11, "off"),
        ("1.37.2", "list", True, 100, "ok"),
        ("1.37.2", "list", True, 101, "off"),
        ("1.37.2", "list", None, 100, "ok"),
        ("1.37.2", "list", False, 11, "off"),
        ("1.37.2", "watch", True, 100, "ok"),
        ("1.37.2", "create", True, 10, "ok"),
        ("1.37.2", "create", True, 11, "off"),
    ],
)
def test_a_level_without_queues_has_the_caps_of_the_release(
    release: str, verb: str, gate: bool | None, width: int, verdict: str
) -> None:
    details = Details("someone", verb, "/api/v1/pods", "", "", "v1", "pods", "")
    row = replace(a_row(19.0, 19.1, queue=-1, initial=width, level=EXEMPT), details=details)
    check = capped(row, name=EXEMPT, release=release, size_based=gate)

    assert check.verdict == verdict


def test_without_object_release_or_rows_no_cap_is_known() -> None:
    assert "object" in capped(a_row(22.0), configs=None).missing
    assert "request" in capped().missing
    assert "release" in held(seat_cap, a_window(replace(at(20.0, a_row(19.0)), release=None))).missing
    assert held(seat_cap, a_window(a_point(later(a_level(), 20.0), None))).missing == "a dump of requests"


@pytest.mark.parametrize(("age_s", "verdict", "limit_s"), [(3.0, "ok", 15.0), (16.0, "ok", 15.0), (63.0, "off", 60.0)])
def test_nobody_waits_beyond_the_assumed_limit_or_the_cap_of_a_minute(
    age_s: float, verdict: str, limit_s: float
) -> None:
    row = a_row(99.98 - age_s)
    check = held(wait_limit, a_window(at(90.0), at(100.0, row, a_row(99.0))))

    assert check.verdict == verdict and check.observed == pytest.approx(age_s, abs=1e-6)
    assert check.expected == (None, limit_s) and check.tolerance == 2.0
    assert check.about.startswith("the oldest of 2 rows")


@pytest.mark.parametrize("age_s", [18.0, 61.0])
def test_a_wait_between_the_assumed_limit_and_the_cap_tells_nothing(age_s: float) -> None:
    check = held(wait_limit, a_window(at(90.0), at(100.0, a_row(99.98 - age_s))))

    assert check.verdict == "unknown"
    told = f"one has waited {age_s:.0f} s, over the 15 s that are assumed"
    assert check.missing == f"the server's --request-timeout: {told}"


def test_time_outs_say_what_the_limit_is() -> None:
    begin = later(a_level(), 90.0)
    end = later(begin, 10.0, waits=[40.0] * 20, rejected={"time-out": 20})
    check = held(wait_limit, a_window(a_point(begin), a_point(end, [a_row(74.0)])))

    assert check.verdict == "ok" and check.expected == (None, 30.0) and "time-outs" in check.about


def test_requests_with_a_short_timeout_do_not_make_others_wait_too_long() -> None:
    begin = later(a_level(), 90.0)
    end = later(begin, 10.0, waits=[4.0] * 20, rejected={"time-out": 20})
    check = held(wait_limit, a_window(a_point(begin), a_point(end, [a_row(88.0)])))

    assert check.verdict == "ok" and check.expected == (None, 15.0)


def test_before_1_28_5_nobody_is_sure_to_leave() -> None:
    check = held(wait_limit, a_window(at(100.0, a_row(10.0), release="1.28.4")))

    assert check.verdict == "unknown" and "1.28.5" in check.missing


def test_without_anybody_that_waits_nothing_is_compared() -> None:
    assert held(wait_limit, a_window(at(20.0))).missing == "a request that waits"
    assert held(wait_limit, a_window(a_point(later(a_level(), 20.0), None))).missing == "a dump of requests"
    assert wait_limit(a_window(at(20.0, config=a_config(queues=None)))) is None


@pytest.mark.parametrize("recording", recordings(), ids=lambda one: one.name)
def test_real_servers_keep_to_all_of_it(recording: Any) -> None:
    found = [
        check
        for track, points in windows(recording)
        for name in points[-1].live & points[-1].levels.keys()
        if (level := level_window(name, points, track.born))
        for law in (seats_within_limit, seat_cap, wait_limit)
        if (check := law(level))
    ]

    assert any(check.verdict == "ok" for check in found) and not [one for one in found if one.verdict == "off"]


@pytest.mark.parametrize("recording", [one for one in recordings() if one.level == LEVEL], ids=lambda one: one.name)
def test_half_of_the_real_limit_is_off_wherever_requests_wait(recording: Any) -> None:
    found = []
    for track, points in windows(recording):
        level = level_window(LEVEL, points, track.born)
        if level is None or not steady_limit(level) or not level.last.level.waiting or not level.last.waiting:
            continue
        halved = [
            replace(one, level=replace(one.level, current=float((one.level.current or 0) // 2)))
            for one in level.instants
        ]
        found.append(held(seats_within_limit, replace(level, instants=tuple(halved))))

    assert all(check.verdict == "off" for check in found)
