"""What debug dumps and metrics of the upstream library show, against the state of the model at that moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from functools import partial
from typing import Any

import pytest

from apftop.apf.simulate import Event, SimulatedRequest
from apftop.parse.dumps import parse_levels, parse_queues, parse_requests
from apftop.parse.metrics import parse_metrics
from apftop.records.parsed import Details, Family
from tests.apf.meters import Meters
from tests.apf.replica_run import ReplicaRun
from tests.apf.vectors import close, each_version, vectors

START_NS = 1_704_067_200 * 10**9
"""2024-01-01T00:00:00Z, when the scenarios begin."""


class Looker(ReplicaRun):
    """A run that counts as the server does, and is looked at where the scenario asks for it."""

    def __init__(self, scenario: dict[str, Any], version: str, wanted: dict[str, Any]) -> None:
        super().__init__(scenario, version, wanted["events"])
        self.looks = 0
        self._meters = Meters(self.replica, {one: one.width for one in self.requests})
        self._hidden = set() if version == "v0.30.4" else HIDDEN_SINCE_1_32
        self._distinguishers: dict[SimulatedRequest, str] = {}
        for dump in wanted.get("dumps", ()):
            self.look_at(dump["t"], partial(self._check_dumps, dump["text"]))
        for sample in wanted.get("metrics", ()):
            self.look_at(sample["t"], partial(self._check_metrics, sample["text"]["metrics"]))

    def after(
        self, at: int, event: Event, request: SimulatedRequest | None, started: Sequence[SimulatedRequest]
    ) -> None:
        super().after(at, event, request, started)
        if request is None:
            assert self.adjustment is not None
            self._meters.changed(self.adjustment)
        elif event == "arrive":
            assert request.attributes is not None
            self._distinguishers[request] = self.replica.classification(request.attributes).distinguisher
        self._meters.after(at, event, request, started)

    def _total(self, family: str, level: str) -> float:
        return sum(number for key, number in self._meters.numbers[family].items() if ("priority_level", level) in key)

    def _inside(self, level: str) -> list[SimulatedRequest]:
        return [one for one in self.requests if one.level == level and one.state in ("waiting", "executing")]

    def _check_dumps(self, text: dict[str, str], _: int) -> None:
        self.looks += 1
        for row in parse_levels(text["dump_priority_levels"].encode()).rows:
            queue_set = self.replica.queue_sets[row.name]
            assert (row.active_queues, row.is_idle, row.is_quiescing, row.waiting, row.executing) == (
                sum(bool(queue.waiting) for queue in queue_set.queues),
                queue_set.idle,
                self.replica.levels[row.name].quiescing,
                queue_set.waiting,
                queue_set.executing,
            )
            gone = [one for one in self.requests if one.level == row.name and one.state == "gone"]
            assert (row.dispatched, row.rejected, row.timed_out, row.cancelled) == (
                self._total("dispatched_requests_total", row.name),
                self._total("rejected_requests_total", row.name),
                0,
                len(gone),
            )
        shown = {(row.level, *astuple(row)[1:-1]) for row in parse_queues(text["dump_queues"].encode()).rows}
        assert shown == {
            (name, *astuple(queue.state()))
            for name, queue_set in self.replica.queue_sets.items()
            for queue in queue_set.queues
        }
        for name in ("dump_requests", "dump_requests?includeRequestDetails=1"):
            rows = [
                (*self._request_row(one), _details(one) if "?" in name else None)
                for level in self.replica.levels
                for one in self._inside(level)
            ]
            assert sorted(self._shown_requests(text[name]), key=repr) == sorted(rows, key=repr)

    @staticmethod
    def _shown_requests(text: str) -> list[tuple[Any, ...]]:
        return [
            (
                row.level,
                row.schema,
                row.queue,
                row.index,
                row.arrive_ns - START_NS,
                row.start_ns - START_NS if row.start_ns is not None else None,
                row.initial_seats,
                row.final_seats,
                row.additional_latency_ns,
                row.distinguisher,
                row.details,
            )
            for row in parse_requests(text.encode()).rows
        ]

    def _request_row(self, one: SimulatedRequest) -> tuple[Any, ...]:
        waiting = one.state == "waiting"
        return (
            one.level,
            one.schema,
            -1 if one.queue is None else one.queue.index,
            one.queue.waiting.index(one) if waiting and one.queue else -1,
            one.arrive_ns,
            None if waiting else one.start_ns,
            one.initial_seats,
            one.final_seats,
            one.additional_latency_ns,
            self._distinguishers[one],
        )

    def _check_metrics(self, text: str, _: int) -> None:
        self.looks += 1
        families = parse_metrics(text.encode(), "text/plain; version=0.0.4").families
        assert len(families) == text.count("# TYPE")
        for name, family in families.items():
            self._check_family(name.removeprefix("apiserver_flowcontrol_"), family)
        shown = {name.removeprefix("apiserver_flowcontrol_") for name in families}
        counted = {**self._meters.numbers, **self._meters.histograms}
        assert {name for name, series in counted.items() if series} - shown == self._hidden

    def _check_family(self, name: str, family: Family) -> None:
        numbers, histograms = self._meters.numbers.get(name, {}), self._meters.histograms.get(name, {})
        assert (numbers.keys(), histograms.keys()) == (family.values.keys(), family.histograms.keys()), name
        for key, value in family.values.items():
            assert close(numbers[key], value), (name, key, numbers[key], value)
        for key, wanted in family.histograms.items():
            found = histograms[key]
            assert (found.bounds, found.cumulative) == (wanted.bounds, wanted.cumulative), (name, key)
            assert close(found.sum, wanted.sum), (name, key)


def _details(one: SimulatedRequest) -> Details:
    asked = one.attributes
    assert asked is not None
    api_version = f"{asked.api_group}/{asked.api_version}".removeprefix("/")
    return Details(
        asked.user, asked.verb, asked.path, asked.namespace, asked.name, api_version, asked.resource, asked.subresource
    )


HIDDEN_SINCE_1_32 = {"request_concurrency_limit", "request_concurrency_in_use"}
LOOKED_AT = [one for one in vectors("sim") if "dumps_ns" in one["scenario"] or "metrics_ns" in one["scenario"]]


@each_version
@pytest.mark.parametrize("vector", LOOKED_AT, ids=lambda one: one["scenario"]["name"])
def test_dumps_and_metrics_show_the_state_of_the_model(vector: dict[str, Any], version: str) -> None:
    run = Looker(vector["scenario"], version, vector["expected"][version])
    run.go()

    assert run.looks >= 2
