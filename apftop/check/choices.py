"""Who was served while others waited: what dumps show of the order in which a level takes requests from its queues."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from apftop.check.window import Instant
from apftop.records.checks import RequestKey
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import RequestRow
from apftop.rules import rules


@dataclass(frozen=True, slots=True)
class Choices:
    """Pairs of an executing request and one of another queue that waited when it started, and still does.

    In the `overtaken` pairs the executing one came later. Each pair is counted once, and only if the two came some
    time apart.
    """

    pairs: int
    overtaken: int


@dataclass(frozen=True, slots=True)
class Telling:
    """Such pairs of a crowded queue and one that never held much: where shares are fair, requests of the latter are to
    overtake. They are of so many `executing` requests, in so many `dumps`.
    """

    pairs: int
    executing: int
    dumps: int


def choices(instants: Sequence[Instant]) -> Choices:
    """All pairs in the dumps of some instants of one level with queues."""
    pairs = overtaken = 0
    for one in _chosen([_Line(one.rows or ()) for one in instants]):
        own = one.line.waiting.get(one.queue, [])
        before = bisect_left(one.line.all, one.early) - bisect_left(own, one.early)
        pairs += before + _between(one.line.all, one.late, one.start) - _between(own, one.late, one.start)
        overtaken += before
    return Choices(pairs, overtaken)


def telling(instants: Sequence[Instant]) -> Telling:
    """The telling pairs in the dumps of some instants of one level with queues.

    A queue is charged for a request when that ends, so that a crowded one is rightly chosen again while its earlier
    requests still execute: those of other queues that came after the first of them tell nothing (1.26 to 1.37).
    """
    rule, most = rules().check.fairness, most_seats(instants)
    pairs = executing = 0
    dumps = set()
    for one in _chosen([_Line(one.rows or ()) for one in instants]):
        line, seats = one.line, one.line.seats[one.queue]
        crowd = line.crowded(max(rule.crowded_seats, rule.crowded_times * most.get(one.queue, 0)))
        found = bisect_left(crowd, one.early) + _between(crowd, one.late, one.start)
        if seats >= rule.crowded_seats:
            few = line.few(seats // rule.crowded_times, most)
            found += bisect_left(few, one.early) + _between(few, one.late, line.first_start[one.queue])
        pairs += found
        if found:
            executing += 1
            dumps.add(id(line))
    return Telling(pairs, executing, len(dumps))


def most_seats(instants: Sequence[Instant]) -> dict[int, int]:
    """The most seats that the waiting and executing requests of each queue had together, of any dump."""
    most: dict[int, int] = {}
    for one in instants:
        seats: dict[int, int] = defaultdict(int)
        for row in one.rows or ():
            seats[row.queue] += row.width
        most.update({queue: max(number, most.get(queue, 0)) for queue, number in seats.items()})
    return most


def execution_ages_s(instants: Sequence[Instant]) -> Iterator[float]:
    """For how long the requests of all dumps whose time is known have executed, in seconds."""
    for one in instants:
        if one.dump_s is not None:
            for row in one.executing or ():
                yield one.dump_s - (row.start_ns or row.arrive_ns) / NANOSECONDS


class _Line:
    """One dump of a level: when those that wait came, in order (Unix ns), all and by queue, and their seats."""

    def __init__(self, rows: Sequence[RequestRow]) -> None:
        self.executing = [row for row in rows if row.executing]
        self.waiting: dict[int, list[int]] = defaultdict(list)
        self.seats: dict[int, int] = defaultdict(int)
        self.first_start: dict[int, int] = {}
        for row in rows:
            if row.executing:
                start = row.start_ns or row.arrive_ns
                self.first_start[row.queue] = min(start, self.first_start.get(row.queue, start))
            else:
                self.waiting[row.queue].append(row.arrive_ns)
                self.seats[row.queue] += row.width
        for arrivals in self.waiting.values():
            arrivals.sort()
        self.all = sorted(chain.from_iterable(self.waiting.values()))
        self._crowded: dict[int, list[int]] = {}
        self._few: dict[int, list[int]] = {}

    def crowded(self, least: int) -> list[int]:
        """The arrivals of those that wait in queues with at least so many seats waiting."""
        if least not in self._crowded:
            self._crowded[least] = self._of([queue for queue, seats in self.seats.items() if seats >= least])
        return self._crowded[least]

    def few(self, limit: int, most: Mapping[int, int]) -> list[int]:
        """The arrivals of those that wait in queues that never had more than so many seats."""
        if limit not in self._few:
            self._few[limit] = self._of([queue for queue in self.waiting if most[queue] <= limit])
        return self._few[limit]

    def _of(self, queues: Sequence[int]) -> list[int]:
        return sorted(chain.from_iterable(self.waiting[queue] for queue in queues))


@dataclass(frozen=True, slots=True)
class _Chosen:
    """An executing request that had waited, in its dump; what came from `early` to `late` came together with it."""

    line: _Line
    queue: int
    early: int
    late: int
    start: int


def _chosen(lines: Iterable[_Line]) -> Iterator[_Chosen]:
    """Each executing request that had waited, once: what waited when it started is in the first dump that shows it."""
    apart = round(rules().check.fairness.apart_s * NANOSECONDS)
    seen: set[RequestKey] = set()
    for line in lines:
        for row in line.executing:
            start, key = row.start_ns or row.arrive_ns, row.key
            if key not in seen and start - row.arrive_ns > apart:
                seen.add(key)
                yield _Chosen(line, row.queue, row.arrive_ns - apart, row.arrive_ns + apart, start)


def _between(arrivals: Sequence[int], after: int, before: int) -> int:
    return max(0, bisect_left(arrivals, before) - bisect_right(arrivals, after))
