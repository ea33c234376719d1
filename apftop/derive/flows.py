"""Who fills a level: requests of one dump by flow, user and kind."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from apftop.apf.objects import PriorityLevelConfiguration
from apftop.apf.shards import hand_fault
from apftop.derive.dealt import hand_of
from apftop.records.frame import Flow, Request
from apftop.rules import rules


def flows(
    rows: Iterable[Request], configs: Mapping[str, PriorityLevelConfiguration], *, lists_executing: bool
) -> tuple[Flow, ...]:
    """The flows of a dump without this tool's own requests, most waiting requests plus executing seats first."""
    by_level: dict[str, list[Request]] = defaultdict(list)
    for row in rows:
        if not row.own:
            by_level[row.level].append(row)
    groups: dict[tuple[str, str, str], list[Request]] = defaultdict(list)
    for level, inside in by_level.items():
        flowless = tells_no_flows_apart(inside, configs.get(level))
        for row in inside:
            groups[level, row.schema, flow_name(row, flowless=flowless)].append(row)
    found = [_flow(key, group, configs.get(key[0]), lists_executing) for key, group in groups.items()]
    found.sort(key=lambda flow: (-(flow.waiting + (flow.seats or 0)), flow.level, flow.schema, flow.flow))
    return _with_collisions(found)


def flow_name(row: Request, *, flowless: bool) -> str:
    """The flow of a request: its distinguisher, or its user on a level that tells no flows apart."""
    return (row.user or "") if flowless else row.distinguisher


class Placed(Protocol):
    """A request as far as its queue and its flow."""

    @property
    def queue(self) -> int: ...
    @property
    def distinguisher(self) -> str: ...


def tells_no_flows_apart(rows: Iterable[Placed], config: PriorityLevelConfiguration | None) -> bool:
    """Whether a level has at most one queue: then the server computes no distinguisher for its requests (`rows`)."""
    if config is not None:
        return config.queuing is None or config.queuing.queues <= 1
    return all(row.queue <= 0 and not row.distinguisher for row in rows)


def _flow(
    key: tuple[str, str, str], group: list[Request], config: PriorityLevelConfiguration | None, lists_executing: bool
) -> Flow:
    level, schema, name = key
    kinds = Counter(row.kind for row in group if row.kind)
    top = kinds.most_common(1)[0][0] if kinds else None
    first = next((row for row in group if row.kind == top), None) if top else None
    executing = [row for row in group if row.executing]
    return Flow(
        schema=schema,
        flow=name,
        level=level,
        waiting=len(group) - len(executing),
        executing=len(executing) if lists_executing else None,
        seats=sum(row.width for row in executing) if lists_executing else None,
        verb=first.verb if first else None,
        resource=_resource(first) if first else None,
        by_kind=dict(kinds.most_common()),
        hand=_hand(group, config),
        collides_with=(),
    )


def _resource(row: Request) -> str | None:
    if row.resource and row.subresource:
        return f"{row.resource}/{row.subresource}"
    return row.resource or row.path


def _hand(group: list[Request], config: PriorityLevelConfiguration | None) -> tuple[int, ...] | None:
    if config is None:
        # A queue index shows that there are queues; which of them the flow may use is not known.
        return None if any(row.queue >= 0 for row in group) else ()
    if config.queuing is None:
        return ()
    if hand_fault(config.queuing.queues, config.queuing.hand_size):
        # No server has such a level: the object is not the one that was in force.
        return None
    return hand_of(group[0], config.queuing)


def _with_collisions(found: list[Flow]) -> tuple[Flow, ...]:
    """Name, for the heaviest flows of each level, those of them that may share a queue."""
    compared: dict[str, list[Flow]] = defaultdict(list)
    for flow in found:
        if flow.hand and len(compared[flow.level]) < rules().flows.compared:
            compared[flow.level].append(flow)
    shared: dict[int, tuple[str, ...]] = {}
    for group in compared.values():
        hands = [(flow, frozenset(flow.hand or ())) for flow in group]
        for flow, mine in hands:
            shared[id(flow)] = tuple(other.flow for other, theirs in hands if other is not flow and mine & theirs)
    return tuple(replace(flow, collides_with=shared[id(flow)]) if id(flow) in shared else flow for flow in found)


def waiting_by(rows: Iterable[Request], what: str) -> dict[str, int]:
    """Waiting requests by `user` or `kind`, most first."""
    return dict(Counter(getattr(row, what) for row in rows if not row.executing and getattr(row, what)).most_common())


def executing_seats_by(rows: Iterable[Request], what: str) -> dict[str, int]:
    """Seats of executing requests by `user` or `kind`, most first."""
    seats: Counter[str] = Counter()
    for row in rows:
        if row.executing and getattr(row, what):
            seats[getattr(row, what)] += row.width
    return dict(seats.most_common())
