"""The samples that the content of a state comes from: with its books they give the state again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from apftop.records.raw import Sample
from apftop.records.state import ReplicaState, State

SLOTS = ("metrics", "levels", "behind", "queues", "requests", "schemas", "configs", "leases")
"""The fields of ReplicaState that hold what answers say; `callbacks` has one for each endpoint."""

PAIRS = ("metrics", "levels", "behind")
"""Of these the last two answers are held, of the others one."""


class Numbered(NamedTuple):
    """A sample, and how many were taken in before it."""

    number: int
    sample: Sample


Carry = Mapping[tuple[str, str], tuple[Numbered, ...]]
"""By replica and slot, the samples whose content stands there, in order."""


def carried(carry: Carry, one: Numbered, before: State, after: State) -> Carry:
    """The carry after one more sample, which has made of one state the other; what the state forgot is forgotten.

    One answer with several servers in it stands in for each of them, and is carried once for each.
    """
    moved = [name for name, state in after.replicas.items() if before.replicas.get(name) is not state]
    # Servers are also forgotten between two samples.
    found = {key: numbered for key, numbered in carry.items() if key[0] in before.replicas and key[0] in after.replicas}
    for name in moved:
        was, now = _slots(before.replicas.get(name)), _slots(after.replicas[name])
        for slot, content in now.items():
            if content is was.get(slot):
                continue
            if content is None or content == ():
                found.pop((name, slot), None)
            else:
                most = len(content) if slot in PAIRS else 1
                found[name, slot] = (*found.get((name, slot), ()), one)[-most:]
    return found


def in_order(carry: Carry) -> tuple[Sample, ...]:
    """All samples of a carry once, in the order in which they were taken in."""
    once = {one.number: one.sample for numbered in carry.values() for one in numbered}
    return tuple(once[number] for number in sorted(once))


def _slots(one: ReplicaState | None) -> dict[str, Any]:
    if one is None:
        return {}
    return {slot: getattr(one, slot) for slot in SLOTS} | {
        f"callbacks {endpoint}": read for endpoint, read in one.callbacks.items()
    }
