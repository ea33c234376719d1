"""Limits, demand and borrowing rounds against the upstream library, in both versions of the rules."""

from __future__ import annotations

import math
from typing import Any

import pytest

from apftop.apf.allocation import seat_cap
from apftop.apf.borrowing import Adjustment
from apftop.apf.fair_allocation import AllocationError, Share, fair_allocation
from apftop.apf.levels import Levels
from tests.apf.limit_rows import Row, limit_row, same_row
from tests.apf.objects_of import levels_of
from tests.apf.releases import release_of
from tests.apf.vectors import close, each_version, vectors


def test_allocations_are_those_of_the_library() -> None:
    solved = [vector for vector in vectors("allocraw") if "error" not in vector]

    assert solved
    for one in solved:
        found, fair = fair_allocation(one["sum"], [Share(*item) for item in one["items"]])
        assert close(fair, one["fair"]), one
        assert all(close(*pair) for pair in zip(found, one["allocs"], strict=True)), one


def test_the_library_refuses_the_same_problems() -> None:
    refused = [vector for vector in vectors("allocraw") if "error" in vector]

    assert refused
    for one in refused:
        with pytest.raises(AllocationError):
            fair_allocation(one["sum"], [Share(*item) for item in one["items"]])


def check(levels: Levels, adjustment: Adjustment, fair: float, wanted: dict[str, Row]) -> None:
    assert levels.by_name.keys() == wanted.keys()
    for name in wanted:
        found = limit_row(levels.by_name[name], adjustment, name)
        assert same_row(found, wanted[name]), (name, found, wanted[name])
    assert close(adjustment.fair, fair)


@each_version
@pytest.mark.parametrize("vector", vectors("alloc"), ids=lambda one: one["scenario"]["name"])
def test_limits_follow_demand_as_in_the_library(vector: dict[str, Any], version: str) -> None:
    scenario, rows = vector["scenario"], iter(vector["expected"][version])
    events = [(one["t_ns"], 0, one) for one in scenario["digests"]]
    events += [(one["t_ns"], 1, one) for one in scenario["samples"]]
    events += [(t, 2, None) for t in scenario["ticks"]]
    events.sort(key=lambda event: event[:2])
    levels = Levels(scenario["server_cl"], release_of(version))
    adjustment = levels.adjust(0)
    first = next(rows)
    check(levels, adjustment, first["fair"], first["pl"])

    for t, kind, event in events:
        if kind == 1:
            levels.by_name[event["pl"]].demand.set(t, int(event["seats"]))
            continue
        if kind == 0:
            adjustment = levels.digest(t, levels_of(event["priority_levels"]), lambda _: True)
        else:
            adjustment = levels.adjust(t)
        wanted = next(rows)
        assert wanted["t"] == t
        check(levels, adjustment, wanted["fair"], wanted["pl"])
    assert next(rows, None) is None


@each_version
@pytest.mark.parametrize("vector", vectors("classify"), ids=lambda one: one["scenario"]["name"])
def test_limits_of_a_configuration_without_demand(vector: dict[str, Any], version: str) -> None:
    scenario, release = vector["scenario"], release_of(version)
    levels = Levels(scenario["server_cl"], release)
    levels.digest(0, levels_of(scenario["priority_levels"]), lambda _: True)
    wanted = vector["expected"]["limits"][version]

    assert levels.by_name.keys() == wanted.keys()
    for name, level in levels.by_name.items():
        its = level.limits
        found = {"nominal": its.nominal, "min": its.lower, "max": its.upper, "current": level.current}
        assert found == {key: wanted[name][key] for key in found}, name
        if "max_seats" in wanted[name]:
            cap = seat_cap(level.config, its.nominal, release)
            assert cap == min(wanted[name]["max_seats"], 100 if release.minor >= 34 else 10)


@pytest.mark.parametrize("share", [Share(1, 2, 20), Share(5, 2, 1), Share(5, -1, 20), Share(-1, 0, 20)])
def test_bounds_that_contradict_each_other_are_refused(share: Share) -> None:
    with pytest.raises(AllocationError):
        fair_allocation(10, [Share(1, 0, 50), share])


def test_rounds_without_a_number_leave_everything_as_it_was() -> None:
    with pytest.raises(AllocationError):
        fair_allocation(10, [Share(math.nan, 0, 20)])
