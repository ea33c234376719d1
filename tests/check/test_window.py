"""How long a window is, and which points are kept for it."""

from __future__ import annotations

import pytest

from apftop.check.point import Point, Track
from apftop.check.window import first_needed, window
from tests.check.build import a_level, a_point, later


def points(*seconds: float) -> tuple[Point, ...]:
    return tuple(a_point(later(a_level(), 20.0 + at)) for at in seconds)


@pytest.mark.parametrize(
    ("seconds", "number"),
    [
        ((0.0,), 1),
        ((0.0, 5.0), 2),
        ((0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0), 6),
        # Two answers alone cannot tell which of them was torn.
        ((0.0, 10.0, 20.0), 3),
        ((0.0, 30.0, 60.0, 90.0), 3),
    ],
)
def test_a_window_has_ten_seconds_and_three_answers(seconds: tuple[float, ...], number: int) -> None:
    all_of_them = points(*seconds)

    assert window(Track(all_of_them)) == all_of_them[-number:]
    assert first_needed(all_of_them) == len(all_of_them) - number
