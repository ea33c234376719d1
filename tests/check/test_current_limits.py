"""Current limits against the demands of the same answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.allocation import limits
from apftop.apf.borrowing import Borrower, adjust
from apftop.apf.builtins import builtin_levels
from apftop.apf.objects import EXEMPT
from apftop.apf.release import parse_release
from apftop.check.current_limits import current_limits, fair_fraction
from apftop.check.point import Fetched, Point
from apftop.records.checks import Check
from apftop.records.parsed import LevelRow
from tests.check.build import a_level, a_point, later
from tests.check.recorded import windows
from tests.recording import recordings

SEATS = 600
BUSY = "workload-low"
NAMES = sorted(builtin_levels())
FIRST, SECOND = {BUSY: 100.0}, {BUSY: 300.0, "global-default": 20.0}


def server(
    at: float,
    demands: Mapping[str, float],
    *,
    told: Mapping[str, float] | None = None,
    release: str = "1.30.4",
    **more: Any,
) -> Point:
    """A server that has shared out its seats for these demands; `told` are other current limits than it has."""
    known = parse_release(release)
    assert known is not None
    given = limits(builtin_levels().values(), SEATS, known)
    borrowers = {
        name: Borrower(
            name == EXEMPT,
            its.nominal,
            its.lower,
            its.upper,
            its.nominal,
            demands.get(name, 0.0),
            demands.get(name, 0.0),
        )
        for name, its in given.items()
    }
    due = adjust(borrowers, known)
    current = {**due.current, **(told or {})}
    begun = later(a_level(), at)
    levels = {
        name: replace(
            begun,
            nominal=float(its.nominal),
            lower=float(its.lower),
            upper=float(its.upper),
            current=float(current[name]),
            demand_high=borrowers[name].high_watermark,
            demand_smoothed=borrowers[name].smoothed,
        )
        for name, its in given.items()
    }
    return replace(
        a_point(begun, release=release),
        levels=levels,
        dumped={name: LevelRow(name, 0, True, False, 0, 0, 0, 0, 0, 0) for name in NAMES},
        live=frozenset(NAMES),
        **{"fair": due.fair, **more},
    )


def changed(point: Point, name: str, **values: Any) -> Point:
    return replace(point, levels={**point.levels, name: replace(point.levels[name], **values)})


def verdicts(found: Mapping[str, tuple[Check, ...]]) -> set[str]:
    return {check.verdict for checks in found.values() for check in checks}


def missing(found: Mapping[str, tuple[Check, ...]]) -> str:
    (one,) = {check.missing for checks in found.values() for check in checks}
    return one


@pytest.mark.parametrize("release", ["1.27.12", "1.30.4", "1.37.2"])
def test_limits_follow_from_the_demands(release: str) -> None:
    found = current_limits((server(20.0, FIRST, release=release), server(30.0, SECOND, release=release)))

    assert verdicts(found) == {"ok"} and found[BUSY][0].observed == found[BUSY][0].expected[0]  # type: ignore[index]
    assert (EXEMPT in found) == (release != "1.27.12")


@pytest.mark.parametrize(("by", "verdict"), [(1, "ok"), (2, "off")])
def test_they_may_be_one_seat_apart(by: int, verdict: str) -> None:
    right = server(20.0, {}).levels[BUSY].current
    assert right is not None
    wrong = {BUSY: right + by}
    found = current_limits(tuple(server(at, {}, told=wrong) for at in (20.0, 25.0, 30.0, 35.0)))

    assert found[BUSY][0].verdict == verdict


def test_what_held_no_better_in_the_adjustment_before_is_off() -> None:
    wrong = {BUSY: 20.0}
    points = (
        server(20.0, FIRST, told=wrong),
        server(25.0, FIRST, told=wrong),
        server(30.0, SECOND, told=wrong),
        server(32.0, SECOND, told=wrong),
    )
    found = current_limits(points)

    assert found[BUSY][0].verdict == "off" and "adjustments" in found[BUSY][0].reason
    assert verdicts(current_limits(points[:3])) == {"ok", "unknown"}


def test_an_answer_that_an_adjustment_tore_is_unknown_until_the_next() -> None:
    """The demands are new, and the limits are still those before."""
    before, after = server(20.0, FIRST), server(33.0, SECOND)
    old = {name: float(level.current or 0) for name, level in before.levels.items()}
    torn = server(30.0, SECOND, told=old)

    found = current_limits((before, server(25.0, FIRST), torn))
    assert "off" not in verdicts(found) and "adjustment" in found[BUSY][0].missing
    assert verdicts(current_limits((before, torn, after))) == {"ok"}


def test_answers_that_are_torn_one_after_the_other_are_never_off() -> None:
    """Metrics that are read each 10 s, just when the limits are adjusted."""
    whole = [server(20.0 + 10.0 * number, {BUSY: 40.0 + 50.0 * number}) for number in range(5)]
    torn = [
        replace(
            after,
            levels={name: replace(level, current=before.levels[name].current) for name, level in after.levels.items()},
        )
        for before, after in pairwise(whole)
    ]

    for end in range(1, len(torn) + 1):
        assert "off" not in verdicts(current_limits(tuple(torn[:end])))


@given(
    demands=st.lists(st.floats(0.0, 400.0), min_size=2, max_size=4),
    looks=st.lists(st.tuples(st.floats(1.0, 11.0), st.tuples(*[st.floats(0.0, 0.3)] * 3)), min_size=1, max_size=6),
)
def test_a_server_is_never_off_whenever_its_gauges_are_read(
    demands: list[float], looks: list[tuple[float, tuple[float, float, float]]]
) -> None:
    """Each kind of gauge is read some time after the question, and may have been adjusted in between."""
    rounds = [server(20.0, {BUSY: demand}) for demand in demands]
    points, asked = [], 0.0
    for pause_s, delays in looks:
        asked += pause_s
        high, smoothed, current = (rounds[min(len(rounds) - 1, int((asked + delay) / 10))] for delay in delays)
        levels = {
            name: replace(
                level,
                demand_smoothed=smoothed.levels[name].demand_smoothed,
                current=current.levels[name].current,
            )
            for name, level in high.levels.items()
        }
        moment = (high.metrics.time or 0.0) + asked
        points.append(replace(high, levels=levels, metrics=Fetched(moment, moment, moment)))

    assert "off" not in verdicts(current_limits(tuple(points)))


def test_a_demand_that_is_no_number_freezes_old_releases() -> None:
    def frozen(release: str) -> Point:
        return changed(server(20.0, FIRST, release=release), BUSY, demand_smoothed=None)

    assert "frozen" in missing(current_limits((frozen("1.28.4"),)))
    assert "not told" in missing(current_limits((frozen("1.30.4"),)))


def test_levels_without_gauges_leave_all_unknown() -> None:
    whole = server(20.0, FIRST)
    fewer = {name: level for name, level in whole.levels.items() if name != "system"}

    assert "system has none" in missing(current_limits((replace(whole, levels=fewer),)))
    assert "release" in missing(current_limits((replace(whole, release=None),)))


def test_an_adjustment_that_cannot_succeed_is_unknown() -> None:
    found = current_limits((changed(server(20.0, FIRST), BUSY, lower=9000.0, upper=9000.0),))

    assert verdicts(found) == {"unknown"} and "succeeds" in missing(found)


def test_levels_of_the_past_take_no_part() -> None:
    whole = server(20.0, FIRST)
    past = replace(whole, levels={**whole.levels, "gone": later(a_level(), 20.0)})

    assert verdicts(current_limits((past,))) == {"ok"} and "gone" not in current_limits((past,))


def test_without_a_dump_a_level_that_drains_may_have_part_of_the_seats() -> None:
    wrong = {BUSY: 20.0}
    points = [replace(server(at, {}, told=wrong), dumped=None) for at in (20.0, 25.0, 30.0, 35.0)]

    assert "dump" in current_limits(tuple(points))[BUSY][0].missing


@pytest.mark.parametrize("recording", recordings(), ids=lambda one: one.name)
def test_real_servers_share_out_by_the_rule(recording: Any) -> None:
    found = [
        check for _, points in windows(recording) for checks in current_limits(points).values() for check in checks
    ]

    assert found and {check.verdict for check in found} == {"ok"}
    assert all(check.observed == pytest.approx(check.expected[0]) for check in found if check.expected)


def fair(*points: Point) -> Check:
    found = fair_fraction(points)
    assert found is not None
    return found


def test_the_fair_fraction_of_all_live_levels_is_that_of_the_server() -> None:
    one = server(20.0, FIRST)

    assert fair(one).verdict == "ok"
    assert fair_fraction((replace(one, fair=None),)) is None


def test_another_fair_fraction_is_off_once_two_answers_tell_it() -> None:
    right = server(40.0, SECOND).fair
    assert right
    one = server(20.0, FIRST, fair=1.0)

    def told(fraction: float, *at: float) -> list[Point]:
        return [server(one, SECOND, fair=fraction) for one in at]

    assert fair(one, *told(1.01 * right, 40.0)).verdict == "unknown"
    assert fair(one, *told(1.01 * right, 40.0, 52.0)).verdict == "off"
    assert fair(one, *told(0.9995 * right, 40.0, 52.0)).verdict == "ok"
