"""The queues of a level: rows of dump_queues, joined with who is in them by dump_requests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection

from apftop.derive.evidence import Evidence
from apftop.derive.flows import flow_name, tells_no_flows_apart
from apftop.records.frame import NextDispatch, Queue, Request

SEAT_SECOND = 1e8
"""How many of its units of R and work a dump counts for one seat-second (1.26 to 1.37)."""


def queues(
    evidence: Evidence, level: str, inside: Collection[Request], head: NextDispatch | None
) -> tuple[Queue, ...] | None:
    """The queues of one level, empty ones too; `inside` are its requests. None without a dump of queues."""
    if evidence.queues is None:
        return None
    flowless = tells_no_flows_apart(inside, (evidence.configs or {}).get(level))
    names: dict[int, Counter[str]] = defaultdict(Counter)
    oldest: dict[int, float] = {}
    for row in inside:
        names[row.queue][flow_name(row, flowless=flowless)] += 1
        if not row.executing and row.age_s is not None:
            oldest[row.queue] = max(row.age_s, oldest.get(row.queue, row.age_s))
    return tuple(
        Queue(
            level=level,
            index=row.index,
            waiting=row.pending,
            executing=row.executing,
            seats_in_use=row.seats_in_use,
            waiting_seats=row.max_seats_sum,
            next_dispatch_r=row.next_dispatch_r / SEAT_SECOND,
            work=row.total_work / SEAT_SECOND,
            next=head is not None and head.queue == row.index,
            flows=tuple(name for name, _ in names[row.index].most_common()) if evidence.requests is not None else None,
            oldest_waiting_s=oldest.get(row.index),
        )
        for row in evidence.queues.get(level, ())
    )
