"""The three debug dumps of a simulated server, byte for byte in the layout of 1.29 to 1.37."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from apftop.apf.classify import flow_distinguisher
from apftop.apf.queue import Queue
from apftop.demo.level import Level
from apftop.demo.request import Request
from apftop.demo.server import Server

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


def priority_levels(server: Server) -> bytes:
    """dump_priority_levels; the levels are in the order of their names."""
    return _table([LEVEL_COLUMNS, *map(_level_row, server.levels.values())])


def queues(server: Server) -> bytes:
    """dump_queues: one row for each queue, the empty ones too."""
    return _table([QUEUE_COLUMNS, *(row for level in server.levels.values() for row in _queue_rows(level))])


def requests(server: Server, details: bool) -> bytes:
    """dump_requests: by queue those that wait, the head first, then those that execute; then those without a queue."""
    rows: list[Sequence[str]] = [(*REQUEST_COLUMNS, *DETAIL_COLUMNS) if details else REQUEST_COLUMNS]
    for level in server.levels.values():
        for request, index in _inside(level):
            row = _request_row(server, level, request, index)
            rows.append((*row, *_details(request)) if details else row)
    return _table(rows)


def _level_row(level: Level) -> Sequence[str]:
    held, tallies = level.queue_set, level.tallies.values()
    timed_out = sum(tally.rejected.get("time-out", 0) for tally in tallies)
    numbers = (
        held.waiting,
        held.executing,
        sum(tally.dispatched for tally in tallies),
        sum(count for tally in tallies for count in tally.rejected.values()),
        # Since 1.28.5 all that leave their queue unserved count as cancelled.
        0,
        timed_out,
    )
    # The column counts the queues in which something waits.
    active = sum(1 for queue in held.queues if queue.waiting)
    return level.name, str(active), "true" if held.idle else "false", "false", *map(str, numbers)


def _queue_rows(level: Level) -> Iterator[Sequence[str]]:
    for queue in level.queue_set.queues:
        held = queue.state()
        numbers = (held.index, held.waiting, held.executing, held.seats_in_use)
        yield (
            level.name,
            *map(str, numbers),
            _seat_seconds(held.next_dispatch_r),
            str(held.initial_seats_sum),
            str(held.max_seats_sum),
            _seat_seconds(held.total_work),
        )


def _inside(level: Level) -> Iterator[tuple[Request, int]]:
    """Requests with their index in their queue, -1 for those that execute."""
    started: dict[Queue[Any] | None, list[Request]] = {}
    for request in level.executing:
        started.setdefault(request.queue, []).append(request)
    for queue in level.queue_set.queues:
        yield from ((request, index) for index, request in enumerate(queue.waiting))
        yield from ((request, -1) for request in started.get(queue, ()))
    yield from ((request, -1) for request in started.get(None, ()))


def _request_row(server: Server, level: Level, request: Request, index: int) -> Sequence[str]:
    schema, queue = server.schemas[request.schema], request.queue
    queued = level.model.config.queuing is not None and level.model.config.queuing.queues > 1
    return (
        level.name,
        schema.name,
        str(-1 if queue is None else queue.index),
        str(index),
        flow_distinguisher(schema, request.attributes) if queued else "",
        _instant(request.arrive_ns + server.skipped_ns),
        str(request.initial_seats),
        str(request.final_seats),
        duration(request.additional_latency_ns),
        _NEVER if request.state == "waiting" else _instant(request.start_ns + server.skipped_ns),
    )


def _details(request: Request) -> Sequence[str]:
    sent = request.attributes
    what = sent.api_version, sent.resource, sent.subresource
    return sent.user, sent.verb, sent.path, sent.namespace, sent.name, *what


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
