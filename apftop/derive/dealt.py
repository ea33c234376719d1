"""The hand of a request's flow: dealt by its names, or as it was kept where these are pseudonyms."""

from __future__ import annotations

from typing import Protocol

from apftop.apf.objects import Queuing
from apftop.apf.shards import flow_hash, hand, undealt
from apftop.records.parsed import KeptHands


class Named(Protocol):
    """A request as far as its flow."""

    @property
    def schema(self) -> str: ...
    @property
    def distinguisher(self) -> str: ...
    @property
    def kept(self) -> KeptHands | None: ...


def hand_of(row: Named, queuing: Queuing) -> tuple[int, ...] | None:
    """The queues that the flow may use, in the order dealt; None where names are pseudonyms and it was not kept.

    Raises ValueError for a hand that cannot be dealt.
    """
    if row.kept is None or queuing.queues <= 1:
        return hand(row.schema, row.distinguisher, queuing.queues, queuing.hand_size)
    return row.kept.hands.get((row.schema, row.distinguisher, queuing.queues, queuing.hand_size))


def hash_of(row: Named, queuing: Queuing | None) -> int | None:
    """A hash of the flow: its own, or one with the same hand where its names are pseudonyms; None as `hand_of`."""
    if row.kept is None or queuing is None or queuing.queues <= 1:
        return flow_hash(row.schema, row.distinguisher)
    kept = hand_of(row, queuing)
    return None if kept is None else undealt(kept, queuing.queues)
