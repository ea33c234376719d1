"""One flow by accident, one kind of request, and flows that share their queues."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from apftop.apf.objects import FlowSchema, Subject
from apftop.apf.shards import hand
from apftop.findings.changes.apart import ahead
from apftop.findings.flows import FINDERS
from apftop.findings.scene import Scene
from apftop.records.findings import Change, Finding
from apftop.records.logs import NO_LOGS, Caller, Logs
from tests.findings.cluster import Did, Of, Row, Server, a_cluster, a_level, a_schema, busier, made, quiet

LEVEL = a_level("batch", 20, queues=32, hand_size=4)
ONE_FLOW = a_schema("batch", "batch", 1000, Subject("Group", "ci"), distinguisher=None)
PATCH = "kubectl patch flowschemas.flowcontrol.apiserver.k8s.io/batch --type=merge -p '{}'"


def found(scene: Scene, code: str = "") -> list[Finding]:
    return [one for find in FINDERS for one in find(scene) if code in ("", one.code)]


def created(change: Change | None) -> list[dict[str, Any]]:
    """The objects that a change makes, out of its command."""
    assert change is not None
    return made(change.command)


def crowd(users: Sequence[str], number: int = 40, flow: str | None = "", **more: Any) -> list[Row]:
    """Waiting requests of these users in turn, in the queues of one flow."""
    return [
        Row("batch", "batch", users[at % len(users)], age_s=3.0, queue=at % 4, index=at // 4, flow=flow, **more)
        for at in range(number)
    ]


def in_batch(rows: Sequence[Row] | None, schema: FlowSchema = ONE_FLOW, logs: Logs = NO_LOGS, **did: Any) -> Scene:
    own = Did("batch", 100, **{"queue_full": 60, "executing": 4, "waiting": 40, **did})
    server = busier(quiet("kas-a")[0], "batch", Of((own,)), *(rows or ()))
    return a_cluster(
        replace(server, rows=None) if rows is None else server,
        levels=[LEVEL],
        schemas=[schema],
        logs=logs,
    )


@pytest.mark.fires("one-flow")
def test_users_without_a_distinguisher_are_one_flow() -> None:
    (one,) = found(in_batch(crowd(["ci:a", "ci:a", "ci:a", "ci:b"])))

    assert (one.code, one.severity, one.subject, one.level) == ("one-flow", "warning", "batch", "batch")
    assert one.title == (
        "requests of schema batch are one flow in batch on kas-a: 4 of 32 queues for all of its clients, 40 wait, "
        "2.00/s refused"
    )
    assert any("40 of 40 waiting" in line and "4 of 32 queues" in line for line in one.evidence)
    assert any("60 refused queue-full over 30s" in line for line in one.evidence)
    assert any("2 users are in that flow: ci:a 30, ci:b 10" in line for line in one.evidence)
    assert one.change is not None
    assert one.change.command == PATCH.format(json.dumps({"spec": {"distinguisherMethod": {"type": "ByUser"}}}))
    assert one.change.rollback == PATCH.format(json.dumps({"spec": {"distinguisherMethod": None}}))
    assert (one.facts["clients"], one.facts["queues_used"], one.facts["refused_per_s"]) == (2.0, 4, 2.0)


@pytest.mark.spares("one-flow")
def test_a_burst_that_is_served_in_the_next_moment_is_no_flow_by_accident() -> None:
    burst = [replace(row, age_s=0.02) for row in crowd(["ci:a", "ci:b"])]

    assert found(in_batch(burst, queue_full=0), "one-flow") == []
    assert found(in_batch(crowd(["ci:a", "ci:b"]), queue_full=0), "one-flow")


@pytest.mark.spares("one-flow")
@pytest.mark.parametrize(
    ("rows", "schema"),
    [
        # One client alone would have no more queues with a distinguisher.
        (crowd(["ci:a"]), ONE_FLOW),
        # Each user is a flow, and the one that sends most has no others in it.
        (crowd(["ci:a"], flow=None), replace(ONE_FLOW, distinguisher="ByUser")),
        # Many flows wait, and this is a small part of it.
        ([*crowd(["ci:a", "ci:b"], 10), *crowd([f"ci:{at}" for at in range(20)], flow="other")], ONE_FLOW),
    ],
)
def test_a_client_for_itself_and_a_part_of_many_flows_are_no_flow_by_accident(
    rows: list[Row], schema: FlowSchema
) -> None:
    some = {replace(row, flow=row.user) if row.flow == "other" else row for row in rows}

    assert not found(in_batch(sorted(some, key=str), schema), "one-flow")


def test_few_that_wait_and_few_that_were_refused_are_no_crowd() -> None:
    assert not found(in_batch(crowd(["ci:a", "ci:b"], 9), waiting=9, queue_full=10))


def test_namespaces_as_distinguisher_put_the_users_of_one_namespace_in_one_flow() -> None:
    schema = replace(ONE_FLOW, distinguisher="ByNamespace")

    (one,) = found(in_batch(crowd(["ci:a", "ci:b"], flow="default"), schema))

    assert one.change is not None
    assert one.change.rollback == PATCH.format(json.dumps({"spec": {"distinguisherMethod": {"type": "ByNamespace"}}}))


def test_namespaces_that_part_more_than_users_would_are_left_as_they_are() -> None:
    schema = replace(ONE_FLOW, distinguisher="ByNamespace")
    rows = [*crowd(["ci:a", "ci:b"], flow="eu"), *crowd(["ci:a"], 5, flow="us"), *crowd(["ci:b"], 5, flow="asia")]

    assert not found(in_batch(rows, schema, waiting=50))


def test_addresses_in_a_log_tell_that_many_clients_share_an_account() -> None:
    user = "system:serviceaccount:storage:driver"
    schema = replace(ONE_FLOW, distinguisher="ByUser")
    logs = Logs(callers=tuple(Caller(user, "driver/1.0", f"10.0.0.{at}", requests=100) for at in range(12)))

    (one,) = found(in_batch(crowd([user], flow=None), schema, logs))

    assert any("12 addresses are in that flow" in line for line in one.evidence)
    assert one.change is None
    assert one.advice[0].startswith("give each workload a service account of its own")


def test_without_a_dump_refusals_beside_free_places_tell_of_one_flow() -> None:
    (one,) = found(in_batch(None))

    assert "one flow in batch on kas-a" in one.title
    assert one.facts["flow"] is None
    assert one.facts["clients"] is None
    assert not found(in_batch(None, queue_full=10))
    assert not found(in_batch(None, waiting=81))
    assert not found(in_batch(None, replace(ONE_FLOW, distinguisher="ByUser")))


def test_the_same_flow_on_two_servers_is_one_finding() -> None:
    of = Of((Did("batch", 100, queue_full=60, executing=4, waiting=40),))
    servers = [busier(one, "batch", of, *crowd(["ci:a", "ci:b"])) for one in quiet("kas-a", "kas-b")]

    (one,) = found(a_cluster(*servers, levels=[LEVEL], schemas=[ONE_FLOW]))

    assert one.replicas == ("kas-a", "kas-b")
    assert "on 2 servers" in one.title


def nodes(events: int = 114, others: int = 46, flows: int = 40, resource: str = "events", **more: Any) -> Server:
    """Kubelets that write events, with other requests of theirs behind."""
    waiting = [("create", resource)] * events + [("get", "secrets")] * others
    rows = [
        Row("system", "system-nodes", f"system:node:n{at % flows}", verb, kind, age_s=3.5, queue=at % 64, **more)
        for at, (verb, kind) in enumerate(waiting)
    ]
    runs = [
        Row("system", "system-nodes", f"system:node:n{at % flows}", "create", resource, executing_s=0.5)
        for at in range(19)
    ]
    of = Of((Did("system-nodes", 900, executing=19, waiting=len(waiting), timed_out=30),), full=0.95)
    return busier(quiet("kas-a")[0], "system", of, *rows, *runs)


@pytest.mark.fires("request-kind")
def test_events_of_all_nodes_are_a_kind_of_request_and_no_client() -> None:
    (one,) = found(a_cluster(nodes()))

    assert (one.code, one.severity, one.subject) == ("request-kind", "warning", "system")
    assert one.title == (
        "create events crowds system on kas-a: 114 of 160 waiting, from 40 flows; a kind of request, not a client"
    )
    assert any("get secrets 46" in line and "of 19 executing: create events 100%" in line for line in one.evidence)
    assert any("at most 4 of 160 are of one flow" in line for line in one.evidence)
    assert one.advice[0] == (
        "add a FlowSchema for events ahead of system-nodes, to a small level of its own (at precedence 450)"
    )
    assert any("the new level gets" in line and "loses most" in line for line in one.advice)
    assert one.facts["suspicion"] == "request-kind, not client"
    assert (one.facts["flows_waiting"], one.facts["max_waiting_per_flow"]) == (40, 4)


def test_the_schema_for_events_is_ahead_of_that_of_the_nodes_and_for_these_alone() -> None:
    (one,) = found(a_cluster(nodes()))

    level, schema = created(one.change)

    assert level["kind"] == "PriorityLevelConfiguration"
    assert level["spec"]["limited"]["nominalConcurrencyShares"] == 5
    assert schema["spec"]["matchingPrecedence"] == 450
    assert schema["spec"]["priorityLevelConfiguration"] == {"name": level["metadata"]["name"]}
    (rule,) = schema["spec"]["rules"]
    assert rule["subjects"] == [{"kind": "Group", "group": {"name": "system:nodes"}}]
    (of,) = rule["resourceRules"]
    assert (of["verbs"], of["apiGroups"]) == (["create", "patch", "update"], ["", "events.k8s.io"])
    assert of["resources"] == ["events"]
    assert one.change is not None
    assert one.change.rollback == (
        "kubectl delete flowschemas.flowcontrol.apiserver.k8s.io/events "
        "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/events"
    )


def test_another_kind_gets_a_schema_of_its_own_too() -> None:
    (one,) = found(a_cluster(nodes(resource="tokenreviews")))

    _, schema = created(one.change)

    assert schema["metadata"]["name"] == "create-tokenreviews"
    assert schema["spec"]["rules"][0]["resourceRules"][0]["resources"] == ["tokenreviews"]


@pytest.mark.spares("request-kind")
@pytest.mark.parametrize(
    "server",
    [
        nodes(events=160, others=0),
        nodes(events=70, others=90),
        nodes(flows=4),
        nodes(events=6, others=3),
        replace(nodes(), rows=tuple(replace(row, age_s=0.4) for row in nodes().rows or ())),
        replace(nodes(), rows=None),
    ],
    ids=["nothing else waits", "not most of it", "few clients", "few requests", "a burst", "no dump"],
)
def test_a_kind_that_crowds_out_nothing_is_no_finding(server: Server) -> None:
    assert not found(a_cluster(server), "request-kind")


def test_one_client_that_sends_most_is_not_taken_for_a_kind_of_request() -> None:
    server = nodes()
    one_client = [replace(row, user="system:node:n1", flow="n1") for row in (server.rows or ())[:60]]

    assert not found(a_cluster(replace(server, rows=(*one_client, *(server.rows or ())[60:]))), "request-kind")


SMALL = a_level("small", 10, queues=8, hand_size=2)
USERS = a_schema("small", "small", 1000)


def meeting(heavy: str, shared: int) -> str:
    """A user so many of whose queues are also those of the heavy one."""
    hands = {name: hand("small", name, 8, 2) for name in (f"mouse-{at}" for at in range(200))}
    its = set(hand("small", heavy, 8, 2))
    return next(name for name, own in hands.items() if len(its & set(own)) == shared)


def behind_the_elephant(mouse: str, number: int = 18) -> Scene:
    its, own = hand("small", "elephant", 8, 2), hand("small", mouse, 8, 2)
    rows = [Row("small", "small", "elephant", age_s=4.0, queue=its[at % 2], index=at // 2) for at in range(number)]
    rows.append(Row("small", "small", mouse, age_s=2.0, queue=own[0], index=9))
    of = Of((Did("small", 60, executing=5, waiting=number + 1),), full=0.9)
    return a_cluster(busier(quiet("kas-a")[0], "small", of, *rows), levels=[SMALL], schemas=[USERS])


@pytest.mark.fires("shared-queues")
def test_a_light_flow_all_of_whose_queues_are_crowded_is_told_of() -> None:
    mouse = meeting("elephant", 2)

    (one,) = found(behind_the_elephant(mouse))

    assert (one.code, one.severity, one.subject) == ("shared-queues", "info", "small")
    assert any(mouse in line and "elephant 18" in line for line in one.evidence)
    assert any("befalls 3.6%" in line for line in one.evidence)
    assert one.change is not None
    assert '"queues": 16' in one.change.command
    assert '"queues": 8' in one.change.rollback


@pytest.mark.spares("shared-queues")
def test_a_light_flow_with_a_queue_for_itself_is_left_alone() -> None:
    assert not found(behind_the_elephant(meeting("elephant", 1)))
    assert not found(behind_the_elephant(meeting("elephant", 2), 9))


@pytest.mark.parametrize(
    ("precedences", "named", "expected"),
    [((400, 500), "s500", 450), ((900, 9000), "s9000", 5000), ((100, 102), "s102", 101), ((100, 101), "s101", None)],
)
def test_a_new_precedence_is_round_and_lies_between(
    precedences: tuple[int, int], named: str, expected: int | None
) -> None:
    order = [a_schema(f"s{one}", "small", one) for one in precedences]

    assert ahead(order, {named}) == expected


def test_quiet_servers_have_no_such_finding() -> None:
    assert not found(a_cluster(*quiet()))
