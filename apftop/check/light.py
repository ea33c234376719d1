"""Flows that ask for little, beside the one that asks for most."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass
from statistics import fmean

from apftop.check.choices import most_seats
from apftop.check.window import Instant
from apftop.records.checks import RequestKey
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import RequestRow
from apftop.rules import rules

Flow = tuple[str, str]
"""Schema and distinguisher."""


@dataclass(frozen=True, slots=True)
class Beside:
    """How long requests of light flows have waited, and those of the heaviest flow: means in seconds.

    `light` counts the former, in so many `dumps`; without any the rest is not told. `depth` is how many requests of the
    heaviest flow wait in that of its queues which has fewest, on average over the dumps; 0 where any has none.
    """

    heaviest: Flow
    light: int
    dumps: int
    light_s: float | None
    heavy_s: float | None
    depth: float


def beside(instants: Sequence[Instant]) -> Beside | None:
    """The light flows of some dumps beside the heaviest, each request once, as last seen; None where nobody waits.

    A flow is light if it has few seats beside the heaviest. Of its requests only those count whose queue only light
    flows use: one that is shared with a heavy flow has to wait its turn, and so has one that executes for as long.
    """
    rule = rules().check.fairness
    seats: dict[Flow, int] = defaultdict(int)
    waiting: dict[Flow, int] = defaultdict(int)
    for one in instants:
        for row in one.rows or ():
            flow = _flow(row)
            seats[flow] += row.width
            waiting[flow] += 0 if row.executing else row.width
    if not any(waiting.values()):
        return None
    heaviest = max(seats, key=lambda flow: (waiting[flow], seats[flow], flow))
    light = {flow for flow in seats if flow != heaviest and seats[flow] <= rule.light_share * seats[heaviest]}
    queues = _queues_of(instants, light)
    if not queues:
        return Beside(heaviest, 0, 0, None, None, 0.0)
    most, last = most_seats(instants), _last_seen(instants)
    lights = [
        (wait_s, dump)
        for row, wait_s, dump in last
        if row.queue in queues and most[row.queue] <= rule.light_seats * row.width
    ]
    heavies = [wait_s for row, wait_s, _ in last if _flow(row) == heaviest]
    depths = [_depth(one, heaviest) for one in instants]
    return Beside(
        heaviest=heaviest,
        light=len(lights),
        dumps=len({dump for _, dump in lights}),
        light_s=fmean(wait_s for wait_s, _ in lights) if lights else None,
        heavy_s=fmean(heavies) if heavies else None,
        depth=fmean(depths) if all(depths) else 0.0,
    )


def _flow(row: RequestRow) -> Flow:
    return row.schema, row.distinguisher


def _queues_of(instants: Sequence[Instant], light: Set[Flow]) -> Set[int]:
    """The queues that only light flows use; none where they are charged as much for what executes as the others are.

    That is by how long it has executed, for each queue.
    """
    seat_s: dict[bool, float] = {True: 0.0, False: 0.0}
    queues: dict[bool, set[int]] = {True: set(), False: set()}
    for one in instants:
        for row in one.rows or ():
            of_light = _flow(row) in light
            queues[of_light].add(row.queue)
            if row.start_ns is not None and one.dump_s is not None:
                seat_s[of_light] += row.width * (one.dump_s - row.start_ns / NANOSECONDS)
    share = rules().check.fairness.light_share
    own = queues[True] - queues[False]
    little = seat_s[True] * len(queues[False]) <= share * seat_s[False] * len(own)
    return own if little else frozenset()


def _last_seen(instants: Sequence[Instant]) -> list[tuple[RequestRow, float, int]]:
    """Each request as the last dump shows it, how long it had waited by then, and which dump that is."""
    found: dict[RequestKey, tuple[RequestRow, float, int]] = {}
    for number, one in enumerate(instants):
        for row in one.rows or ():
            until = one.dump_s if row.start_ns is None else row.start_ns / NANOSECONDS
            if until is not None:
                wait_s = until - row.arrive_ns / NANOSECONDS
                found[row.key] = row, wait_s, number
    return list(found.values())


def _depth(one: Instant, flow: Flow) -> int:
    """How many requests of a flow wait in that of its queues which has fewest; 0 where none waits."""
    waiting: dict[int, int] = defaultdict(int)
    for row in one.waiting or ():
        if _flow(row) == flow:
            waiting[row.queue] += 1
    return min(waiting.values(), default=0)
