"""Findings on real servers, watched as the screen does it: each cause is named, and nothing else is called a fault."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack

import pytest

from apftop.records.findings import Finding
from apftop.records.moment import Moment
from tests.planes import load
from tests.planes.client import Client
from tests.planes.flow import apply_flow, flow_schema, priority_level, remove_flow
from tests.planes.found_runs import (
    FILLED,
    OBJECTS,
    STEADY,
    exempt_flood,
    fill,
    in_the_shadow,
    inversion,
    no_seats,
    one_elephant,
    shadowed,
    steady,
    wide_lists,
)
from tests.planes.objects import create_namespace, delete_namespace, wait_on_replicas
from tests.planes.observe import metric
from tests.planes.plane import Plane
from tests.planes.reading_webhook import reading_webhook
from tests.planes.scenario import Scenario, happen, prepared
from tests.planes.users import HOOK_NAMESPACE
from tests.planes.watched import watching, ways
from tests.planes.webhook import exponential, fixed, webhook_in_force

SECONDS = 20.0
COUNTED_S = 180.0
"""A server counts what is stored each one to two minutes; until then a list costs one seat."""
BEHIND_S = 220.0
"""What lies behind a server is asked for more rarely where its answers take long, as on a machine with much to do."""
CALM_S = float(os.environ.get("APFTOP_CALM_S", "20"))
"""So long a quiet control plane is watched."""


EDITS = ("edited-before-onset",)
"""True in each of these situations: their objects were made a moment before."""


STORED = ("apiserver_storage_objects", "apiserver_resource_objects")
"""How many objects of a resource there are, up to 1.36 and since 1.34."""


def every(moments: Sequence[Moment]) -> dict[str, Finding]:
    """The latest finding of each code."""
    return {one.code: one for moment in moments for one in moment.findings.found}


def above_info(moments: Sequence[Moment]) -> dict[str, Finding]:
    """The latest finding of each code that was above info at some moment."""
    return {one.code: one for moment in moments for one in moment.findings.found if one.severity != "info"}


def told(found: dict[str, Finding]) -> list[str]:
    """What a test says of findings that it did not expect."""
    return [f"{one.severity} {one.code}: {one.title} | {'; '.join(one.evidence)}" for one in found.values()]


def other_than(found: dict[str, Finding], *codes: str) -> list[str]:
    """Findings above info that the situation does not account for."""
    return told({code: one for code, one in found.items() if code not in (*codes, *EDITS)})


def watched(plane: Plane, scenario: Scenario, seconds: float = SECONDS) -> list[Moment]:
    """All moments while the loads of a scenario ran."""
    with watching(ways(plane)) as (_, seen):
        happen(plane, scenario, seconds)
        return list(seen.taken)


def _waiting(moment: Moment, replica: str) -> float:
    level = moment.frame.replicas[replica].levels.get("load") if replica in moment.frame.replicas else None
    return level.waiting or 0.0 if level is not None else 0.0


def texts(finding: Finding) -> str:
    """All that it says, in one text."""
    return "\n".join((finding.title, *finding.evidence, *finding.advice))


def test_a_quiet_control_plane_has_no_finding_above_info(plane: Plane) -> None:
    with watching(ways(plane)) as (_, seen):
        time.sleep(CALM_S)
    moments = list(seen.taken)

    assert told(above_info(moments)) == []
    assert moments[-1].findings.verdict == "quiet"


def test_levels_without_seats_are_named_by_what_becomes_of_their_requests(plane: Plane) -> None:
    scenario = no_seats(plane)
    with prepared(plane, scenario):
        moments = watched(plane, scenario)
    found = above_info(moments)

    assert found["zero-seats-queue"].level == "load"
    assert found["zero-seats-reject"].level == "reject"
    assert other_than(found, "zero-seats-queue", "zero-seats-reject", "queue-time-outs", "short-deadlines") == []
    assert moments[-1].findings.verdict == "apf"


def test_an_elephant_is_named_with_its_replica(plane: Plane) -> None:
    scenario = one_elephant(plane)
    with prepared(plane, scenario):
        moments = watched(plane, scenario)
    found = above_info(moments)

    full = found["level-saturated"]
    busy = max(
        moments[-1].frame.replicas.values(), key=lambda one: max(_waiting(moment, one.name) for moment in moments)
    ).name
    assert (full.level, full.replicas) == ("load", (busy,))
    assert "elephant" in texts(full)
    assert other_than(found, "level-saturated", "borrowing-limit", "hot-replica") == []
    assert moments[-1].findings.verdict == "apf"


def test_wide_lists_are_named_with_who_asks_for_them(plane: Plane) -> None:
    scenario = wide_lists(plane)
    # As measured, 1.30 prices each list as one seat, however much is stored.
    priced = not plane.version.startswith("1.30.")
    with ExitStack() as during:
        during.callback(delete_namespace, plane, FILLED)
        fill(plane)
        if priced:
            wait_on_replicas(plane, "what is stored is counted", _counted, COUNTED_S)
        during.enter_context(prepared(plane, scenario))
        moments = watched(plane, scenario)
    found = above_info(moments)

    code = "wide-requests" if priced else "level-saturated"
    assert ("wide-requests" in found) is priced
    assert found[code].level == "load"
    # At its end there may be nobody left to name.
    said = [texts(one) for moment in moments for one in moment.findings.found if one.code == code]
    assert any("lister" in text and "list configmaps" in text for text in said)
    of_load = ("level-saturated", "borrowing-limit", "hot-replica", "head-of-line", "slow-execution")
    assert other_than(found, "wide-requests", *of_load) == []


def _counted(_: int, client: Client) -> bool:
    return any(metric(client, name, resource="configmaps") >= OBJECTS for name in STORED)


def test_a_schema_in_the_shadow_of_another_is_found(plane: Plane) -> None:
    scenario = shadowed(plane)
    with prepared(plane, scenario), in_the_shadow(plane):
        moments = watched(plane, scenario)
    found = above_info(moments)

    shadow = every(moments)["shadowed-schema"]
    assert shadow.schema == "meant"
    assert shadow.change is not None
    assert "matchingPrecedence" in shadow.change.command
    assert other_than(found, "shadowed-schema") == []


def test_a_flood_of_exempt_requests_is_found(plane: Plane) -> None:
    scenario = exempt_flood(plane)
    with prepared(plane, scenario):
        moments = watched(plane, scenario)
    found = above_info(moments)

    assert "admin" in texts(found["exempt-dominates"])
    assert other_than(found, "exempt-dominates", "hot-replica") == []


def test_an_inversion_through_a_webhook_that_reads_back_is_found(plane: Plane) -> None:
    scenario = inversion(plane)
    with ExitStack() as during:
        create_namespace(plane, "guarded")
        during.callback(delete_namespace, plane, "guarded")
        during.enter_context(prepared(plane, scenario))
        during.enter_context(reading_webhook(plane, "guarded"))
        moments = watched(plane, scenario)
    found = above_info(moments)

    inverted = found["priority-inversion"]
    assert inverted.facts["webhook_namespace"] == HOOK_NAMESPACE
    assert inverted.facts["suspicion"] == "priority-inversion"
    # What the other clients of that level do to it is true as well.
    of_low = ("level-saturated", "borrowing-limit", "queue-time-outs", "short-deadlines", "waits-near-limit")
    assert other_than(found, "priority-inversion", "slow-execution", "hot-replica", *of_low) == []
    assert {found[code].level for code in of_low if code in found} <= {"low"}


def test_gauges_of_a_level_that_was_deleted_are_no_load(plane: Plane) -> None:
    level, schema = priority_level("gone", shares=5), flow_schema("gone", "gone", users=["batch"])
    apply_flow(plane, level, schema, "batch")
    load.run(plane, load.ClosedLoop("batch", load.get("/version"), concurrency=3, count=60))
    remove_flow(plane, level, schema)
    with watching(ways(plane)) as (_, seen):
        moment = seen.until(lambda one: "stale-gauges" in every([one]))
        time.sleep(10)

    stale = [one for one in moment.findings.found if one.code == "stale-gauges"]
    assert [one.severity for one in stale] == ["info"] * len(stale)
    assert "gone" in "\n".join(map(texts, stale))
    assert told(above_info(seen.taken)) == []


@pytest.mark.timeout(600)
def test_a_backend_that_became_slow_is_named(plane: Plane) -> None:
    scenario = steady(plane, 12.0)
    with ExitStack() as during:
        create_namespace(plane, STEADY)
        during.callback(delete_namespace, plane, STEADY)
        during.enter_context(prepared(plane, scenario))
        hook = during.enter_context(webhook_in_force(plane, STEADY, exponential(0.03, 17)))
        _, seen = during.enter_context(watching(ways(plane)))
        with load.running(plane, *scenario.loads):
            time.sleep(40)
            calm = list(seen.taken)
            hook.sleep = fixed(1.5)
            slow = seen.until(_names_the_webhook, BEHIND_S)
            hook.sleep = fixed(0.0)

    assert other_than(above_info(calm)) == []
    assert slow.findings.verdict == "backend-slow"


def _names_the_webhook(moment: Moment) -> bool:
    return (
        any(
            f"sleep-{STEADY}.apftop.test" in texts(one)
            for one in moment.findings.found
            if one.code in ("slow-execution", "level-saturated") and one.severity != "info"
        )
        and moment.findings.verdict == "backend-slow"
    )
