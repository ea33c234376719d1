"""Which waiting request its level would start next, and whether it fits: the head-of-line rule of APF."""

from __future__ import annotations

from collections.abc import Iterable

from apftop.apf.work import total_work
from apftop.records.frame import NextDispatch
from apftop.records.parsed import QueueRow, RequestRow


def next_to_dispatch(
    level: str, queues: Iterable[QueueRow], rows: Iterable[RequestRow], current: float | None
) -> NextDispatch | None:
    """The head with the least virtual finish (queue's next dispatch R plus the head's total work).

    None where nothing waits or the queues are not known. The server considers this head only: if it does not fit,
    nothing starts, although narrower requests would fit (1.26 to 1.37). Equal finishes are decided by the server's
    round robin, which no dump shows; the lowest index is named.
    """
    start = {row.index: row for row in queues if row.level == level}
    heads = [row for row in rows if row.level == level and row.index == 0 and row.queue in start]
    if not heads:
        return None

    def finish(row: RequestRow) -> tuple[int, int]:
        work = total_work(row.initial_seats, row.final_seats, row.additional_latency_ns)
        return start[row.queue].next_dispatch_r + work, row.queue

    head = min(heads, key=finish)
    in_use = sum(row.seats_in_use for row in start.values())
    executing = sum(row.executing for row in start.values())
    details = head.details
    return NextDispatch(
        queue=head.queue,
        user=details.user if details else head.distinguisher,
        verb=details.verb if details else "",
        resource=(details.resource or details.path) if details else "",
        seats=head.width,
        idle=None if current is None else max(0.0, current - in_use),
        fits=_fits(head.width, in_use, executing, current),
    )


def _fits(width: int, in_use: int, executing: int, current: float | None) -> bool | None:
    if current is None:
        return None
    if in_use >= current:
        return False
    return executing == 0 if width > current else in_use + width <= current
