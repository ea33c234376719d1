"""The server's clock against this machine's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.check.clocks import clock
from apftop.check.point import Fetched, Point
from apftop.records.frame import Clock
from tests.check.build import START, a_level, a_point, later


def dump(ahead_s: float, trip_s: float = 0.01, at: float = 20.0) -> Point:
    """A dump taken in the middle of its trip, by a server whose clock is so much ahead."""
    taken = START + at - 0.02
    asked = taken - ahead_s - trip_s / 2
    fetched = Fetched(asked, asked + trip_s, asked + trip_s + 0.3)
    return replace(a_point(later(a_level(), at)), requests_fetched=fetched)


@pytest.mark.parametrize(
    ("ahead_s", "verdict"), [(0.0, "ok"), (0.024, "ok"), (0.026, "off"), (2.0, "off"), (-0.024, "ok"), (-0.5, "off")]
)
def test_it_may_be_off_by_the_trip_and_a_little(ahead_s: float, verdict: str) -> None:
    check = clock((dump(ahead_s),))

    assert check is not None and check.verdict == verdict
    assert check.observed == pytest.approx(ahead_s + 0.005, abs=1e-5)
    assert check.expected == pytest.approx((0.0, 0.01), abs=1e-5)
    assert check.about == "to within the 10 ms that the answer took"


def test_it_says_by_how_much_and_which_way() -> None:
    ahead, behind = clock((dump(2.0),)), clock((dump(-2.0),))

    assert ahead is not None and ahead.reason.endswith("at least 2 s ahead of this machine's")
    assert behind is not None and behind.reason.endswith("at least 1.99 s behind this machine's")


def test_the_worst_dump_is_shown_and_a_slow_one_hides_little() -> None:
    check = clock((dump(0.5, at=20.0), dump(0.5, trip_s=1.2, at=25.0)))

    assert check is not None and check.verdict == "off" and "10 ms" in check.about


def test_a_slow_answer_alone_cannot_tell() -> None:
    check = clock((dump(0.5, trip_s=1.2),))

    assert check is not None and check.verdict == "ok" and "1200 ms" in check.about


def test_what_is_missing_is_said() -> None:
    known, at = dump(0.0), START + 20.0
    cases = {
        "a dump of requests": a_point(later(a_level(), 20.0), None),
        "the row of the dump's own request": replace(known, clock=Clock(START, "the answer's Date header", 1.0, 0.0)),
        "when the dump of requests was asked for": replace(known, requests_fetched=Fetched(at, at, at)),
    }
    for missing, point in cases.items():
        check = clock((point,))
        assert check is not None and (check.verdict, check.missing) == ("unknown", missing)
