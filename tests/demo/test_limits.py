"""Seats of the levels: from shares alone, and from demand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apftop.apf.objects import EXEMPT, Meta, PriorityLevelConfiguration
from apftop.demo.builtin import levels
from apftop.demo.limits import Allotment, Demand, DemandMeter, allot, bounds, first_limit

ONLY_EXEMPT = frozenset({EXEMPT})
IDLE = Demand()


def of_default(**smoothed: float) -> Allotment:
    limits = bounds(levels(), 600)
    demands = {
        name: Demand(seats, 0.0, round(seats), seats)
        for name in limits
        if (seats := smoothed.get(name.replace("-", "_"), 0.0)) is not None
    }
    return allot(limits, demands, ONLY_EXEMPT, {name: first_limit(one) for name, one in limits.items()})


def test_shares_give_the_limits_of_the_default_configuration() -> None:
    limits = bounds(levels(), 600)

    assert {name: (one.nominal, one.lower) for name, one in limits.items()} == {
        "exempt": (0, 0),
        "catch-all": (13, 13),
        "system": (74, 50),
        "node-high": (98, 73),
        "leader-election": (25, 25),
        "workload-high": (98, 49),
        "workload-low": (245, 24),
        "global-default": (49, 24),
    }
    assert {one.upper - one.nominal for one in limits.values()} == {600}


def test_an_idle_server_hands_out_all_seats_by_the_lower_limits() -> None:
    given_out = of_default()

    assert given_out.current == {
        "exempt": 0,
        "system": 117,
        "node-high": 170,
        "leader-election": 58,
        "workload-high": 114,
        "workload-low": 56,
        "global-default": 56,
        "catch-all": 30,
    }
    assert given_out.fair_frac == pytest.approx(2.3333, abs=1e-4)


def test_a_busy_level_borrows_what_the_idle_ones_lend() -> None:
    given_out = of_default(workload_low=400.0)

    assert given_out.current["workload-low"] == 368
    assert given_out.fair_frac == pytest.approx(0.92)
    assert given_out.current["system"] == 50


def test_what_exempt_uses_is_taken_from_the_others_only_when_seats_run_short() -> None:
    assert of_default(exempt=100.0).current["system"] == of_default().current["system"]
    assert of_default(exempt=400.0).current["workload-low"] == 24


def test_a_problem_without_a_solution_leaves_the_limits_as_they_are() -> None:
    configs = [
        PriorityLevelConfiguration(Meta(EXEMPT), exempt=True, shares=10, lendable_percent=100),
        PriorityLevelConfiguration(Meta("tight"), exempt=False, shares=10, borrowing_limit_percent=0),
    ]

    given_out = allot(bounds(configs, 100), {EXEMPT: IDLE, "tight": IDLE}, ONLY_EXEMPT, {EXEMPT: 0, "tight": 7})

    assert (given_out.current["tight"], given_out.fair_frac) == (7, 0.0)


@given(st.lists(st.floats(0, 2000), min_size=7, max_size=7))
def test_every_level_stays_within_its_bounds_and_nothing_is_left_over(smoothed: list[float]) -> None:
    limits = bounds(levels(), 600)
    others = [name for name in limits if name != EXEMPT]
    demands = {EXEMPT: IDLE} | {
        name: Demand(seats, 0.0, round(seats), seats) for name, seats in zip(others, smoothed, strict=True)
    }

    given_out = allot(limits, demands, ONLY_EXEMPT, {name: one.nominal for name, one in limits.items()})

    assert all(limits[name].lower <= given_out.current[name] <= limits[name].upper for name in others)
    assert sum(given_out.current[name] for name in others) == pytest.approx(602, abs=len(others) / 2)


def test_demand_rises_at_once_and_falls_slowly() -> None:
    meter, second = DemandMeter(0), 1_000_000_000
    meter.set(10, 0)
    meter.set(0, 5 * second)
    busy = meter.read(10 * second)
    quiet = meter.read(20 * second)

    assert (busy.average, busy.stdev, busy.high) == (5.0, 5.0, 10)
    assert (quiet.average, quiet.high) == (0.0, 0)
    assert quiet.smoothed == pytest.approx(0.977 * busy.smoothed)
