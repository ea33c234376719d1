"""What the clients of a scenario ask for, how often, and at what cost."""

from __future__ import annotations

from random import Random

import pytest

from apftop.apf.attributes import bypasses
from apftop.apf.classify import Classifier, classify
from apftop.demo.clients import Stream
from apftop.demo.request import Request
from apftop.demo.scenario import METHODS, load, names
from apftop.demo.server import Server
from tests.demo.planes import EPOCH_NS, HOT, a_plane, at


@pytest.mark.parametrize("name", names())
def test_every_client_of_a_scenario_asks_for_what_a_schema_takes(name: str) -> None:
    plane, scenario = a_plane(), load(name)
    classifier = Classifier(plane.schemas, plane.levels)
    seen: set[str] = set()
    for number, client in enumerate(scenario.clients):
        calls = {(call.verb, call.resource) for call in client.calls}
        for replica in range(scenario.replicas):
            stream = Stream(scenario, client, replica, str(number), EPOCH_NS)
            for _ in range(60):
                asked = stream.ask()
                sent = asked.attributes
                assert (sent.verb, sent.target) in calls
                assert (asked.watchers is None) == (sent.verb not in METHODS or sent.target == "serviceaccounts/token")
                assert not bypasses(sent)
                seen.add(classify(classifier, sent).schema.name)

    assert seen >= {schema.name for schema in scenario.schemas}
    assert "catch-all" not in seen


@pytest.mark.parametrize("name", names())
def test_the_cost_of_all_that_is_listed_is_known(name: str) -> None:
    scenario = load(name)
    for client in scenario.clients:
        for call in client.calls:
            if call.verb in ("list", "watch"):
                group = call.api.rpartition("/")[0]
                assert f"{call.resource}.{group}".removesuffix(".") in scenario.stored


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


STORMING = ("system:serviceaccount:ci:runner", "system:serviceaccount:data:postgres-operator")


def inside(server: Server) -> list[Request]:
    waiting = [one for level in server.levels.values() for queue in level.queue_set.queues for one in queue.waiting]
    return [*waiting, *(one for level in server.levels.values() for one in level.executing)]


def test_requests_cost_what_the_release_charges_for_the_stored_objects() -> None:
    server = a_plane(30.0).servers[HOT]
    costs: dict[tuple[str, str], set[tuple[int, int, int]]] = {}
    for second in range(31, 50):
        server.advance(at(second))
        for one in inside(server):
            if one.attributes.user in STORMING:
                kind = one.attributes.verb, one.attributes.namespace
                cost = one.cost.initial_seats, one.cost.final_seats, one.cost.additional_latency_ns
                costs.setdefault(kind, set()).add(cost)

    # From the cache a LIST costs 10 seats at most, 40 of 10 kB cost 4; 62 watchers are told in 7 * 5 ms of one seat.
    assert costs["list", ""] == {(10, 0, 0)}
    assert costs["list", "ci"] == {(4, 0, 0)}
    assert costs["create", "ci"] == costs["delete", "ci"] == {(1, 7, 5_000_000)}
    assert costs["get", "ci"] == {(1, 0, 0)}
