"""The order inside of one queue."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from apftop.check.judge import judged, unknown
from apftop.check.window import LevelWindow
from apftop.records.checks import Check
from apftop.records.parsed import RequestRow


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two requests of one queue each: how many there were, and how many of them were in the wrong order."""

    seen: int
    wrong: int


def order(window: LevelWindow) -> Check | None:
    """Inside of a queue nobody overtakes: what came first is first in line, and starts first (1.26 to 1.37).

    Pairs of requests in one queue, over all dumps of the window: neighbours that wait, and each that executes with each
    that waits (the dump has executing ones since 1.28). Does not apply to levels without queues.
    """
    law, seconds = "order", window.seconds or None
    if window.queueless:
        return None
    if all(one.rows is None for one in window.instants):
        return unknown(law, "a dump of requests", seconds=seconds)
    told = [one.rows or () for one in window.instants if not one.point.clock_set]
    if not told:
        return unknown(law, "dumps from some time after the server's clock was set", seconds=seconds)
    found = [_pairs(queue) for rows in told for queue in _queues(rows)]
    seen, wrong = sum(pairs.seen for pairs in found), sum(pairs.wrong for pairs in found)
    if not seen:
        return unknown(law, "two requests in one queue, of which one waits", seconds=seconds)
    return judged(
        law,
        wrong,
        0.0,
        0.0,
        0.0,
        "pairs",
        seconds=seconds,
        about=f"{seen} pairs of requests",
        reason="requests overtook others of their queue: rows of several dumps or levels are mixed, or the server's "
        "clock was set back",
    )


def _queues(rows: Iterable[RequestRow]) -> Iterable[list[RequestRow]]:
    queues: dict[int, list[RequestRow]] = defaultdict(list)
    for row in rows:
        if row.queue >= 0:
            queues[row.queue].append(row)
    return queues.values()


def _pairs(queue: list[RequestRow]) -> Pairs:
    """In one queue of one dump."""
    waiting = sorted((row for row in queue if not row.executing), key=lambda row: row.index)
    executing = [row for row in queue if row.executing]
    in_line = list(pairwise(waiting))
    wrong = sum(after.arrive_ns < before.arrive_ns for before, after in in_line)
    arrivals = sorted(row.arrive_ns for row in waiting)
    overtook = sum(bisect_left(arrivals, row.arrive_ns) for row in executing)
    return Pairs(len(in_line) + len(executing) * len(waiting), wrong + overtook)
