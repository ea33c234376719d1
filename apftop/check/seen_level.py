"""A level as a dump of requests shows it, to be run on from there."""

from __future__ import annotations

from collections import Counter

from apftop.apf.objects import Queuing
from apftop.apf.release import holds
from apftop.apf.resume import SeenLevel, SeenQueue, SeenRequest
from apftop.check.load import cost
from apftop.check.missing import Missing, needed
from apftop.check.window import Instant
from apftop.derive.dealt import hash_of
from apftop.derive.queues import SEAT_SECOND
from apftop.derive.waits import default_limit_s
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import QueueRow, RequestRow
from apftop.rules import rules


def seen_level(name: str, one: Instant) -> SeenLevel:
    """The level at the dump of an instant: requests by the rows, queues by `dump_queues` where that was fetched, too.

    The two dumps may differ by dozens of requests, so that only the virtual times of queues are taken from there, and
    seats that linger where it shows as many executing. Raises Missing.
    """
    queuing = needed(configured(name, one), "a level with queues")
    needed(one.rows, "a dump of requests next to the metrics")
    rows = needed(one.executing, "a dump of those that execute: up to 1.27 it lists waiting ones only")
    limit = int(needed(one.level.current, "the current limit"))
    dumped = needed(one.dump_s, "the server's clock at the dump of requests")
    r = _progress_r(one, limit)
    queues = _queues(name, one, queuing, rows, r)
    if any(row.queue >= len(queues) for row in one.rows or ()):
        raise Missing("queues as the level's object has them: a request lies in another one")
    lazy = one.point.release is not None and not holds(one.point.release, rules().wait.limit_cap_holds)
    return SeenLevel(
        at_ns=round(dumped * NANOSECONDS),
        queuing=queuing,
        limit=limit,
        r=r,
        queues=queues,
        requests=[
            SeenRequest(row.queue, row.arrive_ns, row.start_ns, cost(row), _hash(row, queuing))
            for row in (*rows, *waiting_in_order(one))
        ],
        lazy_limit_ns=round(default_limit_s() * NANOSECONDS) if lazy else None,
    )


def _hash(row: RequestRow, queuing: Queuing) -> int:
    return needed(hash_of(row, queuing), "the hands of all flows: not all were kept")


def configured(name: str, one: Instant) -> Queuing | None:
    """The queues of a level by its object, None for a level without any. Raises Missing where there is no object."""
    return needed(one.point.config(name), "the level's object").queuing


def waiting_in_order(one: Instant) -> list[RequestRow]:
    """The requests that wait, queue by queue, first come first."""
    return sorted(one.waiting or (), key=lambda row: (row.queue, row.index))


def _queues(name: str, one: Instant, queuing: Queuing, executing: tuple[RequestRow, ...], r: int) -> list[SeenQueue]:
    seats: Counter[int] = Counter()
    busy: Counter[int] = Counter()
    for row in executing:
        seats[row.queue] += row.width
        busy[row.queue] += 1
    shown: tuple[QueueRow, ...] = (one.point.queue_rows or {}).get(name, ())
    if len(shown) < queuing.queues or [row.index for row in shown] != list(range(len(shown))):
        return [SeenQueue(r, seats[index]) for index in range(queuing.queues)]
    lingers = any(row.additional_latency_ns for row in one.rows or ())
    return [
        SeenQueue(
            row.next_dispatch_r,
            max(row.seats_in_use, seats[row.index])
            if lingers and row.executing == busy[row.index]
            else seats[row.index],
        )
        for row in shown
    ]


def _progress_r(one: Instant, limit: int) -> int:
    """The virtual time at the dump, in units of 1e-8 seat-second: that of the metrics, reckoned back to the dump."""
    r, lag_s, rows = one.level.progress_r, one.lag_s, one.rows or ()
    active = len({row.queue for row in rows})
    if r is None:
        return 0
    if not active or lag_s is None:
        return round(r * SEAT_SECOND)
    rate = min(sum(row.width for row in rows), limit) / active
    return max(0, round((r - rate * lag_s) * SEAT_SECOND))
