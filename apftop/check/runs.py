"""What is to be simulated: runs of levels where requests waited, each from a dump to the metrics after the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from apftop.apf.estimate import WorkEstimate
from apftop.apf.forecast import Trial
from apftop.apf.objects import Queuing
from apftop.apf.release import holds
from apftop.apf.resume import SeenLevel, SeenQueue, SeenRequest
from apftop.apf.service_times import ServiceTimes
from apftop.apf.shards import flow_hash
from apftop.apf.traffic import Sample, Traffic
from apftop.check.point import Point, Track
from apftop.check.window import Instant, instant, rise
from apftop.records.checks import RequestKey
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import Histogram, RequestRow

Kind = Literal["waits", "starts"]
WAITED_NS = 50e6
GAP_NS = 10_000_000
HISTORY_NS = 10 * 10**9


@dataclass(frozen=True, slots=True)
class Job:
    replica: str
    level: str
    kind: Kind
    number: int
    trial: Trial
    keys: tuple[RequestKey, ...] = ()


def jobs(replica: str, track: Track) -> list[Job]:
    found = []
    if len(track.points) < 2:
        return []
    first, last = track.points[-2:]
    for name in sorted(first.levels.keys() & last.levels.keys() & last.live):
        before, after = instant(name, first, track.born), instant(name, last, track.born)
        if not waited(before, after):
            continue
        trial = interval(replica, name, before, after, track.points)
        if isinstance(trial, Trial):
            found.append(Job(replica, name, "waits", last.number, trial))
    return found


def waited(before: Instant, after: Instant) -> bool:
    found = rise(before, after, "waiting_time")
    if found is None or not found.bounds or found.bounds[0] != 0:
        return False
    return found.count - found.cumulative[0] > WAITED_NS


def interval(replica: str, name: str, a: Instant, b: Instant, points: Sequence[Point]) -> Trial | str:
    """The trial of an interval, or why there is none."""
    config = a.point.configs.get(name) if a.point.configs else None
    if config is None:
        return "the level's object is not known"
    if config.queuing is None:
        return "no queues"
    if a.rows is None or a.dump_s is None:
        return "no dump of requests next to the metrics"
    if a.executing is None:
        return "the dump of requests leaves out those that execute (up to 1.27)"
    if a.metrics_s is None or b.metrics_s is None:
        return "no moment of metrics"
    if a.level.current is None or b.level.current is None:
        return "the current limit is not known"
    if b.metrics_s - max(a.metrics_s, a.dump_s) <= 0:
        return "clock"
    execution = rise(a, b, "execution")
    if execution is None or execution.count == 0:
        return "no execution was counted"
    traffic = _traffic(a, b, execution, points)
    if isinstance(traffic, str):
        return traffic
    at_ns, from_ns, until_ns = (round(s * NANOSECONDS) for s in (a.dump_s, a.metrics_s, b.metrics_s))
    seen = _seen(a, config.queuing, at_ns, a.rows)
    if isinstance(seen, str):
        return seen
    then = int(b.level.current)
    return Trial(
        seen,
        traffic,
        max(from_ns, at_ns),
        until_ns,
        f"{replica}/{name}/{at_ns}",
        limit_then=None if then == seen.limit else then,
    )


def _arrivals(a: Instant, b: Instant) -> int:
    widths = rise(a, b, "widths")
    if widths is not None:
        return widths.count
    queued = (b.level.waiting or 0) - (a.level.waiting or 0)
    return max(
        0, round(b.level.dispatched - a.level.dispatched + b.level.rejected_total - a.level.rejected_total + queued)
    )


def _traffic(a: Instant, b: Instant, execution: Histogram, points: Sequence[Point]) -> Traffic | str:
    count = _arrivals(a, b)
    seconds = b.metrics_s - a.metrics_s
    span = b.metrics_s - a.dump_s
    rows = history(a_name(a, b), points)
    if not rows:
        return "no request seen"
    return Traffic(
        count=round(count * span / seconds),
        samples=[_sample(row) for row in rows],
        service=service(execution),
        batches=batches(rows),
        wait_limit_ns=wait_limit_ns(a, b),
    )


def a_name(a, b):
    for name, level in b.point.levels.items():
        if level is b.level:
            return name


def service(execution: Histogram) -> ServiceTimes:
    counts = [b - a for a, b in zip((0, *execution.cumulative), execution.cumulative)]
    return ServiceTimes(
        [round(x * NANOSECONDS) for x in execution.bounds], counts, execution.sum / execution.count * NANOSECONDS
    )


def history(name: str, points: Sequence[Point]) -> list[RequestRow]:
    rows = {}
    for point in points:
        for row in point.rows(name) or ():
            rows[(row.arrive_ns, row.schema, row.distinguisher, row.details.user if row.details else "", row.queue)] = (
                row
            )
    return sorted(rows.values(), key=lambda r: r.arrive_ns)


def batches(rows: Sequence[RequestRow]) -> tuple[int, ...]:
    sizes = []
    last = None
    for row in rows:
        if last is not None and row.arrive_ns - last < GAP_NS:
            sizes[-1] += 1
        else:
            sizes.append(1)
        last = row.arrive_ns
    return tuple(sizes)


def _sample(row: RequestRow) -> Sample:
    return Sample(_cost(row), flow_hash(row.schema, row.distinguisher))


def _cost(row: RequestRow) -> WorkEstimate:
    return WorkEstimate(row.initial_seats, row.final_seats, row.additional_latency_ns)


def wait_limit_ns(a: Instant, b: Instant) -> int | None:
    timed = b.level.rejected.get("time-out", 0) - a.level.rejected.get("time-out", 0)
    waits = rise(a, b, "waits")
    if timed <= 0 or waits is None:
        timed = b.level.rejected.get("time-out", 0)
        waits = b.level.waits
        if timed <= 0 or waits is None:
            return 15 * 10**9
    counts = [y - x for x, y in zip((0, *waits.cumulative), waits.cumulative)]
    edges = [0.0, *waits.bounds, 60.0]
    top = max((i for i, c in enumerate(counts) if c), default=0)
    if not top:
        return 15 * 10**9
    low, high = edges[top], edges[top + 1]
    rest = sum(c * (lo + hi) / 2 for c, lo, hi in zip(counts[:top], edges, edges[1:]))
    m = min(timed, counts[top])
    other = counts[top] - m
    limit = (waits.sum - rest - other * low / 2) / (m + other / 2)
    return round(min(max(limit, low), high) * NANOSECONDS)


def _seen(a: Instant, queuing: Queuing, at_ns: int, rows: Sequence[RequestRow]) -> SeenLevel | str:
    limit = int(a.level.current)
    requests = [
        SeenRequest(r.queue, r.arrive_ns, r.start_ns, _cost(r), flow_hash(r.schema, r.distinguisher))
        for r in sorted(rows, key=lambda r: (r.queue, r.index if r.index >= 0 else 1 << 40))
    ]
    name = next((r.level for r in rows), None)
    shown = (a.point.queue_rows or {}).get(name) if name else None
    r = int((a.level.progress_r or 0.0) * 1e8)
    seats = {}
    for row in rows:
        if row.executing:
            seats[row.queue] = seats.get(row.queue, 0) + row.width
    active = len({row.queue for row in rows if row.queue >= 0})
    want = sum(row.width for row in rows)
    if active and a.lag_s is not None:
        r = max(0, r - int(min(want, limit) / active * a.lag_s * 1e8))
    if shown and len(shown) >= queuing.queues:
        queues = [SeenQueue(q.next_dispatch_r, seats.get(q.index, 0)) for q in shown]
    else:
        queues = [SeenQueue(r, seats.get(i, 0)) for i in range(queuing.queues)]
    if any(row.queue >= len(queues) for row in rows):
        return "a row lies in a queue that the level does not have"
    lazy = 15 * 10**9 if a.point.release and not holds(a.point.release, (">=1.28.5",)) else None
    return SeenLevel(at_ns, queuing, limit, r, queues, requests, lazy_limit_ns=lazy)
