"""Faults put into the samples of a run, as bytes and stamps: what a wrong server, clock or reader would bring."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from apftop.records.raw import Endpoint, Sample
from tests.crosscheck.runs import Round, Run

PREFIX = "apiserver_flowcontrol_"
Fault = Callable[[Run], Run]


def metrics_of_another(run: Run) -> Run:
    """The metrics of each replica are those of the next one, of about the same time."""
    latest: dict[str, Sample] = {}
    names = run.replicas
    after = dict(zip(names, [*names[1:], names[0]], strict=True))
    rounds = []
    for one in run.rounds:
        latest[one.replica] = _of(one, Endpoint.METRICS)
        if (other := latest.get(after[one.replica])) is not None:
            rounds.append(_with(one, {Endpoint.METRICS: other.body}))
    return replace(run, rounds=tuple(rounds))


def late(*endpoints: Endpoint) -> Fault:
    """These answers are those of the round before; the first round of each replica is left out."""

    def fault(run: Run) -> Run:
        before: dict[str, Round] = {}
        rounds = []
        for one in run.rounds:
            if (earlier := before.get(one.replica)) is not None:
                rounds.append(_with(one, {endpoint: _of(earlier, endpoint).body for endpoint in endpoints}))
            else:
                rounds.append(replace(one, samples=tuple(s for s in one.samples if s.endpoint not in endpoints)))
            before[one.replica] = one
        return replace(run, rounds=tuple(rounds))

    return fault


def clock(seconds: float) -> Fault:
    """This machine's clock is ahead of the servers' by so much."""

    def moved(sample: Sample) -> Sample:
        sent, begun, received = (
            None if at is None else at + seconds for at in (sample.sent, sample.begun, sample.received)
        )
        return replace(sample, sent=sent, begun=begun, received=received)

    return lambda run: replace(
        run, rounds=tuple(replace(one, samples=tuple(map(moved, one.samples))) for one in run.rounds)
    )


def queuing(change: Callable[[Mapping[str, int]], Mapping[str, int]]) -> Fault:
    """The objects tell other queues of the levels under load."""

    def fault(run: Run) -> Run:
        def told(sample: Sample) -> Sample:
            if sample.endpoint is not Endpoint.CONFIGS:
                return sample
            found = json.loads(sample.body)
            for item in found["items"]:
                response = item["spec"].get("limited", {}).get("limitResponse", {})
                if item["metadata"]["name"] in run.levels and response.get("queuing"):
                    response["queuing"] |= change(response["queuing"])
            return replace(sample, body=json.dumps(found).encode())

        return replace(run, rounds=tuple(replace(one, samples=tuple(map(told, one.samples))) for one in run.rounds))

    return fault


def hand_told(by: int) -> Fault:
    """The hand of the levels under load is told so much larger, or smaller."""
    return queuing(lambda told: {"handSize": min(max(1, told["handSize"] + by), told["queues"])})


LENGTH_DOUBLED = queuing(lambda told: {"queueLengthLimit": 2 * told["queueLengthLimit"]})


def limit_told(factor: float) -> Fault:
    """The current limit of the levels under load is told so many times as large."""
    return _series(f"{PREFIX}current_limit_seats", lambda _, value: value * factor)


def grown(series: str, factor: float) -> Fault:
    """What is added to these series (a pattern) of the levels under load is so many times as much."""
    return _series(series, lambda first, value: first + (value - first) * factor)


EXECUTION_SUM = f"{PREFIX}request_execution_seconds_sum"
WAIT_SUM = f"{PREFIX}request_wait_duration_seconds_sum"
DISPATCHED = f"{PREFIX}dispatched_requests_total"
REJECTED = f"{PREFIX}rejected_requests_total"


def _series(pattern: str, changed: Callable[[float, float], float]) -> Fault:
    """Change the values of series by name; `changed` also gets the first value that the replica told."""

    def fault(run: Run) -> Run:
        levels = "|".join(map(re.escape, run.levels))
        line = re.compile(rf'^((?:{pattern})\{{[^}}]*priority_level="(?:{levels})"[^}}]*\}}) (\S+)$', re.MULTILINE)
        firsts: dict[tuple[str, str], float] = {}

        def edited(one: Round) -> bytes:
            def value(match: re.Match[str]) -> str:
                first = firsts.setdefault((one.replica, match[1]), float(match[2]))
                return f"{match[1]} {changed(first, float(match[2])):.17g}"

            return line.sub(value, _of(one, Endpoint.METRICS).body.decode()).encode()

        return replace(run, rounds=tuple(_with(one, {Endpoint.METRICS: edited(one)}) for one in run.rounds))

    return fault


def _of(one: Round, endpoint: Endpoint) -> Sample:
    return next(sample for sample in one.samples if sample.endpoint is endpoint)


def _with(one: Round, bodies: Mapping[Endpoint, bytes]) -> Round:
    def told(samples: Iterable[Sample]) -> Iterable[Sample]:
        return (replace(one, body=bodies[one.endpoint]) if one.endpoint in bodies else one for one in samples)

    return replace(one, samples=tuple(told(one.samples)))
