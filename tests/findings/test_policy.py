"""Schemas that take what others are for, that are ignored, and levels that nobody uses."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import Any

import pytest

from apftop.apf.builtins import builtin_schemas
from apftop.apf.objects import NonResourceRule, ResourceRule, Subject
from apftop.apf.release import Release
from apftop.findings.policies.policy import FINDERS
from apftop.findings.scene import Scene
from apftop.records.findings import Change, Finding
from tests.findings.cluster import (
    EVERYTHING,
    Did,
    Of,
    Row,
    Server,
    a_cluster,
    a_level,
    a_schema,
    busier,
    quiet,
)

ROBOT = "system:serviceaccount:ci:robot"
ROBOTS = Subject("ServiceAccount", "*", "ci")
EVERYBODY = Subject("Group", "system:authenticated")
URLS = (NonResourceRule(("*",), ("*",)),)
PATCH = "kubectl patch flowschemas.flowcontrol.apiserver.k8s.io/"


def found(scene: Scene, code: str = "") -> list[Finding]:
    return [one for find in FINDERS for one in find(scene) if code in ("", one.code)]


def patched(command: str) -> Any:
    return json.loads(shlex.split(command)[-1])


def patches(change: Change | None) -> tuple[Any, Any]:
    """What the command sets and what the rollback sets back."""
    assert change is not None
    return patched(change.command)["spec"], patched(change.rollback)["spec"]


def robots(precedence: int = 9500) -> Any:
    return a_schema("ci-robots", "ci", precedence, ROBOTS, others=URLS)


def waiting(count: int = 40, user: str = ROBOT, **more: Any) -> tuple[Row, ...]:
    return tuple(
        Row("workload-low", "service-accounts", user, "list", age_s=3 + n / 10, index=n, **more) for n in range(count)
    )


BUSY = Of((Did("service-accounts", 600, queue_full=300, executing=39, waiting=40),), full=1.0, waited=1.0)


def test_a_quiet_cluster_with_the_objects_of_servers_has_nothing_to_tell() -> None:
    assert found(a_cluster(*quiet())) == []
    assert found(a_cluster(*quiet(release="v1.37.2"))) == []


@pytest.mark.fires("shadowed-schema")
def test_a_schema_behind_one_that_matches_all_its_requests_is_never_reached() -> None:
    servers = [busier(one, "workload-low", BUSY, *waiting()) for one in quiet("kas-a")]

    (one,) = found(a_cluster(*servers, levels=[a_level("ci")], schemas=[robots()]))

    assert (one.code, one.severity, one.subject) == ("shadowed-schema", "warning", "ci-robots")
    assert one.title == "flow schema ci-robots is never reached: service-accounts takes all its requests"
    assert "now 40 requests that ci-robots matches too are in service-accounts (workload-low)" in one.evidence[1]
    assert one.facts["by"] == ["service-accounts"]
    assert one.facts["requests_elsewhere"] == 40
    assert patches(one.change) == ({"matchingPrecedence": 8999}, {"matchingPrecedence": 9500})
    assert one.change is not None and one.change.command.startswith(PATCH + "ci-robots ")


@pytest.mark.fires("shadowed-schema")
def test_a_shadowed_schema_nobody_is_hurt_by_is_no_more_than_worth_knowing() -> None:
    (one,) = found(a_cluster(*quiet(), levels=[a_level("ci")], schemas=[robots()]))

    assert (one.code, one.severity) == ("shadowed-schema", "info")
    assert "arrivals on kas-a over 30s: ci-robots 0/s, service-accounts 20.0/s" in one.evidence


@pytest.mark.fires("shadowed-schema")
def test_a_few_schemas_shadow_one_together() -> None:
    reads = a_schema("reads", "ci", 700, ROBOTS, rules=(replace(EVERYTHING, verbs=("get", "list", "watch")),))
    writes = a_schema("writes", "ci", 710, ROBOTS, rules=(replace(EVERYTHING, verbs=("create", "update")),))
    both = ResourceRule(("get", "update"), ("",), ("pods",), ("*",))
    late = a_schema("late", "workload-high", 800, ROBOTS, rules=(both,))

    (one,) = found(a_cluster(*quiet(), levels=[a_level("ci")], schemas=[reads, writes, late]))

    assert one.subject == "late"
    assert one.facts["by"] == ["reads", "writes"]
    assert patches(one.change)[0] == {"matchingPrecedence": 699}


def test_of_two_schemas_for_the_same_requests_none_is_moved() -> None:
    twin = a_schema("robots-too", "workload-high", 1500, ROBOTS, others=URLS)

    (one,) = found(a_cluster(*quiet(), levels=[a_level("ci")], schemas=[robots(1000), twin]))

    assert (one.code, one.subject, one.change) == ("shadowed-schema", "robots-too", None)
    assert "ci-robots and robots-too match the same requests" in one.advice[0]


@pytest.mark.spares("shadowed-schema", "partly-shadowed")
def test_a_schema_that_one_kind_of_request_still_reaches_is_not_shadowed() -> None:
    # service-accounts is tried first, but only for what is in namespaces.
    narrowed = a_schema(
        "service-accounts",
        "workload-low",
        9000,
        Subject("Group", "system:serviceaccounts"),
        rules=(replace(EVERYTHING, cluster_scope=False),),
        others=URLS,
    )

    assert found(a_cluster(*quiet(), levels=[a_level("ci")], schemas=[robots(), narrowed])) == []
    assert found(a_cluster(*quiet(), levels=[a_level("ci")], schemas=[robots(8000)])) == []


@pytest.mark.fires("partly-shadowed")
def test_some_whom_a_schema_names_do_not_reach_it() -> None:
    agent = Subject("ServiceAccount", "agent", "kube-system")
    both = a_schema("agents", "ci", 1000, agent, ROBOTS)
    user = "system:serviceaccount:kube-system:agent"
    rows = [Row("workload-high", "kube-system-service-accounts", user, executing_s=1.0) for _ in range(3)]
    servers = [busier(one, "workload-high", Of(), *rows) for one in quiet("kas-a")]

    (one,) = found(a_cluster(*servers, levels=[a_level("ci")], schemas=[both]))
    (calm,) = found(a_cluster(*quiet(), levels=[a_level("ci")], schemas=[both]))

    assert (one.code, one.severity, calm.severity) == ("partly-shadowed", "warning", "info")
    assert one.title == (
        "flow schema agents is not reached by ServiceAccount kube-system/agent: "
        "kube-system-service-accounts takes the requests"
    )
    assert patches(one.change) == ({"matchingPrecedence": 899}, {"matchingPrecedence": 1000})


@pytest.mark.spares("partly-shadowed")
def test_a_schema_before_it_that_names_the_very_same_subject_does_so_on_purpose() -> None:
    agent = Subject("ServiceAccount", "agent", "tools")
    wide = a_schema("tools", "ci", 1000, agent, ROBOTS)
    first = a_schema("agent", "workload-high", 950, agent)

    assert found(a_cluster(*quiet(), levels=[a_level("ci")], schemas=[wide, first])) == []


@pytest.mark.fires("captures-builtin")
def test_a_wide_schema_tried_early_takes_what_nodes_are_for() -> None:
    everybody = a_schema("everybody", "ci", 90, EVERYBODY, others=URLS)
    full = Of((Did("everybody", 300, queue_full=200, executing=30, waiting=60),), full=1.0, waited=1.0)
    lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1"
    rows = [
        Row("ci", "everybody", f"system:node:n{n}", "update", "leases", age_s=2 + n / 10, path=lease) for n in range(30)
    ]
    servers = [busier(one, "ci", full, *rows) for one in quiet("kas-a")]

    (one,) = found(a_cluster(*servers, levels=[a_level("ci")], schemas=[everybody]))

    assert (one.code, one.severity, one.subject, one.level) == ("captures-builtin", "critical", "everybody", "ci")
    assert "system-node-high" in one.title and "which is in need" in one.title
    assert one.facts["requests_seen"] == 30
    assert one.facts["captured"] == [
        *("system-leader-election", "endpoint-controller", "workload-leader-election", "system-node-high"),
        *("system-nodes", "kube-controller-manager", "kube-scheduler", "kube-system-service-accounts"),
        "service-accounts",
    ]
    assert patches(one.change) == ({"matchingPrecedence": 9001}, {"matchingPrecedence": 90})


@pytest.mark.fires("captures-builtin")
def test_requests_of_nodes_that_are_seen_in_a_schema_for_all_reads_are_told_of() -> None:
    reads = a_schema("reads", "ci", 300, EVERYBODY, rules=(replace(EVERYTHING, verbs=("get", "list", "watch")),))
    rows = [Row("ci", "reads", f"system:node:n{n}", "get", "secrets", executing_s=1.0) for n in range(3)]
    servers = [busier(one, "ci", Of((Did("reads", 300, executing=3),)), *rows) for one in quiet("kas-a")]

    (one,) = found(a_cluster(*servers, levels=[a_level("ci")], schemas=[reads]))

    assert (one.code, one.severity) == ("captures-builtin", "warning")
    assert (one.facts["captured"], one.facts["whole"]) == (["system-nodes"], [])
    assert patches(one.change)[0] == {"matchingPrecedence": 501}


@pytest.mark.fires("captures-builtin")
def test_what_takes_from_no_protected_level_and_hurts_nobody_is_worth_knowing() -> None:
    everybody = a_schema("everybody", "ci", 1000, EVERYBODY, others=URLS)

    (one,) = found(a_cluster(*quiet(), levels=[a_level("ci")], schemas=[everybody]))

    assert (one.code, one.severity, one.facts["captured"]) == ("captures-builtin", "info", ["service-accounts"])


@pytest.mark.spares("captures-builtin")
def test_what_takes_requests_into_the_level_that_they_are_meant_for_takes_no_seats_from_them() -> None:
    everybody = a_schema("everybody", "workload-low", 8000, EVERYBODY, others=URLS)

    assert found(a_cluster(*quiet(), schemas=[everybody]), "captures-builtin") == []


@pytest.mark.spares("captures-builtin")
def test_a_schema_that_names_the_clients_of_a_built_in_one_replaces_it_on_purpose() -> None:
    nodes, events = Subject("Group", "system:nodes"), ResourceRule(("create",), ("",), ("events",), ("*",))
    own = [
        a_schema("node-events", "ci", 450, nodes, rules=(events,)),
        a_schema("scheduler", "ci", 700, Subject("User", "system:kube-scheduler"), others=URLS),
        a_schema("everybody-else", "ci", 9800, EVERYBODY, others=URLS),
    ]
    rows = [Row("ci", "node-events", f"system:node:n{n}", "create", "events", executing_s=1.0) for n in range(9)]
    servers = [busier(one, "ci", Of((Did("node-events", 90, executing=9),)), *rows) for one in quiet("kas-a")]

    assert found(a_cluster(*servers, levels=[a_level("ci")], schemas=own)) == []


@pytest.mark.fires("dangling-schema")
def test_a_schema_whose_level_has_a_slip_in_its_name_is_pointed_to_the_right_one() -> None:
    (one,) = found(
        a_cluster(
            *quiet(),
            levels=[a_level("cluster-high")],
            schemas=[replace(robots(1000), priority_level="cluster-high/")],
        ),
        "dangling-schema",
    )

    assert (one.severity, one.subject, one.facts["near"]) == ("warning", "ci-robots", "cluster-high")
    assert one.title == (
        "flow schema ci-robots is ignored: its level cluster-high/ does not exist; "
        "its requests go to service-accounts in workload-low"
    )
    assert patches(one.change) == (
        {"priorityLevelConfiguration": {"name": "cluster-high"}},
        {"priorityLevelConfiguration": {"name": "cluster-high/"}},
    )


@pytest.mark.fires("dangling-schema")
def test_a_schema_whose_level_was_deleted_has_no_patch() -> None:
    (one,) = found(a_cluster(*quiet(), schemas=[robots(1000)]))

    assert (one.code, one.change, one.facts["near"]) == ("dangling-schema", None, None)
    assert "make level ci again" in one.advice[0]


@pytest.mark.fires("dangling-schema")
def test_a_mandatory_level_without_an_object_comes_back_by_itself() -> None:
    (one,) = found(a_cluster(*quiet(), without=["exempt"]), "dangling-schema")

    assert (one.subject, one.change) == ("probes", None)
    assert "wait a minute" in one.advice[0]


@pytest.mark.spares("dangling-schema")
def test_a_schema_made_a_moment_ago_may_wait_for_its_level() -> None:
    just_now = {"ci-robots": {"creationTimestamp": "2026-04-12T10:03:00Z"}}

    assert found(a_cluster(*quiet(), schemas=[robots(1000)], metas=just_now)) == []
    assert found(a_cluster(*quiet(), levels=[a_level("ci")], schemas=[robots(1000)])) == []


@pytest.mark.spares("dangling-schema")
def test_an_object_is_new_by_the_clock_of_the_servers() -> None:
    just_now = {"ci-robots": {"creationTimestamp": "2026-04-12T10:03:00Z"}}
    scene = a_cluster(*quiet(), schemas=[robots(1000)], metas=just_now)
    # This machine is 100 s behind or ahead of all of them.
    for ahead_s, told in ((100.0, 0), (-100.0, 1)):
        clocks = {
            name: replace(one, clock=replace(one.clock, skew_s=ahead_s)) for name, one in scene.frame.replicas.items()
        }
        off = replace(scene, frame=replace(scene.frame, replicas=clocks))
        assert len(found(off, "dangling-schema")) == told


@pytest.mark.fires("unreferenced-level")
def test_a_level_without_a_schema_holds_seats_that_nobody_uses() -> None:
    (one,) = found(a_cluster(*quiet(), levels=[a_level("ci", 20)]))

    assert (one.code, one.severity, one.subject) == ("unreferenced-level", "info", "ci")
    assert one.title == "level ci holds 46 seats of each server, and no flow schema refers to it"
    assert one.change is not None
    level = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/ci"
    copy = "ci.prioritylevelconfigurations.json"
    assert one.change.command == f"kubectl get {level} -o json > {copy} && kubectl delete {level}"
    assert one.change.rollback == f"kubectl create -f {copy}"


@pytest.mark.fires("unreferenced-level")
def test_a_built_in_level_is_not_deleted_since_servers_make_it_again() -> None:
    moved = replace(builtin_schemas(Release(1, 30))["global-default"], priority_level="workload-low")

    (one,) = found(a_cluster(*quiet(), schemas=[moved]), "unreferenced-level")

    assert (one.subject, one.advice[0]) == (
        "global-default",
        "let it lend all its seats: lendablePercent of global-default 50 -> 100; it is built in, and servers make it "
        "again when it is deleted",
    )
    assert one.change is not None
    assert one.change.command.endswith("""--type=merge -p '{"spec": {"limited": {"lendablePercent": 100}}}'""")
    assert """-p '{"spec": {"limited": {"lendablePercent": 50}}}'""" in one.change.rollback


@pytest.mark.fires("unreferenced-level")
def test_a_level_that_a_slip_was_meant_for_is_not_deleted() -> None:
    slip = replace(robots(1000), priority_level="ci-level/")

    (one,) = found(a_cluster(*quiet(), levels=[a_level("ci-level")], schemas=[slip]), "unreferenced-level")

    assert (one.change, one.facts["meant_by"]) == (None, ["ci-robots"])


@pytest.mark.spares("unreferenced-level")
def test_a_level_that_holds_nothing_or_that_still_runs_something_or_is_new_is_spared() -> None:
    leaving = [busier(one, "ci", Of((Did("gone", 30, executing=2),))) for one in quiet("kas-a")]
    just_now = {"ci": {"creationTimestamp": "2026-04-12T10:02:30Z"}}

    assert found(a_cluster(*quiet(), levels=[a_level("ci", 0)])) == []
    assert found(a_cluster(*leaving, levels=[a_level("ci")])) == []
    assert found(a_cluster(*quiet(), levels=[a_level("ci")], metas=just_now)) == []


GUARD = "aks-managed-apiserver-guard"


def guarded(*servers: Server) -> list[Finding]:
    return found(
        a_cluster(
            *servers,
            levels=[a_level(GUARD, 5, borrowing=0)],
            schemas=[a_schema(GUARD, GUARD, 8000, EVERYBODY, others=URLS)],
        )
    )


@pytest.mark.fires("provider-guard")
def test_the_guard_of_a_provider_is_named_as_what_throttles_and_left_alone() -> None:
    full = Of((Did(GUARD, 300, queue_full=900, executing=12, waiting=40),), full=1.0, waited=1.0)

    (one,) = guarded(*(busier(server, GUARD, full) for server in quiet("kas-a")))
    (calm,) = guarded(*quiet())

    assert (one.code, one.severity, calm.severity) == ("provider-guard", "warning", "info")
    assert one.title.startswith("Azure Kubernetes Service (AKS) has put its guard")
    assert "it is what throttles clients" in one.title
    assert one.change is None
    assert "do not edit it" in one.advice[0]
    assert one.facts["takes_from"] == ["service-accounts"]
    assert "30.0/s refused" in " ".join(one.evidence)


@pytest.mark.spares("provider-guard")
def test_a_schema_of_ones_own_with_a_name_like_a_guard_is_none() -> None:
    mine = a_schema("my-apiserver-guard", "ci", 1000, ROBOTS)

    assert found(a_cluster(*quiet(), levels=[a_level("ci")], schemas=[mine])) == []


@pytest.mark.spares("shadowed-schema", "captures-builtin")
def test_what_a_guard_takes_is_told_by_the_guard_alone() -> None:
    levels = [a_level(GUARD, 5), a_level("ci")]
    schemas = [a_schema(GUARD, GUARD, 8000, EVERYBODY, others=URLS), robots(8500)]

    assert {one.code for one in found(a_cluster(*quiet(), levels=levels, schemas=schemas))} == {"provider-guard"}


def test_an_edited_built_in_schema_is_taken_out_of_the_servers_care_first() -> None:
    moved = replace(builtin_schemas(Release(1, 30))["service-accounts"], precedence=9950)
    kept = {"service-accounts": {"annotations": {"apf.kubernetes.io/autoupdate-spec": "true"}}}

    (one,) = found(a_cluster(*quiet(), schemas=[moved], metas=kept))

    assert (one.code, one.subject, one.facts["by"]) == ("shadowed-schema", "service-accounts", ["global-default"])
    assert one.change is not None
    assert one.change.command.startswith("kubectl annotate flowschemas.flowcontrol.apiserver.k8s.io/service-accounts")
    assert patched(one.change.command) == {"spec": {"matchingPrecedence": 9899}}


def test_names_that_a_terminal_could_act_on_are_made_plain() -> None:
    evil = a_schema("ci\x1b[31m", "ci", 9950, Subject("ServiceAccount", "\x1bx", "ci"))

    (one,) = found(a_cluster(*quiet(), levels=[a_level("ci")], schemas=[evil]))

    assert "\x1b" not in "".join((one.title, one.subject, *one.evidence, *one.advice))


def test_without_readable_objects_nothing_is_found() -> None:
    assert found(a_cluster(*quiet(), without=[*builtin_schemas(Release(1, 30))])) == []
