"""The bookkeeping of a state: all of it that is not the content of an answer, which a tape cannot tell from samples.

Samples from before a segment give the content again (`kept.keep` says which are needed); counts of all requests so far,
how endpoints failed and how answers came are written down with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from apftop.live import fold
from apftop.records.raw import Endpoint, Sample
from apftop.records.state import Outcome, OwnAnswer, ReplicaState, State, Transfer


class _Came(msgspec.Struct, frozen=True):
    endpoint: Endpoint
    named: bool
    transfers: tuple[Transfer, ...]


class Books(msgspec.Struct, frozen=True, omit_defaults=True):
    """Of one replica; the fields are those of ReplicaState."""

    name: str
    outcomes: Mapping[Endpoint, Outcome] = {}
    own: tuple[OwnAnswer, ...] = ()
    own_sent: int = 0
    own_refused: int = 0
    failures: Mapping[Endpoint, str] = {}
    federated: bool = False
    bytes_received: int = 0
    peer: str = ""
    came: tuple[_Came, ...] = ()
    problems: tuple[str, ...] = ()


def books(state: State) -> bytes:
    """The bookkeeping of all replicas, in their order."""
    return msgspec.msgpack.encode([_of(one) for one in state.replicas.values()])


def opened(data: bytes, carried: Sequence[Sample]) -> State:
    """The state that had these books and stood on these samples. Raises MsgspecError for what are no books."""
    kept = msgspec.msgpack.decode(data, type=list[Books])
    content = fold(carried).replicas
    return State({one.name: _with(content.get(one.name, ReplicaState(one.name)), one) for one in kept})


def _of(one: ReplicaState) -> Books:
    return Books(
        one.name,
        one.outcomes,
        one.own,
        one.own_sent,
        one.own_refused,
        one.failures,
        one.federated,
        one.bytes_received,
        one.peer,
        tuple(_Came(endpoint, named, them) for (endpoint, named), them in one.transfers.items()),
        one.problems,
    )


def _with(one: ReplicaState, its: Books) -> ReplicaState:
    return replace(
        one,
        outcomes=its.outcomes,
        own=its.own,
        own_sent=its.own_sent,
        own_refused=its.own_refused,
        failures=its.failures,
        federated=its.federated,
        bytes_received=its.bytes_received,
        peer=its.peer,
        transfers={(came.endpoint, came.named): came.transfers for came in its.came},
        problems=its.problems,
    )
