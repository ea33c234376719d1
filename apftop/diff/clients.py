"""Who grew: flows by the seats that they take and the requests that wait, over the servers that tell on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from apftop.diff.bounds import Spot, momentary
from apftop.diff.change import Change
from apftop.diff.pairs import Pairs
from apftop.records.frame import Replica

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Clients:
    """Flows by level, schema and flow, as (waiting, seats); seats are None where dumps lack what executes."""

    flows: Mapping[Key, tuple[float, float | None]]
    seats_known: bool


def clients_of(servers: Sequence[Replica]) -> Clients:
    """The flows of servers that all have a dump of requests."""
    seats_known = all(one.lists_executing for one in servers)
    found: dict[Key, tuple[float, float | None]] = {}
    for flow in (flow for one in servers for flow in one.flows):
        waiting, seats = found.get((flow.level, flow.schema, flow.flow), (0.0, 0.0 if seats_known else None))
        more = None if seats is None or flow.seats is None else seats + flow.seats
        found[flow.level, flow.schema, flow.flow] = waiting + flow.waiting, more
    return Clients(found, seats_known)


def client_changes(pairs: Pairs) -> Iterator[Change]:
    """The seats and the waiting requests of each flow; one that is in no dump of a side has none there.

    A server without a dump on one of the sides is left out of both: quiet ones are not asked for it.
    """
    telling = [group for group in pairs.groups if _tells(group.old) and _tells(group.new)]
    for group in pairs.groups:
        sides = [side for side, of in (("before", group.old), ("after", group.new)) if not _tells(of)]
        if len(sides) == 1:
            note = f"no dump of requests {sides[0]}: who was in its levels is not compared"
            yield Change("clients", "flows", "unknown", replica=group.name, note=note)
    was = clients_of([one for group in telling for one in group.old])
    now = clients_of([one for group in telling for one in group.new])
    nobody_then, nobody_now = ((0.0, 0.0 if one.seats_known else None) for one in (was, now))
    for key in sorted({*was.flows, *now.flows}):
        level, schema, flow = key
        spot = Spot("clients", "", level, f"{schema}: {flow}" if flow else schema)
        before, after = was.flows.get(key, nobody_then), now.flows.get(key, nobody_now)
        yield momentary(spot, "waiting", before[0], after[0], "requests")
        yield momentary(spot, "seats", before[1], after[1], "seats")


def _tells(servers: Sequence[Replica]) -> bool:
    return bool(servers) and all(one.requests is not None for one in servers)
