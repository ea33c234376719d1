"""The families `apiserver_flowcontrol_*` of a simulated server, by the names and labels of 1.37."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from apftop.demo.level import LastDispatch, Level
from apftop.demo.meters import Distribution, Tally
from apftop.demo.server import Server
from apftop.records.parsed import Histogram, Kind, Labels

Rows = Mapping[Labels, float | Histogram]
"""Series by their labels: all numbers, or all histograms."""

_UNIT = 1e8
"""Virtual times are whole units of 1e-8 seat-second."""


@dataclass(frozen=True, slots=True)
class Source:
    """A family: its kind, its HELP, and how its series are read; one without series is not exposed."""

    kind: Kind
    help: str
    read: Callable[[Server], Rows]


def _schemas(server: Server) -> Iterator[tuple[str, str, Tally]]:
    for level in server.levels.values():
        for schema, tally in level.tallies.items():
            yield level.name, schema, tally


def _by_schema(value: Callable[[Tally], float], seen: Callable[[Tally], object]) -> Callable[[Server], Rows]:
    """One number for each schema in each level, from the first event on that touches it."""

    def read(server: Server) -> Rows:
        return {
            (("flow_schema", schema), ("priority_level", level)): value(tally)
            for level, schema, tally in _schemas(server)
            if seen(tally)
        }

    return read


def _distributed(one: Callable[[Tally], Distribution]) -> Callable[[Server], Rows]:
    """One histogram for each schema in each level that has a sample."""

    def read(server: Server) -> Rows:
        return {
            (("flow_schema", schema), ("priority_level", level)): histogram
            for level, schema, tally in _schemas(server)
            if (histogram := one(tally).read()).count
        }

    return read


def _parted(label: str, parts: Callable[[Tally], Mapping[str, Distribution]]) -> Callable[[Server], Rows]:
    """The same for each value of one more label."""

    def read(server: Server) -> Rows:
        return {
            tuple(sorted(((label, key), ("flow_schema", schema), ("priority_level", level)))): part.read()
            for level, schema, tally in _schemas(server)
            for key, part in parts(tally).items()
        }

    return read


def _rejected(server: Server) -> Rows:
    return {
        (("flow_schema", schema), ("priority_level", level), ("reason", reason)): float(count)
        for level, schema, tally in _schemas(server)
        for reason, count in tally.rejected.items()
    }


def _by_level(value: Callable[[Level], float]) -> Callable[[Server], Rows]:
    """One number for each level."""

    def read(server: Server) -> Rows:
        return {(("priority_level", name),): value(level) for name, level in server.levels.items()}

    return read


def _over_time(value: Callable[[Level, int], Histogram], *constant: tuple[str, str]) -> Callable[[Server], Rows]:
    """One histogram over time for each level."""

    def read(server: Server) -> Rows:
        return {
            (*constant, ("priority_level", name)): value(level, server.now) for name, level in server.levels.items()
        }

    return read


def _request_utilization(server: Server) -> Rows:
    return {
        (("phase", phase), ("priority_level", name)): ratio.read(server.now)
        for name, level in server.levels.items()
        for phase, ratio in level.request_ratios.items()
    }


def _by_kind(server: Server) -> Rows:
    return {
        (("phase", phase), ("request_kind", kind)): ratio.read(server.now)
        for (phase, kind), ratio in server.inflight.ratios.items()
    }


def _at_dispatch(value: Callable[[LastDispatch], int]) -> Callable[[Server], Rows]:
    """A virtual time of the last dispatch from a queue of each level that had one."""

    def read(server: Server) -> Rows:
        return {
            (("priority_level", name),): value(last) / _UNIT
            for name, level in server.levels.items()
            if (last := level.last_dispatch)
        }

    return read


def _bounds(value: Callable[[LastDispatch], tuple[int, int]]) -> Callable[[Server], Rows]:
    def read(server: Server) -> Rows:
        return {
            (("bound", bound), ("priority_level", name)): value(last)[place] / _UNIT
            for place, bound in enumerate(("min", "max"))
            for name, level in server.levels.items()
            if (last := level.last_dispatch)
        }

    return read


def _targets(server: Server) -> Rows:
    # Since 1.31 the exempt level shows the target of another one.
    targets = server.adjustment.targets
    other = next(iter(targets.values()))
    return {(("priority_level", name),): targets.get(name, other) for name in server.levels}


def _was_queued(tally: Tally) -> bool:
    return tally.queue_lengths.count > 0


def _was_dispatched(tally: Tally) -> bool:
    return tally.dispatched > 0


_OVER_TIME = "EXPERIMENTAL: [ALPHA] Observations, at the end of every nanosecond, of "
_STAGE = "Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage"
_STAGES = "(but only initial stage for WATCHes)"
_OF = "in the API Priority and Fairness subsystem"
_PERIOD = "over last adjustment period, of demand_seats"
_S = "over queues, of S(oldest waiting request in queue)"

FAMILIES: Mapping[str, Source] = {
    "current_executing_requests": Source(
        "gauge", f"[BETA] {_STAGE} {_OF}", _by_schema(lambda tally: tally.executing, _was_dispatched)
    ),
    "current_executing_seats": Source(
        "gauge",
        "[BETA] Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any "
        f"stage otherwise) requests {_OF}",
        _by_schema(lambda tally: tally.seats_in_use, _was_dispatched),
    ),
    "current_inqueue_requests": Source(
        "gauge",
        "[BETA] Number of requests currently pending in queues of the API Priority and Fairness subsystem",
        _by_schema(lambda tally: tally.waiting, _was_queued),
    ),
    "current_inqueue_seats": Source(
        "gauge",
        "[ALPHA] Number of seats currently pending in queues of the API Priority and Fairness subsystem",
        _by_schema(lambda tally: tally.waiting_seats, _was_queued),
    ),
    "current_limit_seats": Source(
        "gauge",
        "[ALPHA] current derived number of execution seats available to each priority level",
        _by_level(lambda level: level.queue_set.limit),
    ),
    "current_r": Source("gauge", "[ALPHA] R(time of last change)", _by_level(lambda level: level.queue_set.r / _UNIT)),
    "demand_seats": Source(
        "histogram",
        f"{_OVER_TIME}(the number of seats each priority level could use) / (nominal number of seats for that level)",
        _over_time(lambda level, now: level.demand_ratio.read(now)),
    ),
    "demand_seats_average": Source(
        "gauge", f"[ALPHA] Time-weighted average, {_PERIOD}", _by_level(lambda level: level.model.stats.average)
    ),
    "demand_seats_high_watermark": Source(
        "gauge", f"[ALPHA] High watermark, {_PERIOD}", _by_level(lambda level: level.model.stats.high_watermark)
    ),
    "demand_seats_smoothed": Source(
        "gauge", "[ALPHA] Smoothed seat demands", _by_level(lambda level: level.model.stats.smoothed)
    ),
    "demand_seats_stdev": Source(
        "gauge",
        f"[ALPHA] Time-weighted standard deviation, {_PERIOD}",
        _by_level(lambda level: level.model.stats.deviation),
    ),
    "dispatch_r": Source("gauge", "[ALPHA] R(time of last dispatch)", _at_dispatch(lambda last: last.r)),
    "dispatched_requests_total": Source(
        "counter",
        "[BETA] Number of requests executed by API Priority and Fairness subsystem",
        _by_schema(lambda tally: tally.dispatched, _was_dispatched),
    ),
    "latest_s": Source(
        "gauge", "[ALPHA] S(most recently dispatched request)", _at_dispatch(lambda last: last.latest_s)
    ),
    "lower_limit_seats": Source(
        "gauge",
        "[ALPHA] Configured lower bound on number of execution seats available to each priority level",
        _by_level(lambda level: level.model.limits.lower),
    ),
    "next_discounted_s_bounds": Source(
        "gauge", f"[ALPHA] min and max, {_S} - estimated work in progress", _bounds(lambda last: last.discounted_s)
    ),
    "next_s_bounds": Source("gauge", f"[ALPHA] min and max, {_S}", _bounds(lambda last: last.next_s)),
    "nominal_limit_seats": Source(
        "gauge",
        "[BETA] Nominal number of execution seats configured for each priority level",
        _by_level(lambda level: level.model.limits.nominal),
    ),
    "priority_level_request_utilization": Source(
        "histogram",
        f"{_OVER_TIME}number of requests (as a fraction of the relevant limit) waiting or in any stage of execution "
        f"{_STAGES}",
        _request_utilization,
    ),
    "priority_level_seat_utilization": Source(
        "histogram",
        f"{_OVER_TIME}utilization of seats for any stage of execution {_STAGES}",
        _over_time(lambda level, now: level.seat_ratio.read(now), ("phase", "executing")),
    ),
    "read_vs_write_current_requests": Source(
        "histogram",
        f"{_OVER_TIME}the number of requests (as a fraction of the relevant limit) waiting or in regular stage of "
        "execution",
        _by_kind,
    ),
    "rejected_requests_total": Source(
        "counter", "[BETA] Number of requests rejected by API Priority and Fairness subsystem", _rejected
    ),
    "request_dispatch_no_accommodation_total": Source(
        "counter",
        "[ALPHA] Number of times a dispatch attempt resulted in a non accommodation due to lack of available seats",
        _by_schema(lambda tally: tally.no_accommodation, lambda tally: tally.no_accommodation),
    ),
    "request_execution_seconds": Source(
        "histogram",
        f"[ALPHA] Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution {_OF}",
        _parted("type", lambda tally: tally.executions),
    ),
    "request_queue_length_after_enqueue": Source(
        "histogram",
        f"[ALPHA] Length of queue {_OF}, as seen by each request after it is enqueued",
        _distributed(lambda tally: tally.queue_lengths),
    ),
    "request_wait_duration_seconds": Source(
        "histogram",
        "[BETA] Length of time a request spent waiting in its queue",
        _parted("execute", lambda tally: tally.waits),
    ),
    "seat_fair_frac": Source(
        "gauge",
        "[ALPHA] Fair fraction of server's concurrency to allocate to each priority level that can use it",
        lambda server: {(): server.adjustment.fair},
    ),
    "target_seats": Source("gauge", "[ALPHA] Seat allocation targets", _targets),
    "upper_limit_seats": Source(
        "gauge",
        "[ALPHA] Configured upper bound on number of execution seats available to each priority level",
        _by_level(lambda level: level.model.limits.upper),
    ),
    "watch_count_samples": Source(
        "histogram",
        "[ALPHA] count of watchers for mutating requests in API Priority and Fairness",
        _distributed(lambda tally: tally.watchers),
    ),
    "work_estimated_seats": Source(
        "histogram",
        "[ALPHA] Number of estimated seats (maximum of initial and final seats) associated with requests in API "
        "Priority and Fairness",
        _distributed(lambda tally: tally.widths),
    ),
}
"""By name without the prefix. `epoch_advance_total` is never seen in practice, so it is not here either."""
