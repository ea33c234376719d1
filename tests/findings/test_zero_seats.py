"""Levels with zero nominal seats."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from apftop.findings.scene import Scene
from apftop.findings.seats.zero_seats import FINDERS
from apftop.records.findings import Finding
from apftop.records.raw import Endpoint, Sample
from tests.findings.cluster import SECONDS, T0, Did, Of, Row, a_cluster, a_level, a_schema, busier, quiet

JAIL = a_level("jail", 0, borrowing=0)
GATE = a_level("gate", 0, queues=None, borrowing=0)
LOAN = a_level("best-effort", 0)
LATER = T0 + SECONDS + 1
PATCH = "kubectl patch prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/{} --type=merge -p '{}'"


def found(scene: Scene) -> list[Finding]:
    return [one for find in FINDERS for one in find(scene)]


def in_jail(of: Of, *rows: Row) -> Scene:
    return a_cluster(
        busier(quiet("kas-a")[0], "jail", of, *rows), levels=[JAIL], schemas=[a_schema("tenant", "jail", 1000)]
    )


def shares(name: str, number: int) -> str:
    spec = {"spec": {"limited": {"nominalConcurrencyShares": number}}}
    return PATCH.format(name, json.dumps(spec))


@pytest.mark.fires("zero-seats-queue")
def test_a_queue_without_seats_to_which_anything_comes_is_critical() -> None:
    scene = in_jail(
        Of((Did("tenant", timed_out=24, waiting=12, was_waiting=12),)),
        *(Row("jail", "tenant", "system:serviceaccount:tenant:app", index=at) for at in range(12)),
    )

    (one,) = found(scene)

    assert (one.code, one.severity, one.subject, one.level) == ("zero-seats-queue", "critical", "jail", "jail")
    assert "can never dispatch: 0 seats and it may not borrow; 12 wait, 0.80/s lost" in one.title
    assert one.change is not None
    assert one.change.command == shares("jail", 5)
    assert one.change.rollback == shares("jail", 0)
    assert one.facts["rejected_per_s"] == pytest.approx(0.8)
    assert one.facts["waiting"] == 12
    assert (one.facts["nominal_after"], one.facts["upper_after"]) == (12, 12)
    assert (one.facts["hit_level"], one.facts["hit_before"], one.facts["hit_after"]) == ("workload-low", 245, 240)
    assert any("jail goes from nominal 0, lower 0, upper 0 to nominal 12" in line for line in one.evidence)
    assert any("15s" in line and "429" in line for line in one.evidence)
    assert any("schemas that lead here: tenant" in line for line in one.evidence)
    assert any("kubectl get pods -n tenant" in line for line in one.evidence)


@pytest.mark.parametrize(("release", "told"), [("v1.28.9", False), ("v1.29.4", True), ("v1.30.0", False)])
def test_only_1_29_may_refuse_the_rollback_to_no_shares(release: str, told: bool) -> None:
    server = busier(quiet("kas-a", release=release)[0], "jail", Of((Did("tenant", timed_out=24, waiting=12),)))
    (one,) = found(a_cluster(server, levels=[JAIL], schemas=[a_schema("tenant", "jail", 1000)]))

    assert one.change is not None
    assert one.change.text.endswith("; a server of 1.29 may refuse the rollback to 0 shares") is told
    assert not any("1.29" in line for line in one.advice)


@pytest.mark.spares("zero-seats-queue")
def test_a_queue_without_seats_that_may_borrow_is_none_that_blocks() -> None:
    scene = a_cluster(
        busier(quiet("kas-a")[0], "best-effort", Of((Did("tenant", 90, seats=3, executing=3),))),
        levels=[LOAN],
        schemas=[a_schema("tenant", "best-effort", 1000)],
    )

    assert {one.code for one in found(scene)} == {"no-guaranteed-seats"}


def test_a_queue_without_seats_to_which_nothing_comes_is_told_of_quietly() -> None:
    (one,) = found(in_jail(Of((Did("tenant", usually=(0.0, 1.0, 0.05)),))))

    assert (one.code, one.severity) == ("zero-seats-queue", "info")


def test_a_single_request_that_waits_without_seats_does_not_wake_anybody() -> None:
    (one,) = found(in_jail(Of((Did("tenant", waiting=1, usually=(0.0, 1.0, 0.05)),))))

    assert (one.code, one.severity) == ("zero-seats-queue", "info")


def test_a_queue_without_seats_on_several_servers_is_one_finding_with_the_worst_first() -> None:
    of = Of((Did("tenant", timed_out=24, waiting=3, usually=(0.0, 1.0, 0.05)),))
    worse = Of((Did("tenant", timed_out=90, waiting=40, usually=(0.0, 1.0, 0.05)),))
    first, second, _ = quiet()
    scene = a_cluster(
        busier(first, "jail", of),
        busier(second, "jail", worse),
        levels=[JAIL],
        schemas=[a_schema("tenant", "jail", 1000)],
    )

    (one,) = found(scene)

    assert one.replicas == ("kas-b", "kas-a")
    assert one.evidence[0].startswith("kas-b: ")
    assert one.title.startswith("jail on 2 servers")


def test_queues_without_seats_are_known_by_those_that_wait_where_objects_cannot_be_read() -> None:
    server = busier(quiet("kas-a")[0], "jail", Of((Did("tenant", timed_out=24, waiting=12),)))
    scene = a_cluster(
        replace(server, statuses={Endpoint.CONFIGS: 403, Endpoint.SCHEMAS: 403}),
        levels=[JAIL],
        schemas=[a_schema("tenant", "jail", 1000)],
    )

    (one,) = found(scene)

    assert (one.code, one.severity) == ("zero-seats-queue", "critical")
    assert one.change is None
    assert "its object was not read" in one.advice[0]


@pytest.mark.fires("zero-seats-reject")
def test_a_level_without_seats_that_rejects_is_said_to_serve_all_the_same() -> None:
    scene = a_cluster(
        busier(quiet("kas-a")[0], "gate", Of((Did("tenant", 450, concurrency_limit=30, usually=(0.0, 1.0, 0.05)),))),
        levels=[GATE],
        schemas=[a_schema("tenant", "gate", 1000)],
    )

    (one,) = found(scene)

    assert (one.code, one.severity, one.subject) == ("zero-seats-reject", "warning", "gate")
    assert one.title.endswith("serves one request at a time: 15.0/s served, 1.00/s refused")
    assert one.change is not None
    assert (one.change.command, one.change.rollback) == (shares("gate", 5), shares("gate", 0))
    assert any("is no lock" in line for line in one.advice)


@pytest.mark.spares("zero-seats-reject")
def test_a_level_with_one_seat_that_rejects_is_as_it_should_be() -> None:
    scene = a_cluster(
        busier(quiet("kas-a")[0], "gate", Of((Did("tenant", 450, concurrency_limit=30, usually=(0.0, 1.0, 0.05)),))),
        levels=[replace(GATE, shares=1)],
        schemas=[a_schema("tenant", "gate", 1000)],
    )

    assert found(scene) == []


@pytest.mark.fires("no-guaranteed-seats")
def test_a_level_that_lives_on_loans_is_worth_knowing_while_it_has_them() -> None:
    scene = a_cluster(
        busier(quiet("kas-a")[0], "best-effort", Of((Did("tenant", 90, seats=3, executing=3),), current=10)),
        levels=[LOAN],
        schemas=[a_schema("tenant", "best-effort", 1000)],
    )

    (one,) = found(scene)

    assert (one.code, one.severity) == ("no-guaranteed-seats", "info")
    assert "no guaranteed seats: 3 of 10 borrowed seats in use (30.0%)" in one.title
    assert one.change is None


def test_a_level_that_lives_on_loans_and_has_to_wait_is_a_warning_with_a_change() -> None:
    scene = a_cluster(
        busier(quiet("kas-a")[0], "best-effort", Of((Did("tenant", 0, timed_out=40, waiting=30),), current=0)),
        levels=[LOAN],
        schemas=[a_schema("tenant", "best-effort", 1000)],
    )

    (one,) = found(scene)

    assert (one.code, one.severity) == ("no-guaranteed-seats", "warning")
    assert one.change is not None
    assert one.change.command == shares("best-effort", 5)
    assert one.facts["nominal_after"] == 12


@pytest.mark.spares("no-guaranteed-seats")
def test_a_level_with_a_share_has_seats_and_the_exempt_one_needs_none() -> None:
    scene = a_cluster(
        busier(quiet("kas-a")[0], "best-effort", Of((Did("tenant", 0, timed_out=40, waiting=30),), current=0)),
        levels=[replace(LOAN, shares=1)],
        schemas=[a_schema("tenant", "best-effort", 1000)],
    )

    assert found(scene) == []


def beta(preserved: bool) -> Sample:
    """The object of the jail as a server up to 1.28 gives it out."""
    metadata: dict[str, object] = {"name": "jail"}
    if preserved:
        metadata["annotations"] = {"flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares": ""}
    response = {"type": "Queue", "queuing": {"queues": 16, "handSize": 4, "queueLengthLimit": 10}}
    limited = {"nominalConcurrencyShares": 0, "borrowingLimitPercent": 0, "limitResponse": response}
    item = {
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1beta3",
        "kind": "PriorityLevelConfiguration",
        "metadata": metadata,
        "spec": {"type": "Limited", "limited": limited},
    }
    body = json.dumps({"apiVersion": "v1", "kind": "List", "items": [item]}).encode()
    return Sample("kas-a", Endpoint.CONFIGS, body, 200, sent=LATER, received=LATER)


def test_zero_shares_of_a_beta_object_are_thirty_and_no_finding() -> None:
    server = busier(replace(quiet("kas-a")[0], release="v1.28.4"), "jail", Of((Did("tenant", 90),)))

    assert found(a_cluster(server, levels=[replace(JAIL, shares=30)], more=[beta(False)])) == []


def test_zero_shares_that_a_beta_object_keeps_are_told_with_its_version() -> None:
    server = busier(quiet("kas-a")[0], "jail", Of((Did("tenant", timed_out=24, waiting=12),)))

    (one,) = found(a_cluster(server, levels=[JAIL], more=[beta(True)]))

    assert (one.code, one.severity) == ("zero-seats-queue", "critical")
    assert any("v1beta3" in line and "read as 30" in line for line in one.evidence)


def test_servers_that_read_the_zero_as_a_default_are_named_beside_those_that_do_not() -> None:
    new, old, _ = quiet()
    of = Of((Did("tenant", timed_out=24, waiting=12),))
    scene = a_cluster(
        busier(new, "jail", of),
        busier(replace(old, release="v1.28.4"), "jail", Of((Did("tenant", 90),), nominal=66, upper=66, current=66)),
        levels=[JAIL],
        schemas=[a_schema("tenant", "jail", 1000)],
    )

    (one,) = found(scene)

    assert one.replicas == ("kas-a",)
    assert any("kas-b (v1.28.4) has 66" in line for line in one.evidence)


def test_a_quiet_cluster_has_no_level_without_seats() -> None:
    assert found(a_cluster(*quiet())) == []


def test_names_of_levels_reach_a_terminal_escaped() -> None:
    scene = a_cluster(
        busier(
            quiet("kas-a")[0],
            "jail",
            Of((Did("tenant", timed_out=24, waiting=12),)),
            Row("jail", "tenant", "a\x1b[31m"),
        ),
        levels=[JAIL],
        schemas=[a_schema("tenant", "jail", 1000)],
    )

    (one,) = found(scene)

    assert not any("\x1b" in line for line in (one.title, *one.evidence, *one.advice))
