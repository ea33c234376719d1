"""What has changed in the objects of APF, once for each change, whichever server showed it first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from apftop.apf.objects import FlowSchema, Meta, PriorityLevelConfiguration
from apftop.records.frame import Frame, Replica
from apftop.records.raw import Endpoint

Made = FlowSchema | PriorityLevelConfiguration
KINDS = {Endpoint.SCHEMAS: "FlowSchema", Endpoint.CONFIGS: "PriorityLevelConfiguration"}

TOLD_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Objects:
    """What each server showed last, by name, and the changes that were told of, oldest first.

    Servers learn of a change one after the other: each is compared with what itself has shown before.
    """

    shown: Mapping[tuple[str, Endpoint], Mapping[str, Made]] = field(default_factory=dict)
    told: tuple[tuple[object, ...], ...] = ()


def changes(before: Objects, frame: Frame) -> tuple[Objects, tuple[str, ...]]:
    """A line for each object that was made, changed or deleted since then."""
    shown, told, lines = dict(before.shown), dict.fromkeys(before.told), []
    for replica in frame.servers:
        for endpoint, kind in KINDS.items():
            now = _objects(replica, endpoint)
            if now is None:
                continue
            was = shown.get((replica.name, endpoint), now)
            shown[replica.name, endpoint] = now
            for name in sorted({*was, *now}):
                old, new = was.get(name), now.get(name)
                change = (kind, name, *_named(old, new))
                if (old is None or new is None or _spec(old) != _spec(new)) and change not in told:
                    told[change] = None
                    lines.append(f"{kind} {name} {_how(old, new)}")
    return Objects(shown, tuple(told)[-TOLD_KEPT:]), tuple(lines)


def _objects(replica: Replica, endpoint: Endpoint) -> dict[str, Made] | None:
    """What a server shows now; None where it may not be read, or could not be read again."""
    told = replica.samples.get(endpoint)
    if told is None or told.stale:
        return None
    some = replica.schemas if endpoint is Endpoint.SCHEMAS else replica.levels
    return {one.name: one.config for one in some.values() if one.config is not None}


def _named(old: Made | None, new: Made | None) -> tuple[object, ...]:
    """The same for one change on all servers."""
    if new is None:
        return "deleted", old.meta.uid if old is not None else ""
    if old is None:
        return "made", new.meta.uid
    return "changed", new.meta.uid, new.meta.generation, _spec(new)


def _spec(one: Made) -> Made:
    return replace(one, meta=Meta(""), conditions=())


def _how(old: Made | None, new: Made | None) -> str:
    if old is None:
        return "was made"
    if new is None:
        return "was deleted"
    found = dict(_fields(old))
    return "was changed: " + ", ".join(
        f"{name} {found.get(name, 'none')} -> {value}" if name != "rules" else "other rules"
        for name, value in _fields(new)
        if found.get(name) != value
    )


def _fields(one: Made) -> Iterator[tuple[str, object]]:
    """What a spec says, in words."""
    if isinstance(one, FlowSchema):
        yield "priority level", one.priority_level
        yield "precedence", one.precedence
        yield "distinguisher", one.distinguisher or "none"
        yield "rules", one.rules
        return
    queuing = one.queuing
    yield "type", "Exempt" if one.exempt else "Limited"
    yield "shares", one.shares
    yield "lendable", f"{one.lendable_percent} %"
    yield "borrowing limit", "none" if one.borrowing_limit_percent is None else f"{one.borrowing_limit_percent} %"
    yield "queues", queuing.queues if queuing is not None else "none"
    yield "hand size", queuing.hand_size if queuing is not None else "none"
    yield "queue length limit", queuing.queue_length_limit if queuing is not None else "none"
