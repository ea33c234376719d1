"""Seats that follow from configuration alone, on the default configuration of 600 seats."""

from __future__ import annotations

import pytest

from apftop.apf.allocation import reachable_maximum, seat_cap
from apftop.apf.objects import Meta, PriorityLevelConfiguration, Queuing
from apftop.apf.release import Release

NOMINAL = {"system": 74, "node-high": 98, "leader-election": 25, "workload-high": 98, "workload-low": 245}
NOMINAL |= {"global-default": 49, "catch-all": 13, "exempt": 0}
LOWER = {"system": 50, "node-high": 73, "leader-election": 25, "workload-high": 49, "workload-low": 24}
LOWER |= {"global-default": 24, "catch-all": 13, "exempt": 0}
UPPER = {name: seats + 600 for name, seats in NOMINAL.items()}


def level(name: str, hand_size: int | None) -> PriorityLevelConfiguration:
    queuing = Queuing(128, hand_size, 50) if hand_size else None
    return PriorityLevelConfiguration(Meta(name), exempt=False, shares=30, queuing=queuing)


def test_the_reachable_maximum_is_what_the_others_must_leave() -> None:
    found = reachable_maximum(UPPER, LOWER, sum(NOMINAL.values()))

    assert (found["workload-low"], found["system"], found["catch-all"], found["exempt"]) == (368, 394, 357, 344)


def test_a_borrowing_limit_caps_the_reachable_maximum() -> None:
    found = reachable_maximum({**UPPER, "workload-low": 300}, LOWER, sum(NOMINAL.values()))

    assert found["workload-low"] == 300


@pytest.mark.parametrize(
    ("nominal", "hand_size", "release", "cap"),
    [
        (49, 6, Release(1, 30, 4), 8),
        (49, 6, Release(1, 26, 7), 10),
        (74, 6, Release(1, 30, 4), 10),
        (74, 6, Release(1, 34, 0), 12),
        (5, 4, Release(1, 37, 2), 1),
        (None, 6, Release(1, 30, 4), None),
        (13, None, Release(1, 30, 4), 10),
        (13, None, Release(1, 37, 2), 100),
    ],
)
def test_the_seat_cap_of_a_request(
    nominal: int | None, hand_size: int | None, release: Release, cap: int | None
) -> None:
    assert seat_cap(level("a", hand_size), nominal, release) == cap


def test_the_seat_cap_follows_the_gate_of_byte_sized_lists() -> None:
    assert seat_cap(level("a", None), 13, Release(1, 37, 2), lists_by_size=False) == 10


def test_the_seat_cap_is_unknown_without_release_or_object() -> None:
    assert seat_cap(level("a", 6), 49, None) is None
    assert seat_cap(None, 49, Release(1, 30, 4)) is None
