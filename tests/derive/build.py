"""Small metrics answers for tests, in the server's own text."""

from __future__ import annotations

from collections.abc import Sequence

from apftop.join import view
from apftop.parse.metrics import parse_metrics
from apftop.records.raw import Endpoint, Sample
from apftop.records.view import View

PREFIX = "apiserver_flowcontrol_"
WAIT_BOUNDS = ("0", "0.005", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "15", "30")
UTILIZATION_BOUNDS = ("0", "0.5", "0.95", "0.99", "1")


def exposition(*lines: str, release: str = "v1.30.4", start: float | None = 1000.0) -> bytes:
    """A text answer; lines without a brace prefix get the flow control prefix."""
    head = [f'kubernetes_build_info{{git_version="{release}"}} 1'] if release else []
    head += [f"process_start_time_seconds {start}"] if start is not None else []
    return ("\n".join([*head, *(PREFIX + line for line in lines)]) + "\n").encode()


def series(name: str, value: float | str, **labels: str) -> str:
    inside = ",".join(f'{key}="{text}"' for key, text in labels.items())
    return f"{name}{{{inside}}} {value}"


def histogram(name: str, samples: list[float], bounds: tuple[str, ...] = WAIT_BOUNDS, **labels: str) -> list[str]:
    """A classic histogram of the samples as the server writes it."""
    lines = [
        series(f"{name}_bucket", sum(one <= float(bound) for one in samples), **labels, le=bound) for bound in bounds
    ]
    lines.append(series(f"{name}_bucket", len(samples), **labels, le="+Inf"))
    lines.append(series(f"{name}_sum", sum(samples), **labels))
    lines.append(series(f"{name}_count", len(samples), **labels))
    return lines


def dispatched(value: float, level: str = "load", schema: str = "load") -> str:
    return series("dispatched_requests_total", value, flow_schema=schema, priority_level=level)


def rejected(value: float, reason: str, level: str = "load", schema: str = "load") -> str:
    return series("rejected_requests_total", value, flow_schema=schema, priority_level=level, reason=reason)


def a_view(*lines: str, release: str = "v1.30.4", start: float | None = 1000.0) -> View:
    return view(parse_metrics(exposition(*lines, release=release, start=start), "text/plain"))


def a_sample(body: bytes, t: float | None, endpoint: Endpoint = Endpoint.METRICS, replica: str = "kas") -> Sample:
    return Sample(replica, endpoint, body, 200, sent=t, received=t)


def table(*rows: Sequence[object]) -> bytes:
    """A dump as the server lays it out: cells in columns, the last one not padded."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(8, *(len(row[at]) + 2 for row in cells)) for at in range(len(cells[0]))]
    lines = [
        "".join(f"{cell + ',':<{width}}" for cell, width in zip(row[:-1], widths, strict=False)) + row[-1]
        for row in cells
    ]
    return ("\n".join(lines) + "\n").encode()


LEVEL_COLUMNS = ("PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests")
COUNT_COLUMNS = ("DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests")
QUEUE_COLUMNS = (
    *("PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR"),
    *("InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum"),
)


def level_row(name: str, waiting: int = 0, executing: int = 0, *counts: int) -> tuple[object, ...]:
    """One row of dump_priority_levels; `counts` are dispatched, rejected, timed out and cancelled."""
    return (name, 0, "false", "false", waiting, executing, *counts)


def levels_dump(*rows: tuple[object, ...]) -> bytes:
    """dump_priority_levels of these rows; without counts as in 1.26."""
    counted = any(len(row) > len(LEVEL_COLUMNS) for row in rows)
    return table((*LEVEL_COLUMNS, *(COUNT_COLUMNS if counted else ())), *rows)


def queues_dump(*rows: tuple[object, ...]) -> bytes:
    return table(QUEUE_COLUMNS, *rows)
