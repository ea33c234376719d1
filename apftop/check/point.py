"""One answer of metrics with the dumps that were fetched next to it: what laws are held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.apf.release import Release
from apftop.records.frame import Clock
from apftop.records.parsed import Histogram, LevelRow, Metrics, QueueRow, RequestRow
from apftop.records.state import Read
from apftop.records.view import View


@dataclass(frozen=True, slots=True)
class Fetched:
    """When something was asked for, when the answer began, and when it was there; Unix seconds of this machine.

    `peer` is the SHA-256 of the server's certificate, empty where unknown.
    """

    sent: float | None
    begun: float | None
    received: float | None
    peer: str = ""

    @property
    def time(self) -> float | None:
        """When the server gave the answer, as near as is known."""
        return self.received if self.begun is None else self.begun


@dataclass(frozen=True, slots=True)
class LevelPoint:
    """One level in one answer of metrics, its schemas summed; None where the answer does not tell.

    Counters and histograms are as exposed, since the server began: a law compares two of them. `waits` are the samples
    of execute="true", `refused_waits` counts those of "false". `watchers` are the watches that each write
    was to tell of. `execution` has all requests, `regular` leaves watches
    out. The four `.._time` count nanoseconds. Gauges are in seats, `waiting` and `executing` in requests. This tool's
    own requests are in all of them.
    """

    dispatched: float
    rejected: Mapping[str, float]
    no_accommodation: float
    widths: Histogram | None
    watchers: Histogram | None
    waits: Histogram | None
    refused_waits: int
    enqueued: int | None
    execution: Histogram | None
    regular: Histogram | None
    waiting_time: Histogram | None
    executing_time: Histogram | None
    seat_time: Histogram | None
    demand_time: Histogram | None
    waiting: float | None
    waiting_seats: float | None
    executing: float | None
    seats: float | None
    nominal: float | None
    lower: float | None
    upper: float | None
    current: float | None
    demand_high: float | None
    demand_smoothed: float | None
    progress_r: float | None

    @property
    def rejected_total(self) -> float:
        return sum(self.rejected.values())


@dataclass(frozen=True, slots=True)
class Point:
    """One moment of one server.

    `levels` are those in the metrics, by name, and `measures` those that the metrics have any series of. A dump that
    was not fetched near the metrics is None. `clock` is the server's at the dump of requests; with `clock_set` it was
    set so lately that rows may be from before. `requests` has the rows of each level, `queue_rows` likewise, `dumped`
    the row of each level; `own_users` are those who read the dump of requests, as this tool does. `lists_executing` is
    False up to 1.27, whose dump has waiting requests only. `configs` and `schemas` are the objects as last read, and
    `live` the levels that the server runs, as far as is known.
    """

    number: int
    release: Release | None
    metrics: Fetched
    measures: frozenset[str]
    levels: Mapping[str, LevelPoint]
    levels_fetched: Fetched | None
    dumped: Mapping[str, LevelRow] | None
    queue_rows: Mapping[str, tuple[QueueRow, ...]] | None
    requests_fetched: Fetched | None
    requests: Mapping[str, tuple[RequestRow, ...]] | None
    own_users: frozenset[str]
    lists_executing: bool
    clock: Clock
    clock_set: bool
    configs: Mapping[str, PriorityLevelConfiguration] | None
    schemas: Mapping[str, FlowSchema] | None
    live: frozenset[str]
    server_concurrency: float | None
    fair: float | None
    size_based: bool | None

    def config(self, level: str) -> PriorityLevelConfiguration | None:
        """The object of a level as last read; None where there is none, or nobody could read it."""
        return None if self.configs is None else self.configs.get(level)

    def rows(self, level: str) -> tuple[RequestRow, ...] | None:
        """The rows of a level in the dump of requests, None without one."""
        return None if self.requests is None else self.requests.get(level, ())


@dataclass(frozen=True, slots=True)
class Track:
    """The latest points of one process, oldest first: as many as a window needs.

    `born` has for each level when its series began, by the server's clock (Unix seconds): the latest moment that dumps
    allow. `broken` says in words why there are no older points. `set_at` is when the server's clock was seen to have
    been set (Unix seconds of this machine). `read` and `seen` are the last metrics.
    """

    points: tuple[Point, ...] = ()
    born: Mapping[str, float] = field(default_factory=dict)
    broken: str = ""
    set_at: float | None = None
    read: Read[Metrics] | None = None
    seen: View | None = None
