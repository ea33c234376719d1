"""The scenario in which all is calm: nothing is found in it that anybody need look at."""

from __future__ import annotations

from functools import cache

import pytest

from apftop.causes import Causes, causes
from apftop.check.checks import checked
from apftop.check.track import Tracks, followed
from apftop.demo.plane import ControlPlane
from apftop.demo.scenario import load
from apftop.derive.frame import frame
from apftop.live import observe
from apftop.records.findings import Findings
from apftop.records.state import State
from tests.demo.planes import EPOCH_NS, live
from tests.demo.test_checks import look

MINUTES = 4

# One worker lives through the minutes, once for all.
pytestmark = pytest.mark.xdist_group("calm")


@cache
def calm() -> tuple[Findings, ...]:
    """What is found each five seconds of some minutes, as live polling sees the scenario."""
    plane = ControlPlane(load("calm"), 0, EPOCH_NS)
    state, found = State(), Causes()
    all_found = []
    known: Tracks = {}
    for second in range(2, MINUTES * 60, 5):
        for number, server in enumerate(plane.servers):
            live(server, float(second))
            for sample in look(plane, server, number):
                state = observe(state, sample)
                known = followed(known, state)
        checks = {name: checked(track) for name, track in known.items()}
        found = causes(found, frame(state), checks, EPOCH_NS / 1e9 + second)
        all_found.append(found.found)
    return tuple(all_found)


def test_some_minutes_of_calm_have_no_finding_above_info() -> None:
    worse = {f"{one.severity}: {one.title}" for found in calm() for one in found.found if one.severity != "info"}

    assert not worse


def test_in_calm_nothing_waits_and_the_verdict_says_so() -> None:
    verdicts = [found.verdict for found in calm()]

    assert verdicts[-1] == "quiet"
    assert set(verdicts) <= {"quiet", "unknown"}


def test_no_alert_holds_in_calm() -> None:
    assert not {one.name for found in calm() for one in found.alerts if one.condition}
