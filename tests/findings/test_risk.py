"""What keeps a cluster alive: node leases, leader election, probes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from apftop.apf.builtins import builtin_schemas
from apftop.apf.objects import FlowSchema, ResourceRule, Subject
from apftop.apf.release import Release
from apftop.findings.risks.risk import LEADS, at_risk, leader_election_outside, node_leases, probes_refused
from apftop.findings.scene import Scene
from apftop.records.findings import Finding
from apftop.records.raw import Endpoint
from tests.findings.cluster import Did, Of, Row, Server, a_cluster, a_schema, busier, made, quiet
from tests.findings.from_bundle import CASES, scene_of

LEASES = "/apis/coordination.k8s.io/v1/namespaces/{}/leases/x"
COORDINATION = "coordination.k8s.io/v1"


def one(found: Any) -> Finding:
    (finding,) = found
    assert isinstance(finding, Finding)
    return finding


def refusing(schema: str, refused: int = 300, **more: Any) -> Of:
    """A level in which requests of one schema are refused."""
    return Of((Did(schema, 600, queue_full=refused, executing=20, **more),), full=1.0)


def a_server(level: str, of: Of, *rows: Row, **more: Any) -> Server:
    return busier(quiet("kas-a", **more)[0], level, of, *rows)


def all_clear(scene: Scene) -> bool:
    return not [*node_leases(scene), *leader_election_outside(scene), *probes_refused(scene)]


def patch(command: str) -> Mapping[str, Any]:
    text: Mapping[str, Any] = json.loads(command.split("-p '")[1].split("'")[0])["spec"]
    return text


def objects(command: str) -> list[Any]:
    return made(command)


@pytest.mark.spares("node-leases")
@pytest.mark.spares("leader-election-outside")
@pytest.mark.spares("probes-refused")
def test_nothing_is_at_risk_in_a_quiet_cluster() -> None:
    scene = a_cluster(*quiet())

    assert at_risk(scene, ()) == {"node_leases": "ok", "leader_election": "ok", "probes": "ok"}
    assert all_clear(scene)


def test_without_rates_nothing_is_known_but_that_probes_are_exempt() -> None:
    scene = a_cluster(*quiet("kas-a", metrics=False, dumps=False))

    assert at_risk(scene, ()) == {"node_leases": "unknown", "leader_election": "unknown", "probes": "ok"}


def test_a_server_of_which_nothing_is_known_leaves_the_risk_unknown() -> None:
    scene = a_cluster(*quiet("kas-a"), *quiet("kas-b", metrics=False, dumps=False))

    assert at_risk(scene, ())["node_leases"] == "unknown"


def test_a_server_that_may_not_be_read_leaves_the_risk_unknown() -> None:
    denied = dict.fromkeys((Endpoint.METRICS, Endpoint.LEVELS, Endpoint.REQUESTS), 403)
    scene = a_cluster(*quiet("kas-a"), *quiet("kas-b", statuses=denied))

    assert at_risk(scene, ()) == {"node_leases": "unknown", "leader_election": "unknown", "probes": "ok"}


def test_requests_that_wait_nobody_knows_how_long_leave_the_risk_unknown() -> None:
    of = Of((Did("system-node-high", 600, executing=20, waiting=5),))
    denied = {Endpoint.METRICS: 403}

    assert at_risk(a_cluster(a_server("node-high", of, statuses=denied)), ())["node_leases"] == "unknown"
    assert at_risk(a_cluster(*quiet("kas-a", statuses=denied)), ())["node_leases"] == "ok"


def test_servers_that_are_alive_and_not_seen_leave_the_risk_unknown() -> None:
    scene = a_cluster(*quiet("kas-a"))
    hidden = replace(scene, frame=replace(scene.frame, servers_alive=3))

    assert at_risk(hidden, ()) == {"node_leases": "unknown", "leader_election": "unknown", "probes": "ok"}


def test_where_the_objects_are_denied_the_built_in_schemas_in_the_metrics_tell() -> None:
    denied = {Endpoint.SCHEMAS: 403, Endpoint.CONFIGS: 403}

    assert at_risk(a_cluster(*quiet("kas-a", statuses=denied)), ())["node_leases"] == "ok"
    hurt = a_cluster(a_server("node-high", refusing("system-node-high"), statuses=denied))
    assert at_risk(hurt, ())["node_leases"] == "at-risk"


@pytest.mark.fires("node-leases")
def test_refused_node_leases_lead_the_list() -> None:
    scene = a_cluster(a_server("node-high", refusing("system-node-high")))
    found = one(node_leases(scene))

    assert at_risk(scene, ()) == {"node_leases": "at-risk", "leader_election": "ok", "probes": "ok"}
    assert (found.severity, found.subject, found.schema, found.replicas) == (
        "critical",
        "node-high",
        "system-node-high",
        ("kas-a",),
    )
    assert "kas-a: schema system-node-high: 10.0/s refused over 30s (33.3% of its requests)" in found.evidence
    assert found.weight > LEADS
    assert found.change is None


@pytest.mark.fires("node-leases")
def test_node_leases_that_wait_near_their_limit_are_at_risk() -> None:
    of = Of((Did("system-node-high", 600, waits={1.5: 12}, executing=20, waiting=5),), full=1.0)
    scene = a_cluster(a_server("node-high", of))

    assert "kas-a: schema system-node-high: 2% of served requests waited over 1s within 30s" in one(
        node_leases(scene)
    ).evidence[1].replace("2.0%", "2%")


@pytest.mark.spares("node-leases")
@pytest.mark.parametrize(
    "did",
    [
        Did("system-node-high", 600, queue_full=2),
        Did("system-node-high", 600, waits={0.9: 100}),
        Did("system-node-high", 600, waits={1.5: 1}),
        Did("system-node-high", 6000, timed_out=2, limit_s=2.5),
    ],
    ids=["two refusals", "short waits", "one long wait", "two clients gave up"],
)
def test_node_leases_that_fare_well_are_not_at_risk(did: Did) -> None:
    scene = a_cluster(a_server("node-high", Of((did,))))

    assert at_risk(scene, ())["node_leases"] == "ok"
    assert all_clear(scene)


def test_a_schema_that_takes_node_leases_is_put_behind_the_one_that_is_meant_for_them() -> None:
    taker = a_schema("nodes-and-more", "workload-low", 300, Subject("Group", "system:nodes"))
    found = one(node_leases(a_cluster(a_server("workload-low", refusing("nodes-and-more")), schemas=[taker])))

    assert (found.schema, found.level) == ("nodes-and-more", "workload-low")
    assert found.change is not None
    assert patch(found.change.command) == {"matchingPrecedence": 450}
    assert patch(found.change.rollback) == {"matchingPrecedence": 300}


def test_a_schema_that_fills_the_level_of_nodes_is_moved_out_of_it() -> None:
    crowd = a_schema("crowd", "node-high", 8000, Subject("Group", "system:serviceaccounts"))
    of = Of((Did("system-node-high", 100, queue_full=50), Did("crowd", 3000, queue_full=3000, executing=98)), full=1.0)
    found = one(node_leases(a_cluster(a_server("node-high", of), schemas=[crowd])))

    assert found.change is not None
    assert patch(found.change.command) == {"priorityLevelConfiguration": {"name": "workload-low"}}
    assert patch(found.change.rollback) == {"priorityLevelConfiguration": {"name": "node-high"}}


def test_a_built_in_schema_is_not_moved_out_of_a_level_for_leases_that_came_to_it() -> None:
    nodes = replace(builtin_schemas(Release(1, 30, 4))["system-node-high"], priority_level="workload-high")
    did = Did("system-node-high", 100, queue_full=50), Did("kube-system-service-accounts", 3000, executing=98)
    scene = a_cluster(a_server("workload-high", Of(did, full=1.0)), schemas=[nodes])

    assert one(node_leases(scene)).change is None


def test_a_missing_schema_for_nodes_is_brought_back() -> None:
    scene = a_cluster(a_server("system", refusing("system-nodes")), without=("system-node-high",))
    found = one(node_leases(scene))

    assert found.change is not None
    (made,) = objects(found.change.command)
    assert made["metadata"]["name"] == "system-node-high"
    assert made["spec"]["matchingPrecedence"] == 400
    assert made["spec"]["rules"][0]["subjects"] == [{"kind": "Group", "group": {"name": "system:nodes"}}]


def lease_rows(
    user: str, number: int, age_s: float, level: str = "workload-low", namespace: str = "app"
) -> tuple[Row, ...]:
    """Renewals of a lease that wait."""
    one = Row(
        level,
        "service-accounts",
        user,
        "update",
        "leases",
        age_s=age_s,
        namespace=namespace,
        name="x",
        path="",
        api_version=COORDINATION,
    )
    return tuple(replace(one, index=at) for at in range(number))


@pytest.mark.fires("leader-election-outside")
def test_leader_election_of_an_operator_that_starves_gets_a_way_of_its_own() -> None:
    user = "system:serviceaccount:app:operator"
    of = Of((Did("service-accounts", 600, waits={3.0: 600}, executing=56, waiting=60),), full=1.0)
    found = one(leader_election_outside(a_cluster(a_server("workload-low", of, *lease_rows(user, 2, 4.0)))))

    assert (found.severity, found.level, found.facts["users"]) == ("warning", "workload-low", (user,))
    assert "kas-a: 2 wait in workload-low, the oldest for 4s: update leases" in found.evidence
    assert found.change is not None
    (made,) = objects(found.change.command)
    assert made["spec"]["priorityLevelConfiguration"] == {"name": "leader-election"}
    assert made["spec"]["matchingPrecedence"] == 150
    (rule,) = made["spec"]["rules"]
    assert rule["subjects"] == [{"kind": "ServiceAccount", "serviceAccount": {"namespace": "app", "name": "operator"}}]
    assert rule["resourceRules"][0]["resources"] == ["leases"]
    assert rule["resourceRules"][0]["namespaces"] == ["app"]


def test_clients_whose_leases_are_the_crowd_are_not_let_into_the_level_for_leader_election() -> None:
    user = "system:serviceaccount:app:operator"
    of = Of((Did("service-accounts", 600, waits={3.0: 600}, executing=56, waiting=60),), full=1.0)
    found = one(leader_election_outside(a_cluster(a_server("workload-low", of, *lease_rows(user, 50, 4.0)))))

    assert found.change is None
    assert found.advice[0].startswith("have these clients renew their leases less often")


@pytest.mark.fires("leader-election-outside")
def test_leader_election_of_the_control_plane_outside_its_level_is_critical() -> None:
    leases = ResourceRule(("*",), ("coordination.k8s.io",), ("leases",), ("*",))
    taker = a_schema("all-leases", "workload-low", 50, rules=[leases])
    found = one(leader_election_outside(a_cluster(a_server("workload-low", refusing("all-leases")), schemas=[taker])))

    assert (found.severity, found.schema) == ("critical", "all-leases")
    assert found.change is not None
    assert patch(found.change.command) == {"matchingPrecedence": 450}
    assert patch(found.change.rollback) == {"matchingPrecedence": 50}


def test_a_schema_is_put_behind_all_schemas_for_leases_from_which_it_takes() -> None:
    leases = ResourceRule(("*",), ("coordination.k8s.io",), ("leases",), ("*",))
    taker = a_schema("all-leases", "workload-low", 50, rules=[leases])
    scene = a_cluster(a_server("workload-low", refusing("all-leases")), schemas=[taker])
    every = [one(node_leases(scene)), one(leader_election_outside(scene))]

    assert len({found.change for found in every}) == 1
    assert every[0].advice[0] == (
        "put schema all-leases behind system-leader-election, system-node-high, whose requests it takes: "
        "matchingPrecedence of all-leases: 50 -> 450, behind system-leader-election, system-node-high"
    )


def test_a_schema_is_put_no_further_behind_than_it_must() -> None:
    taker = a_schema("nodes-and-more", "workload-low", 300, Subject("Group", "system:nodes"))
    near = a_schema("near", "workload-low", 411, Subject("User", "jane"))
    found = one(node_leases(a_cluster(a_server("workload-low", refusing("nodes-and-more")), schemas=[taker, near])))

    assert found.change is not None
    assert patch(found.change.command) == {"matchingPrecedence": 405}


@pytest.mark.parametrize(
    "beside",
    [
        a_schema("next", "workload-low", 401, Subject("User", "jane")),
        a_schema("another", "workload-low", 350, Subject("Group", "system:nodes")),
    ],
    ids=["no room", "another schema takes them then"],
)
def test_a_schema_for_which_there_is_no_right_place_is_not_moved(beside: FlowSchema) -> None:
    taker = a_schema("nodes-and-more", "workload-low", 300, Subject("Group", "system:nodes"))
    found = one(node_leases(a_cluster(a_server("workload-low", refusing("nodes-and-more")), schemas=[taker, beside])))

    assert found.change is None
    assert found.advice[0] == "put schema nodes-and-more behind system-node-high, whose requests it takes"


@pytest.mark.spares("leader-election-outside")
@pytest.mark.parametrize(
    "rows",
    [
        lease_rows("system:serviceaccount:app:operator", 1, 4.0),
        lease_rows("system:serviceaccount:app:operator", 5, 0.5),
        lease_rows("system:node:n1", 5, 4.0, namespace="kube-node-lease"),
        tuple(replace(row, executing_s=3.0) for row in lease_rows("system:serviceaccount:app:operator", 5, 4.0)),
    ],
    ids=["one that waits", "those that wait shortly", "leases of nodes", "those that execute"],
)
def test_leases_that_do_not_starve_are_no_finding(rows: tuple[Row, ...]) -> None:
    of = Of((Did("service-accounts", 600, waits={3.0: 600}, executing=56, waiting=60),), full=1.0)

    assert not list(leader_election_outside(a_cluster(a_server("workload-low", of, *rows))))


@pytest.mark.spares("leader-election-outside")
def test_leader_election_that_is_refused_in_its_own_level_is_at_risk_but_not_outside() -> None:
    scene = a_cluster(a_server("leader-election", refusing("system-leader-election")))

    assert at_risk(scene, ())["leader_election"] == "at-risk"
    assert not list(leader_election_outside(scene))


@pytest.mark.fires("probes-refused")
def test_probes_that_are_answered_429_are_critical_and_their_schema_is_brought_back() -> None:
    scene = a_cluster(a_server("global-default", refusing("global-default")), without=("probes",))
    found = one(probes_refused(scene))

    assert at_risk(scene, ())["probes"] == "at-risk"
    assert (found.severity, found.level) == ("critical", "global-default")
    assert found.change is not None
    (made,) = objects(found.change.command)
    assert (made["metadata"]["name"], made["spec"]["matchingPrecedence"]) == ("probes", 2)
    assert made["spec"]["priorityLevelConfiguration"] == {"name": "exempt"}
    assert made["spec"]["rules"][0]["nonResourceRules"] == [
        {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/readyz", "/livez"]}
    ]
    assert "resourceRules" not in made["spec"]["rules"][0]
    assert found.change.rollback == "kubectl delete flowschemas.flowcontrol.apiserver.k8s.io/probes"


@pytest.mark.spares("probes-refused")
def test_refusals_elsewhere_and_a_missing_schema_alone_do_not_refuse_probes() -> None:
    assert not list(probes_refused(a_cluster(a_server("global-default", refusing("global-default")))))
    assert not list(probes_refused(a_cluster(*quiet(), without=("probes",))))


def test_probes_by_other_verbs_that_wait_are_seen_in_the_dump() -> None:
    rows = tuple(
        Row("global-default", "global-default", "system:anonymous", "head", "", age_s=3.0, index=at, path="/livez")
        for at in range(3)
    )
    found = one(probes_refused(a_cluster(a_server("global-default", Of(), *rows))))

    assert found.change is None
    assert "GET" in found.advice[0]


def test_the_case_of_probes_without_their_schema() -> None:
    found = one(probes_refused(scene_of(CASES / "C25", "without")))

    assert "31.5/s refused" in found.evidence[1]
