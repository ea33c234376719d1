"""What of the state still holds: an answer is not shown as today's once its endpoint has failed to answer again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from apftop.records.frame import SampleAge
from apftop.records.parsed import Dump
from apftop.records.raw import Endpoint
from apftop.records.state import Read, ReplicaState
from apftop.rules import rules

AT_TIMES = (Endpoint.QUEUES, Endpoint.REQUESTS)
"""Dumps that are asked for only while somebody has need of them."""


def lately(state: ReplicaState) -> ReplicaState:
    """The state without dumps that are asked for no more, and without how they were answered then.

    What was not fetched about the time of the last question for the levels tells of another one. That something is
    denied lasts.
    """
    asked = state.outcomes.get(Endpoint.LEVELS)
    if asked is None:
        return state
    return replace(
        state,
        queues=state.queues if _together(_begun(state.queues), asked.at) else None,
        requests=state.requests if _together(_begun(state.requests), asked.at) else None,
        outcomes={
            endpoint: outcome
            for endpoint, outcome in state.outcomes.items()
            if endpoint not in AT_TIMES or _together(outcome.at, asked.at) or outcome.status in (403, 404)
        },
    )


def _begun(read: Read[Dump[Any]] | None) -> float | None:
    return read.begun if read else None


def _together(one: float | None, other: float | None) -> bool:
    """Whether two times are near each other, as far as is known; where a clock was set back, what was is later."""
    return one is None or other is None or abs(one - other) <= rules().window.outdated_s


def current(state: ReplicaState) -> ReplicaState:
    """The state without dumps that could not be read again, and without a pair of metrics that is over.

    The last metrics and objects stay, for limits and names, and are marked by `sample_ages`.
    """
    if not answers(state, Endpoint.METRICS):
        state = replace(state, metrics=state.metrics[-1:])
    if not answers(state, Endpoint.LEVELS):
        state = replace(state, levels=())
    if not answers(state, Endpoint.QUEUES):
        state = replace(state, queues=None)
    if not answers(state, Endpoint.REQUESTS):
        state = replace(state, requests=None)
    return state


def sample_ages(state: ReplicaState) -> dict[str, SampleAge]:
    """When each answer that is used was received, and whether its endpoint has failed since."""
    latest: dict[Endpoint, Read[object] | None] = {
        Endpoint.METRICS: state.metrics[-1] if state.metrics else None,
        Endpoint.LEVELS: state.levels[-1] if state.levels else None,
        Endpoint.QUEUES: state.queues,
        Endpoint.REQUESTS: state.requests,
        Endpoint.SCHEMAS: state.schemas,
        Endpoint.CONFIGS: state.configs,
    }
    return {
        endpoint.value: SampleAge(read.time, not answers(state, endpoint)) for endpoint, read in latest.items() if read
    }


def answers(state: ReplicaState, endpoint: Endpoint) -> bool:
    """Whether the last question to an endpoint, if any, was answered."""
    outcome = state.outcomes.get(endpoint)
    return outcome is None or (not outcome.error and outcome.status == 200)
