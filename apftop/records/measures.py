"""Numbers over a window, with the bounds between which they lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

NANOSECONDS = 1e9
"""In a second: dumps give times in them, and histograms over time count them."""


@dataclass(frozen=True, slots=True)
class Window:
    """The time that counts and rates are over.

    `seconds` is its length, `clock` whose clock gave it; `t0` and `t1` are Unix seconds as stamped by the taker.
    `reset` is set when the server restarted, or its counters did, within the time looked at: it runs from there.
    """

    seconds: float
    clock: Literal["stamps", "server"]
    t0: float | None = None
    t1: float | None = None
    reset: bool = False

    def per_s(self, count: float) -> float:
        """So many in the window, as a rate."""
        return count / self.seconds


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile as an interval of bucket bounds, in the histogram's unit.

    `high` None means open: beyond the last finite bound. `estimate` is linear within one bucket, and None when the
    interval is open, spans buckets, or may hold samples that do not belong.
    """

    low: float
    high: float | None
    estimate: float | None


@dataclass(frozen=True, slots=True)
class WaitLimit:
    """How long a request may wait in a queue, as assumed; seconds."""

    seconds: float
    assumed_from: str


@dataclass(frozen=True, slots=True)
class Bucket:
    """How many samples fell in (low, high] during the window; `high` None is the open last bucket."""

    low: float
    high: float | None
    count: int


@dataclass(frozen=True, slots=True)
class Waits:
    """Queue waits over the window, seconds, with the time-outs taken out.

    `executed` counts requests that were served, `timed_out` and `refused` those that were not. `mean_s` is None when
    time-outs blur it; `mean_bounds_s` then still holds. `buckets` are the raw deltas of execute="true", time-outs among
    them; `time_outs_within_s` is where these may lie, and `assumes` what is taken for granted there. `own` requests of
    this tool are in the counts, and the bounds of the quantiles are widened by them. `over_last_bound` is the fraction
    of executed requests beyond the last finite bound, `overflow_mean_bounds_s` what their mean can be, and
    `naive_p99_s` what a dashboard would show.
    """

    executed: int
    mean_s: float | None
    mean_bounds_s: tuple[float, float] | None
    p50: Quantile | None
    p95: Quantile | None
    p99: Quantile | None
    over_last_bound: float | None
    overflow_mean_bounds_s: tuple[float, float] | None
    naive_p99_s: float | None
    timed_out: int
    refused: int
    own: int
    time_outs_within_s: tuple[float, float | None] | None
    assumes: str | None
    limit: WaitLimit
    buckets: tuple[Bucket, ...]


@dataclass(frozen=True, slots=True)
class Sampled:
    """Exact waits of the requests that executed at the moment of the dump, seconds."""

    count: int
    max_s: float | None


@dataclass(frozen=True, slots=True)
class Execution:
    """Time in the handler after dispatch over the window, seconds; watches are left out."""

    count: int
    mean_s: float | None
    p95: Quantile | None


@dataclass(frozen=True, slots=True)
class Counts:
    """Requests over a window, this tool's own ones taken out. `rejected` is by reason."""

    dispatched: float
    rejected: Mapping[str, float]
    no_accommodation: float | None
    inqueue_change: float | None

    @property
    def rejected_total(self) -> float:
        return sum(self.rejected.values())

    @property
    def arrivals(self) -> float:
        """Dispatched plus rejected plus the change of the queues (where the gauge is known)."""
        return self.dispatched + self.rejected_total + (self.inqueue_change or 0.0)

    @property
    def refused_share(self) -> float | None:
        decided = self.dispatched + self.rejected_total
        return self.rejected_total / decided if decided else None


@dataclass(frozen=True, slots=True)
class Utilization:
    """Exact time averages from a histogram over nanoseconds.

    `mean` is a ratio of the current limit; the other three are shares of the time, `gt_1` that above the limit.
    `lifetime` is set when only one sample was there, so that the averages are over the life of the level.
    """

    mean: float | None
    ge_95: float | None
    gt_99: float | None
    gt_1: float | None
    seconds: float
    lifetime: bool


@dataclass(frozen=True, slots=True)
class Fill:
    """How full the queues of a level were, from a histogram over nanoseconds.

    `gt_25` is the share of the time in which requests took over a quarter of all places to wait (queues x
    queueLengthLimit). `lifetime` is as for `Utilization`.
    """

    gt_25: float | None
    seconds: float
    lifetime: bool


@dataclass(frozen=True, slots=True)
class Demand:
    """What a level asked for, in seats, by the last adjustment of its server: in use, lingering, and waiting ones.

    The first three are over the period before that adjustment (10 s as a rule), `smoothed` falls slowly from past
    heights, and `target` went into the allocation (1.26 to 1.37). None is unknown, as is NaN. This tool's own requests
    are in it.
    """

    high_watermark: float | None
    average: float | None
    stdev: float | None
    smoothed: float | None
    target: float | None
