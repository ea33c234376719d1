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
    if _failed(state, Endpoint.METRICS):
        state = replace(state, metrics=state.metrics[-1:])
    if _failed(state, Endpoint.LEVELS):
        state = replace(state, levels=())
    if _failed(state, Endpoint.QUEUES):
        state = replace(state, queues=None)
    if _failed(state, Endpoint.REQUESTS):
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
    return {endpoint.value: SampleAge(read.time, _failed(state, endpoint)) for endpoint, read in latest.items() if read}


def _failed(state: ReplicaState, endpoint: Endpoint) -> bool:
    outcome = state.outcomes.get(endpoint)
    return outcome is not None and (bool(outcome.error) or outcome.status != 200)
