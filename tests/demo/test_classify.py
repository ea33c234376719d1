"""Where the requests of the built-in users and of the scenario's clients belong."""

from __future__ import annotations

from random import Random

import pytest

from apftop.apf.shards import hand
from apftop.demo.builtin import levels, schemas
from apftop.demo.classify import Classifier
from apftop.demo.clients import Stream, groups_of
from apftop.demo.request import Target
from apftop.demo.scenario import load, names
from tests.demo.planes import EPOCH_NS, a_plane

LEASE = Target(
    "update",
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x",
    "coordination.k8s.io",
    "coordination.k8s.io/v1",
    "leases",
    namespace="kube-system",
    name="x",
)
PODS = Target("list", "/api/v1/pods", "", "v1", "pods")
STATUS = Target("patch", "/api/v1/nodes/n1/status", "", "v1", "nodes", "status", "", "n1")
PROXY = Target("get", "/api/v1/nodes/n1/proxy", "", "v1", "nodes", "proxy", "", "n1")


@pytest.mark.parametrize(
    ("user", "target", "schema", "distinguisher"),
    [
        ("system:node:n1", STATUS, "system-node-high", "system:node:n1"),
        ("system:node:n1", PROXY, "system-nodes", "system:node:n1"),
        ("system:kube-scheduler", LEASE, "system-leader-election", "system:kube-scheduler"),
        ("system:kube-scheduler", PODS, "kube-scheduler", ""),
        ("system:serviceaccount:kube-system:coredns", PODS, "kube-system-service-accounts", ""),
        ("system:serviceaccount:kube-systems:x", PODS, "service-accounts", "system:serviceaccount:kube-systems:x"),
        ("system:anonymous", Target("get", "/livez/etcd"), "probes", ""),
        ("system:anonymous", Target("get", "/livezz"), "global-default", "system:anonymous"),
        ("dana", PODS, "global-default", "dana"),
    ],
)
def test_built_in_schemas_take_what_they_take_on_a_real_server(
    user: str, target: Target, schema: str, distinguisher: str
) -> None:
    place = Classifier(schemas(), levels()).place(user, groups_of(user), target)

    assert (place.schema, place.distinguisher) == (schema, distinguisher)
    queuing = next(level for level in levels() if level.name == place.level).queuing
    cards = hand(schema, distinguisher, queuing.queues, queuing.hand_size) if queuing else ()
    assert place.hand == cards


def test_masters_are_exempt() -> None:
    assert Classifier(schemas(), levels()).place("admin", ("system:masters",), PODS).level == "exempt"


@pytest.mark.parametrize("name", names())
def test_every_client_of_a_scenario_asks_for_what_a_schema_takes(name: str) -> None:
    plane, scenario = a_plane(), load(name)
    classifier = Classifier(plane.schemas, plane.levels)
    seen: set[str] = set()
    for number, client in enumerate(scenario.clients):
        for replica in range(scenario.replicas):
            stream = Stream(scenario, client, replica, str(number), EPOCH_NS)
            for _ in range(60):
                asked = stream.ask()
                seen.add(classifier.place(asked.user, asked.groups, asked.target).schema)

    assert seen >= {schema.name for schema in scenario.schemas}
    assert "catch-all" not in seen


def test_arrivals_follow_the_rates_of_the_cycle() -> None:
    scenario = load("rush")
    storm = next(client for client in scenario.clients if client.users == ("system:serviceaccount:ci:runner",))
    streams = [Stream(scenario, storm, replica, f"{Random(1).random()}/{replica}", EPOCH_NS) for replica in range(3)]
    counts = []
    for stream in streams:
        now, number = EPOCH_NS + 20_000_000_000, 0
        while (now := stream.next_ns(now)) < EPOCH_NS + 50_000_000_000:
            number += 1
        counts.append(number)

    assert sum(counts) == pytest.approx(30 * 105, rel=0.1)
    assert counts[1] == pytest.approx(sum(counts) * 7 / 11, rel=0.1)
