"""Numbers that do not agree with each other, and what a server says that this release does not know."""

from __future__ import annotations

from dataclasses import replace

import pytest

from apftop.findings.scene import Scene
from apftop.findings.servers import doubt
from apftop.records.checks import Check, LevelChecks, ReplicaChecks
from apftop.records.findings import Finding
from tests.findings.cluster import a_cluster, quiet


def found(scene: Scene, code: str) -> list[Finding]:
    return [one for find in doubt.FINDERS for one in find(scene) if one.code == code]


def off(law: str, reason: str = "") -> Check:
    return Check(law, "off", 1240.0, (800.0, 900.0), 12.5, "requests", 30.0, reason=reason)


def doubting(*checks: Check, level: str = "workload-low") -> Scene:
    """A quiet cluster in which numbers of one level of kas-b are off."""
    of_levels = {level: LevelChecks(checks)} if level else {}
    return replace(a_cluster(*quiet()), checks={"kas-b": ReplicaChecks(() if level else checks, of_levels)})


def test_a_quiet_cluster_has_nothing_to_tell() -> None:
    scene = a_cluster(*quiet())

    assert [one.title for find in doubt.FINDERS for one in find(scene)] == []


@pytest.mark.fires("numbers-in-doubt")
def test_laws_that_are_off_are_one_finding() -> None:
    (one,) = found(doubting(off("arrivals", "some were lost"), off("nominal")), "numbers-in-doubt")

    assert (one.severity, one.replicas) == ("info", ("kas-b",))
    assert one.facts["laws"] == ["arrivals", "nominal"]
    assert one.evidence[0] == (
        "kas-b workload-low: arrivals are accounted for: 1240 requests over 30s, expected 800 to 900,"
        " give or take 12.5; some were lost"
    )
    assert [line for line in one.evidence if line.startswith("not to be trusted: work_estimated_seats")]


def test_numbers_of_several_servers_are_a_warning_and_come_first() -> None:
    (one,) = found(doubting(off("arrivals"), off("same-server")), "numbers-in-doubt")

    assert one.severity == "warning"
    assert one.facts["laws"] == ["same-server", "arrivals"]
    assert one.title.startswith("numbers of several servers or times are mixed on kas-b: metrics and dump")
    assert "load balancer" in one.advice[0]


@pytest.mark.spares("numbers-in-doubt")
def test_a_laptop_whose_clock_drifts_puts_no_number_in_doubt() -> None:
    clock = Check("clock", "off", 0.05, (0.0, 0.002), 0.02, "s", reason="the server's clock is 0.05 s ahead")

    assert found(doubting(clock, level=""), "numbers-in-doubt") == []


def test_checks_of_servers_that_are_not_kube_apiservers_are_left_out() -> None:
    scene = doubting(off("arrivals"))
    known = {name: replace(one, kind="extension") for name, one in scene.frame.replicas.items()}

    assert found(replace(scene, frame=replace(scene.frame, replicas=known)), "numbers-in-doubt") == []


@pytest.mark.fires("newer-than-known")
def test_what_is_newer_than_this_release_is_told() -> None:
    scene = a_cluster(*quiet("kas-a"))
    newer = replace(
        scene.frame.replicas["kas-a"],
        version="v1.99.0",
        unknown_families=("apiserver_flowcontrol_new_total",),
        unknown_columns=("dump_queues: Colour",),
    )
    (one,) = found(replace(scene, frame=replace(scene.frame, replicas={"kas-a": newer})), "newer-than-known")

    assert one.severity == "info"
    assert one.facts["unknown"] == {
        "kas-a": ["release 1.99.0", "family apiserver_flowcontrol_new_total", "column dump_queues: Colour"]
    }


@pytest.mark.spares("newer-than-known")
@pytest.mark.parametrize("version", ["v1.25.14", "v1.30.4", "v1.37.2"])
def test_releases_that_are_known_or_older_are_not_newer(version: str) -> None:
    scene = a_cluster(*quiet("kas-a"))
    known = replace(scene.frame.replicas["kas-a"], version=version)

    assert found(replace(scene, frame=replace(scene.frame, replicas={"kas-a": known})), "newer-than-known") == []
