"""What parsing makes of one answer: metric families, rows of the three dumps, leases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from apftop.records.checks import RequestKey

INSTANCE = "instance"
"""The label by which federated series tell their servers apart."""

Labels = tuple[tuple[str, str], ...]
"""Label pairs sorted by name; values as the server sent them, unescaped."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """One classic histogram series.

    `bounds` are the finite upper bounds in rising order; `cumulative` has one more entry than `bounds`, the last being
    the count of everything (`+Inf`). A native histogram without classic buckets has no bounds and `native_only` set.
    """

    count: int
    sum: float
    bounds: tuple[float, ...]
    cumulative: tuple[int, ...]
    native_only: bool = False


Kind = Literal["counter", "gauge", "histogram", "summary", "untyped"]


@dataclass(frozen=True, slots=True)
class Family:
    """One metric family under its full name (counters with `_total` if the server has it so)."""

    name: str
    kind: Kind
    help: str
    values: Mapping[Labels, float]
    histograms: Mapping[Labels, Histogram]


@dataclass(frozen=True, slots=True)
class Metrics:
    """The picked families of one exposition.

    `stamps` has the least and greatest explicit time stamp in Unix seconds of the series of each server, by their
    label `instance` (`""` without one); it is empty where series carry no stamps, as those of a server itself.
    `problems` names what was left out and where (a duplicate series, a histogram without its end).
    """

    families: Mapping[str, Family]
    format: Literal["text", "openmetrics", "protobuf"]
    stamps: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spent:
    """How many calls there were since the process started, and the seconds that they took together."""

    count: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Behind:
    """What lies behind the queues by one answer, counted since the process started (`started`, Unix seconds).

    `requests` and `terminations` are by HTTP code, `forbidden` (403) and `too_many` (429) by verb and resource such as
    `create pods/eviction`, `etcd` by operation, `webhooks` and `admission` by name.
    """

    started: float | None = None
    requests: Mapping[int, float] = field(default_factory=dict)
    terminations: Mapping[int, float] = field(default_factory=dict)
    forbidden: Mapping[str, float] = field(default_factory=dict)
    too_many: Mapping[str, float] = field(default_factory=dict)
    etcd: Mapping[str, Spent] = field(default_factory=dict)
    webhooks: Mapping[str, Spent] = field(default_factory=dict)
    admission: Mapping[str, Spent] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LevelRow:
    """One row of dump_priority_levels; None where the cell was `<none>` or the release has no such column."""

    name: str
    active_queues: int | None
    is_idle: bool | None
    is_quiescing: bool | None
    waiting: int | None
    executing: int | None
    dispatched: int | None
    rejected: int | None
    timed_out: int | None
    cancelled: int | None
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One row of dump_queues. `next_dispatch_r` and `total_work` are whole units of 1e-8 seat-second."""

    level: str
    index: int
    pending: int
    executing: int
    seats_in_use: int
    next_dispatch_r: int
    initial_seats_sum: int
    max_seats_sum: int
    total_work: int
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Details:
    """What `includeRequestDetails` adds to a row; `user` is the impersonated one, `verb` in lower case."""

    user: str
    verb: str
    path: str
    namespace: str
    name: str
    api_version: str
    resource: str
    subresource: str


@dataclass(frozen=True, slots=True)
class KeptHands:
    """The hands of flows that were kept when names were replaced: nobody can deal them from pseudonyms.

    By schema, distinguisher, queues of the level, and hand size.
    """

    hands: Mapping[tuple[str, str, int, int], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class RequestRow:
    """One row of dump_requests.

    `queue` is -1 for a request of a level without queues, `index` is -1 for one that executes. Times are Unix
    nanoseconds of the server's clock; `start_ns` is None while the request waits, and up to 1.27 where the dump lists
    waiting requests only. `kept` is set where the names are pseudonyms.
    """

    level: str
    schema: str
    queue: int
    index: int
    distinguisher: str
    arrive_ns: int
    initial_seats: int
    final_seats: int
    additional_latency_ns: int
    additional_latency: str
    start_ns: int | None
    details: Details | None
    extra: tuple[tuple[str, str], ...] = ()
    kept: KeptHands | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> RequestKey:
        """What names it from dump to dump; without details its distinguisher stands for its user."""
        return RequestKey(self.arrive_ns, self.schema, self.details.user if self.details else self.distinguisher)

    @property
    def executing(self) -> bool:
        return self.index < 0

    @property
    def width(self) -> int:
        """Seats that the request takes: the larger of its initial and final seats."""
        return max(self.initial_seats, self.final_seats)


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease by its name, and when it was last renewed (Unix seconds of the writer's clock, None for never)."""

    name: str
    renewed: float | None


Row = TypeVar("Row", LevelRow, QueueRow, RequestRow)


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that no rule could read, kept as it came."""

    number: int
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Dump(Generic[Row]):
    """One debug dump: its columns as the header names them, its rows, and the lines that could not be read."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    bad: tuple[BadLine, ...] = ()


class ParseError(ValueError):
    """A body that cannot be read: the message names the place and what was found there."""
