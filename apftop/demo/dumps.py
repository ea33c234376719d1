"""The three debug dumps of a simulated server, byte for byte in the layout of 1.29 to 1.37."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from apftop.demo.level import Level
from apftop.demo.request import Request

LEVEL_COLUMNS = (
    *("PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests"),
    *("DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests"),
)
QUEUE_COLUMNS = (
    *("PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR"),
    *("InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum"),
)
REQUEST_COLUMNS = (
    *("PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime"),
    *("InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime"),
)
DETAIL_COLUMNS = ("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")

_NEVER = "0001-01-01T00:00:00Z"
_LEAST_WIDTH = 8


def priority_levels(levels: Iterable[Level]) -> bytes:
    """dump_priority_levels; the levels are in the order of their names."""
    return _table([LEVEL_COLUMNS, *map(_level_row, levels)])


def queues(levels: Iterable[Level]) -> bytes:
    """dump_queues: one row for each queue, the empty ones too."""
    return _table([QUEUE_COLUMNS, *(row for level in levels for row in _queue_rows(level))])


def requests(levels: Iterable[Level], details: bool) -> bytes:
    """dump_requests: by queue those that wait, the head first, then those that execute; then those without a queue."""
    rows: list[Sequence[str]] = [(*REQUEST_COLUMNS, *DETAIL_COLUMNS) if details else REQUEST_COLUMNS]
    for level in levels:
        for request, index in _inside(level):
            row = _request_row(request, index)
            rows.append((*row, *_details(request)) if details else row)
    return _table(rows)


def _level_row(level: Level) -> Sequence[str]:
    held, tallies = level.queue_set, level.tallies.values()
    timed_out = sum(tally.rejected.get("time-out", 0) for tally in tallies)
    numbers = (
        held.waiting,
        len(held.executing),
        sum(tally.dispatched for tally in tallies),
        sum(count for tally in tallies for count in tally.rejected.values()),
        # Since 1.28.5 all that leave their queue unserved count as cancelled.
        0,
        timed_out,
    )
    idle = "false" if held.waiting or held.executing else "true"
    return level.name, str(held.active_queues), idle, "false", *map(str, numbers)


def _queue_rows(level: Level) -> Iterator[Sequence[str]]:
    for index, queue in enumerate(level.queue_set.queues):
        numbers = (index, len(queue.waiting), len(queue.executing), queue.seats_in_use)
        initial = sum(request.work.initial_seats for request in queue.waiting)
        widest = sum(request.work.width for request in queue.waiting)
        yield (
            level.name,
            *map(str, numbers),
            _seat_seconds(queue.next_dispatch_r),
            str(initial),
            str(widest),
            _seat_seconds(queue.waiting_work),
        )


def _inside(level: Level) -> Iterator[tuple[Request, int]]:
    """Requests with their index in their queue, -1 for those that execute."""
    for queue in level.queue_set.queues:
        yield from ((request, index) for index, request in enumerate(queue.waiting))
        yield from ((request, -1) for request in queue.executing)
    yield from ((request, -1) for request in level.queue_set.executing if request.queue < 0)


def _request_row(request: Request, index: int) -> Sequence[str]:
    place, work = request.place, request.work
    return (
        place.level,
        place.schema,
        str(request.queue),
        str(index),
        place.distinguisher,
        _instant(request.arrived_ns),
        str(work.initial_seats),
        str(work.final_seats),
        duration(work.additional_latency_ns),
        _NEVER if request.started_ns is None else _instant(request.started_ns),
    )


def _details(request: Request) -> Sequence[str]:
    to = request.target
    return request.user, to.verb, to.path, to.namespace, to.name, to.api_version, to.resource, to.subresource


def _seat_seconds(units: int) -> str:
    return f"{units // 100_000_000}.{units % 100_000_000:08d}ss"


def _instant(nanoseconds: int) -> str:
    """RFC 3339 in UTC; zeros at the end of the fraction are dropped."""
    seconds, part = divmod(nanoseconds, 1_000_000_000)
    fraction = f".{part:09d}".rstrip("0") if part else ""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + fraction + "Z"


def duration(nanoseconds: int) -> str:
    """A duration under a minute as Go writes it: `0s`, `5ms`, `833.333µs`, `1.5s`."""
    for unit, size in (("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000), ("ns", 1)):
        if nanoseconds >= size or not nanoseconds:
            whole, part = divmod(nanoseconds, size)
            digits = f".{part:0{len(str(size)) - 1}d}".rstrip("0") if part else ""
            return f"{whole}{digits}{unit}"
    raise ValueError(f"a duration below 0: {nanoseconds}")


def _table(rows: Sequence[Sequence[str]]) -> bytes:
    """Cells joined by a comma, each column but the last as wide as its longest cell with a comma and a blank."""
    columns = list(zip(*rows, strict=True))
    widths = [max(_LEAST_WIDTH, max(map(len, column)) + 2) for column in columns[:-1]]
    cells: list[str] = []
    for row in rows:
        cells += [f"{cell},".ljust(width) for cell, width in zip(row, widths, strict=False)]
        cells.append(f"{row[-1]}\n")
    return "".join(cells).encode()
