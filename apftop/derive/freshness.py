"""What of the state still holds: an answer is not shown as today's once its endpoint has failed to answer again."""

from __future__ import annotations

from dataclasses import replace

from apftop.records.frame import SampleAge
from apftop.records.raw import Endpoint
from apftop.records.state import Read, ReplicaState


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
