"""The queue set against the upstream library, event for event."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from apftop.apf.objects import Queuing
from apftop.apf.queueset import QueueSet
from apftop.apf.simulate import SimulatedRequest, Simulation
from tests.apf.queueset_record import Record, simulated
from tests.apf.vectors import vectors


def play(scenario: dict[str, Any]) -> Record:
    config = dict(scenario["config"])
    queue_set: QueueSet[SimulatedRequest] = QueueSet(
        queuing_of(config), config["concurrency_limit"], exempt=config["queues"] < 0
    )
    requests = [simulated(one) for one in scenario["requests"]]
    record = Record(
        queue_set, {request: given["id"] for request, given in zip(requests, scenario["requests"], strict=True)}
    )
    simulation = Simulation(queue_set, record)

    def reconfigure(change: dict[str, Any], now: int) -> Sequence[SimulatedRequest]:
        config.update(change)
        return queue_set.reconfigure(now, queuing_of(config), config["concurrency_limit"], exempt=config["queues"] < 0)

    for change in scenario.get("changes", ()):
        simulation.change_at(change["t_ns"], partial(reconfigure, change))
    simulation.run(sorted(requests, key=lambda one: one.arrive_ns))
    return record


def queuing_of(config: dict[str, Any]) -> Queuing | None:
    if config["queues"] < 1:
        return None
    return Queuing(config["queues"], config["hand_size"], config["queue_length_limit"])


@pytest.mark.parametrize("vector", vectors("queueset"), ids=lambda one: one["scenario"]["name"])
def test_every_event_and_outcome_is_that_of_the_library(vector: dict[str, Any]) -> None:
    record, wanted = play(vector["scenario"]), vector["expected"]

    for found, event in zip(record.events, wanted["events"], strict=False):
        assert found == event
    assert len(record.events) == len(wanted["events"])
    assert [record.outcomes.by_id[one["id"]] for one in wanted["outcomes"]] == wanted["outcomes"]
