"""What debug dumps and metrics of the upstream library show, against the state of the model at that moment."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import astuple
from functools import partial
from typing import Any

import pytest

from apftop.apf.simulate import Event, SimulatedRequest
from apftop.parse.dumps import parse_levels, parse_queues, parse_requests
from apftop.parse.metrics import parse_metrics
from apftop.records.parsed import Metrics
from tests.apf.limit_rows import limit_row, same_row
from tests.apf.replica_run import ReplicaRun
from tests.apf.vectors import close, each_version, vectors

START_NS = 1_704_067_200 * 10**9
"""2024-01-01T00:00:00Z, when the scenarios begin."""


class Looker(ReplicaRun):
    """A run that counts as the server does, and is looked at where the scenario asks for it."""

    def __init__(self, scenario: dict[str, Any], version: str, wanted: dict[str, Any]) -> None:
        super().__init__(scenario, version, wanted["events"])
        self.looks = 0
        self._counts: dict[str, Counter[tuple[str, str, str]]] = defaultdict(Counter)
        for dump in wanted.get("dumps", ()):
            self.look_at(dump["t"], partial(self._check_dumps, dump["text"]))
        for sample in wanted.get("metrics", ()):
            self.look_at(sample["t"], partial(self._check_metrics, sample["text"]["metrics"]))

    def after(
        self, at: int, event: Event, request: SimulatedRequest | None, started: Sequence[SimulatedRequest]
    ) -> None:
        super().after(at, event, request, started)
        for one in started:
            self._counts["dispatched"][one.level, one.schema, ""] += 1
        if request is not None and (request.refusal or event in ("time-out", "cancelled")):
            self._counts["rejected"][request.level, request.schema, request.refusal or "time-out"] += 1
        if request is not None and event == "arrive" and request.refusal is None and request.queue is not None:
            self._counts["enqueued"][request.level, request.schema, ""] += 1

    def _of_level(self, name: str, level: str, reason: str | None = None) -> int:
        return sum(number for key, number in self._counts[name].items() if key[0] == level and reason in (None, key[2]))

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
            assert (row.dispatched, row.rejected, row.timed_out, row.cancelled) == (
                self._of_level("dispatched", row.name),
                self._of_level("rejected", row.name),
                0,
                self._of_level("rejected", row.name, "time-out"),
            )
        shown = {(row.level, *astuple(row)[1:-1]) for row in parse_queues(text["dump_queues"].encode()).rows}
        assert shown == {
            (name, *astuple(queue.state()))
            for name, queue_set in self.replica.queue_sets.items()
            for queue in queue_set.queues
        }
        assert sorted(self._shown_requests(text["dump_requests"]), key=repr) == sorted(
            (self._request_row(one) for name in self.replica.levels for one in self._inside(name)), key=repr
        )

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
            )
            for row in parse_requests(text.encode()).rows
        ]

    @staticmethod
    def _request_row(one: SimulatedRequest) -> tuple[Any, ...]:
        waiting = one.state == "waiting"
        return (
            one.level,
            one.schema,
            -1 if one.queue is None else one.queue.index,
            one.queue.waiting.index(one) if waiting and one.queue else -1,
            one.arrive_ns,
            None if waiting else one.start_ns,
            one.initial_seats,
        )

    def _check_metrics(self, text: str, _: int) -> None:
        self.looks += 1
        metrics = parse_metrics(text.encode(), "text/plain; version=0.0.4")
        assert self.adjustment is not None
        assert close(self.adjustment.fair, _values(metrics, "seat_fair_frac")[()])
        for name, level in self.replica.levels.items():
            queue_set = self.replica.queue_sets[name]
            row = limit_row(level, self.adjustment, name)
            gauges = [f"{one}_limit_seats" for one in ("nominal", "lower", "upper", "current")]
            gauges += [f"demand_seats_{one}" for one in ("high_watermark", "average", "stdev", "smoothed")]
            assert same_row(row[:-1], [_of(metrics, gauge, name) for gauge in gauges]), name
            target = _values(metrics, "target_seats").get(_key(name))
            assert target is None or close(float(row[-1] or 0), target)
            assert close(queue_set.r / 1e8, _of(metrics, "current_r", name))
            assert queue_set.executing == _of(metrics, "current_executing_requests", name)
            assert queue_set.seats_in_use == _of(metrics, "current_executing_seats", name)
            assert queue_set.waiting == _of(metrics, "current_inqueue_requests", name)
            assert queue_set.seats_waiting == _of(metrics, "current_inqueue_seats", name)
            assert self._of_level("dispatched", name) == _of(metrics, "dispatched_requests_total", name)
        for (level_name, schema, reason), number in self._counts["rejected"].items():
            key = (("flow_schema", schema), ("priority_level", level_name), ("reason", reason))
            assert _values(metrics, "rejected_requests_total")[key] == number
        assert self._counts["rejected"].total() == sum(_values(metrics, "rejected_requests_total").values())
        lengths = metrics.families["apiserver_flowcontrol_request_queue_length_after_enqueue"].histograms
        for (level_name, schema, _reason), number in self._counts["enqueued"].items():
            assert lengths[(("flow_schema", schema), ("priority_level", level_name))].count == number


def _values(metrics: Metrics, name: str) -> dict[tuple[tuple[str, str], ...], float]:
    family = metrics.families.get(f"apiserver_flowcontrol_{name}")
    return dict(family.values) if family else {}


def _key(level: str) -> tuple[tuple[str, str], ...]:
    return (("priority_level", level),)


def _of(metrics: Metrics, name: str, level: str) -> float:
    return sum(value for key, value in _values(metrics, name).items() if ("priority_level", level) in key)


LOOKED_AT = [one for one in vectors("sim") if "dumps_ns" in one["scenario"] or "metrics_ns" in one["scenario"]]


@each_version
@pytest.mark.parametrize("vector", LOOKED_AT, ids=lambda one: one["scenario"]["name"])
def test_dumps_and_metrics_show_the_state_of_the_model(vector: dict[str, Any], version: str) -> None:
    run = Looker(vector["scenario"], version, vector["expected"][version])
    run.go()

    assert run.looks >= 2
