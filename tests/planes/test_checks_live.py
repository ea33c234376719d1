"""Checks on real servers, watched as the screen does it: healthy ones keep all laws, whatever the load."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from apftop.records.checks import Check
from apftop.records.moment import Moment
from apftop.report.checks import told as told_of
from tests.planes.plane import Plane
from tests.planes.recorded_runs import RUNS
from tests.planes.scenario import Scenario, happen, prepared
from tests.planes.watched import watching, ways

SECONDS = 30.0
TELLING = {"arrivals", "served-waits", "waiting-time", "executing-time", "seat-time", "current-limit", "same-server"}
"""Laws that surely had something to say on a level under load."""

BUSY: dict[str, Scenario] = {
    kind: next(run for run in RUNS if run.name.startswith(f"{kind}-a-")) for kind in ("contention", "wide", "schemas")
}


def named(moment: Moment) -> dict[str, Check]:
    """All checks of a moment by where they were made and their law; of several of one law the last."""
    found: dict[str, Check] = {}
    for replica, checks in moment.checks.items():
        found |= {f"{replica} {check.law}": check for check in checks.checks}
        for level, its in checks.levels.items():
            found |= {f"{replica} {level} {check.law}": check for check in its.checks}
    return found


@pytest.mark.parametrize("kind", BUSY)
def test_no_law_is_off_on_healthy_servers_under_load(plane: Plane, kind: str) -> None:
    scenario = replace(BUSY[kind], version=plane.version)
    off: dict[str, Check] = {}
    told: Counter[str] = Counter()
    with prepared(plane, scenario), watching(ways(plane)) as (_, seen):
        happen(plane, scenario, SECONDS)
        moments = list(seen.taken)
    for moment in moments:
        checks = named(moment)
        off |= {where: check for where, check in checks.items() if check.verdict == "off"}
        told.update(where.rpartition(" ")[2] for where, check in checks.items() if check.verdict == "ok")

    assert [f"{where}: {told_of(check)}" for where, check in off.items()] == []
    assert told.keys() >= TELLING
    assert any(
        level.observed_wait_s and level.little_s
        for moment in moments
        for replica in moment.checks.values()
        for level in replica.levels.values()
    )
    assert not any("check" in line for moment in moments for line in moment.news)
