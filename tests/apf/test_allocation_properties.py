"""Sharing out seats, and the borrowing round on top of it, against what bisection finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.borrowing import Borrower, adjust
from apftop.apf.fair_allocation import LEAST_TARGET, AllocationError, Share, fair_allocation
from apftop.apf.release import Release

RELEASES = [Release(1, 27, 16), Release(1, 30, 4), Release(1, 37, 2)]


@st.composite
def shares(draw: st.DrawFn) -> list[Share]:
    found = []
    for _ in range(draw(st.integers(1, 8))):
        lower = draw(st.integers(0, 20))
        target = lower + draw(st.sampled_from((0.0, 0.0005)) | st.integers(0, 40) | st.floats(0, 40))
        found.append(Share(target, lower, lower + draw(st.integers(0, 60))))
    return found


def bisected(total: int, given_: list[Share]) -> list[float]:
    """What each gets at the proportion at which all get the total, found by halving."""
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        got = [min(max(middle * max(one.target, LEAST_TARGET), one.lower), one.upper) for one in given_]
        low, high = (middle, high) if sum(got) < total else (low, middle)
    return got


@given(shares(), st.integers(-1, 300))
def test_each_gets_its_proportion_within_its_bounds(given_: list[Share], total: int) -> None:
    reachable = sum(one.lower for one in given_) <= total <= sum(one.upper for one in given_)
    try:
        found, fair = fair_allocation(total, given_)
    except AllocationError:
        assert not reachable
        return
    assert reachable
    assert sum(found) == pytest.approx(total)
    assert found == pytest.approx(bisected(total, given_), abs=1e-6)
    inside = [(got, one) for got, one in zip(found, given_, strict=True) if one.lower + 1e-6 < got < one.upper - 1e-6]
    assert [got for got, _ in inside] == pytest.approx([fair * max(one.target, LEAST_TARGET) for _, one in inside])


@st.composite
def rounds(draw: st.DrawFn) -> dict[str, Borrower]:
    found = {}
    for name in ("exempt", *"abcdef"[: draw(st.integers(1, 6))]):
        nominal = draw(st.integers(0, 30))
        high = draw(st.integers(0, 60))
        found[name] = Borrower(
            exempt=name == "exempt",
            nominal=nominal,
            lower=draw(st.integers(0, nominal)),
            upper=nominal + draw(st.sampled_from((0, 10, 150))),
            current=draw(st.integers(0, 60)),
            high_watermark=high,
            smoothed=draw(st.floats(0, 60)),
        )
    return found


@given(rounds(), st.sampled_from(RELEASES))
def test_a_round_keeps_every_level_within_its_limits_and_shares_out_all_there_is(
    levels: dict[str, Borrower], release: Release
) -> None:
    found = adjust(levels, release)

    limited = {name: level for name, level in levels.items() if not level.exempt}
    sharing = levels if Release(1, 28) <= release < Release(1, 31) else limited
    counted = limited if release < Release(1, 28) else levels
    total = sum(level.nominal for level in counted.values())
    assert found.current.keys() == counted.keys()
    if found.failure is not None:
        assert sum(level.upper for level in sharing.values()) < total
        assert all(found.current[name] == level.current for name, level in sharing.items())
        return
    assert all(level.lower <= found.current[name] <= level.upper for name, level in limited.items())
    if found.fair:
        assert abs(sum(found.current[name] for name in sharing) - total) <= len(sharing) / 2
        assert all(found.current[name] >= level.floor for name, level in sharing.items())
    elif sharing is limited and "exempt" in found.current:
        # Seats are short, since the exempt level has used so many of them.
        left = total - found.current["exempt"]
        floors = sum(level.floor for level in limited.values())
        assert left <= floors
        lowest = sum(level.lower for level in limited.values())
        assert abs(sum(found.current[name] for name in limited) - max(left, lowest)) <= len(limited) / 2
