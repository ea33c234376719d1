"""A Frame as the report's JSON document: fixed names, unknown is null, versioned by `schema`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from apftop import __version__
from apftop.classifying.document import told
from apftop.records.checks import Checks, LevelChecks, ReplicaChecks, Start
from apftop.records.classified import Classified
from apftop.records.findings import Findings
from apftop.records.frame import Flow, Frame, Inside, Level, LevelTotal, Recent, Replica, Request, Schema, Totals
from apftop.records.logs import NO_LOGS, Logs
from apftop.records.measures import Counts, Demand, Execution, Quantile, Utilization, Waits, Window
from apftop.report.behind import backend_json, callbacks_json
from apftop.report.causes import findings_json
from apftop.report.checks import check_json, level_json, start_json
from apftop.report.logs import logs_json
from apftop.report.numbers import number, when, window_json

SCHEMA = "apftop.report/1"

Json = dict[str, Any]


def document(
    frame: Frame,
    source: str,
    taken: Json,
    problems: tuple[str, ...] = (),
    checks: Checks | None = None,
    found: Findings = Findings(),  # noqa: B008  frozen
    logs: Logs = NO_LOGS,
    classified: Iterable[Classified] | None = None,
) -> Json:
    """The whole report. `taken` is `{t0, t1, interval_s}` as noted by the taker; see `taken_of` for live looks."""
    checks = checks or {}
    rows = [(replica, row) for replica in frame.replicas.values() for row in replica.requests or ()]
    single = len(frame.replicas) == 1
    return {
        "schema": SCHEMA,
        "apftop": __version__,
        "taken": taken,
        "source": source,
        **findings_json(found),
        **logs_json(logs),
        "replicas": {
            name: {
                **_replica(replica, checks.get(name, ReplicaChecks())),
                "verdict": found.replicas.get(name, "unknown"),
            }
            for name, replica in frame.replicas.items()
        },
        "callbacks": callbacks_json(frame.callbacks),
        "totals": _totals(frame.totals),
        "flows": [
            ({} if single else {"replica": replica.name}) | _flow(flow)
            for replica, flow in sorted(
                ((replica, flow) for replica in frame.replicas.values() for flow in replica.flows),
                key=lambda pair: -(pair[1].waiting + (pair[1].seats or 0)),
            )
        ],
        "requests": [
            ({} if single else {"replica": replica.name}) | _request(row, _start(row, checks.get(replica.name)))
            for replica, row in rows
        ],
        "requests_summary": _summary(frame),
        "classify": None if classified is None else told(classified),
        "clock_skew_tolerance_s": _worst(replica.clock.tolerance_s for replica in frame.replicas.values()),
        "problems": list(problems),
    }


def taken_of(t0: float | None, t1: float | None, interval_s: float | None) -> Json:
    """The `taken` part of a document: RFC 3339 times and the seconds between them."""
    return {
        "t0": when(t0),
        "t1": when(t1),
        "interval_s": number(interval_s),
    }


def _replica(replica: Replica, checks: ReplicaChecks) -> Json:
    own = replica.own
    return {
        "version": replica.version,
        "kind": replica.kind,
        "apf": replica.apf,
        "endpoints": {**replica.endpoints, "callbacks": replica.callbacks},
        "server_concurrency": number(replica.server_concurrency),
        "nominal_sum": number(replica.nominal_sum),
        "naive_nominal_sum": number(replica.naive_nominal_sum),
        "current_sum": number(replica.current_sum),
        "lower_sum": number(replica.lower_sum),
        "unassigned_seats": number(replica.unassigned_seats),
        "fair_frac": number(replica.fair_frac),
        "nan_levels": list(replica.nan_levels),
        "borrowing": replica.borrowing,
        "stale_levels": list(replica.stale_levels),
        "possibly_stale_levels": list(replica.possibly_stale_levels),
        "clock_skew_s": number(replica.clock.skew_s),
        "clock": {
            "dump_time": when(replica.clock.dump_time),
            "known_from": replica.clock.known_from,
            "tolerance_s": number(replica.clock.tolerance_s),
        },
        "own": {
            "flow_schema": own.schema,
            "priority_level": own.level,
            "rejected": own.rejected,
            "of": own.sent,
            "next_try": [text for stamp in own.next_try if (text := when(stamp)) is not None],
            "cost": {"bytes": own.bytes},
        },
        "samples": {name: {"t": when(age.time), "stale": age.stale} for name, age in replica.samples.items()},
        "window": window_json(replica.window),
        "levels": {name: _level(level, checks.levels.get(name)) for name, level in replica.levels.items()},
        "schemas": {name: _schema(schema) for name, schema in replica.schemas.items()},
        "backend": backend_json(replica.backend),
        "sources": dict(replica.sources),
        "cannot_fill": list(replica.cannot_fill),
        "unknown": {"families": list(replica.unknown_families), "columns": list(replica.unknown_columns)},
        "corrections": list(replica.corrections),
        "model": {"check": checks.verdict},
        "checks": [check_json(check) for check in checks.checks],
        "problems": list(replica.problems),
    }


def _level(level: Level, checks: LevelChecks | None) -> Json:
    queuing, inside = level.config.queuing if level.config else None, level.inside
    return {
        "type": _type(level),
        "state": level.state,
        "shares": level.config.shares if level.config else None,
        "nominal": number(level.nominal),
        "lower": number(level.lower),
        "upper": number(level.upper),
        "reachable_max": number(level.reachable_max),
        "current": number(level.current),
        "limit_delta": number(level.limit_delta),
        "borrowed": number(level.borrowed),
        "borrowed_in_use": number(level.borrowed_in_use),
        "executing": number(level.executing),
        "executing_from": level.executing_from or None,
        "seats_in_use": number(level.seats_in_use),
        "seats_in_use_from": level.seats_from or None,
        "seats_idle": number(level.seats_idle),
        "utilization_now": number(level.utilization_now),
        "utilization": _utilization(level.utilization),
        "demand": _demand(level.demand),
        "waiting": number(level.waiting),
        "waiting_from": level.waiting_from or None,
        "waiting_seats": number(level.waiting_seats),
        "max_seats_per_request": level.max_seats_per_request,
        "queues": queuing.queues if queuing else None,
        "active_queues": level.active_queues,
        "window": window_json(level.window),
        **_counts(level.counts, level.window),
        "recent": _recent(level.recent),
        "wait": _waits(level.waits, level.inside) if level.waits or level.inside else None,
        "execution": _execution(level.execution),
        "by_user": _by(inside.waiting_by_user, inside.executing_seats_by_user) if inside else None,
        "by_kind": _by(inside.waiting_by_kind, inside.executing_seats_by_kind) if inside else None,
        "oldest_waiting_s": number(inside.oldest_waiting_s) if inside else None,
        "oldest_executing_s": number(inside.oldest_executing_s) if inside else None,
        "flows_waiting": inside.flows_waiting if inside else None,
        "max_waiting_per_flow": inside.max_waiting_per_flow if inside else None,
        "next_to_dispatch": _next(level),
        **level_json(checks),
    }


def _type(level: Level) -> str | None:
    if level.config is None:
        return "Exempt" if level.exempt else None
    if level.config.exempt:
        return "Exempt"
    return "Reject" if level.config.queuing is None else "Queue"


def _schema(schema: Schema) -> Json:
    return {
        "level": schema.level,
        "deleted": schema.deleted,
        "precedence": schema.config.precedence if schema.config else None,
        "distinguisher": schema.config.distinguisher if schema.config else None,
        "window": window_json(schema.window),
        **_counts(schema.counts, schema.window),
        "wait": _waits(schema.waits, None) if schema.waits else None,
        "seats_in_use": number(schema.seats_in_use),
        "executing": number(schema.executing),
        "waiting": number(schema.waiting),
        "oldest_waiting_s": number(schema.oldest_waiting_s),
        "flows": schema.flows,
        "past_levels": list(schema.past_levels),
    }


def _counts(counts: Counts | None, window: Window | None) -> Json:
    if counts is None:
        names = ("arrivals", "dispatched", "rejected", "dispatched_per_s", "rejected_per_s", "refused_share")
        return dict.fromkeys((*names, "no_accommodation_per_s"))

    def per_s(value: float | None) -> float | int | None:
        return None if value is None or window is None else number(window.per_s(value))

    return {
        "arrivals": number(counts.arrivals),
        "dispatched": number(counts.dispatched),
        "rejected": {
            "total": number(counts.rejected_total),
            **{reason: number(value) for reason, value in counts.rejected.items()},
        },
        "dispatched_per_s": per_s(counts.dispatched),
        "rejected_per_s": {
            "total": per_s(counts.rejected_total),
            **{reason: per_s(value) for reason, value in counts.rejected.items()},
        },
        "refused_share": number(counts.refused_share),
        "no_accommodation_per_s": per_s(counts.no_accommodation),
    }


def _recent(recent: Recent | None) -> Json | None:
    if recent is None:
        return None
    counts = _counts(recent.counts, recent.window)
    names = ("dispatched_per_s", "rejected_per_s")
    return {"seconds": number(recent.window.seconds), **{name: counts[name] for name in names}}


def _waits(waits: Waits | None, inside: Inside | None) -> Json:
    found: Json = {"executed": None, "timed_out": None, "refused": None, "limit": None}
    if waits is not None:
        over, within = waits.overflow_mean_bounds_s, waits.time_outs_within_s
        found = {
            "executed": {
                "count": waits.executed,
                "mean_s": number(waits.mean_s),
                "mean_bounds_s": [number(one) for one in waits.mean_bounds_s] if waits.mean_bounds_s else None,
                "p50": quantile(waits.p50),
                "p95": quantile(waits.p95),
                "p99": quantile(waits.p99),
                "over_last_bound": number(waits.over_last_bound),
                "overflow_mean_bounds_s": [number(one) for one in over] if over else None,
                "naive_p99_s": number(waits.naive_p99_s),
            },
            "assumes": waits.assumes,
            "timed_out": waits.timed_out,
            "timed_out_within_s": [number(one) for one in within] if within else None,
            "refused": waits.refused,
            "own": waits.own,
            "limit": {"seconds": number(waits.limit.seconds), "assumed_from": waits.limit.assumed_from},
        }
    if inside is not None:
        sampled = inside.sampled
        found["sampled"] = {"count": sampled.count, "max_s": number(sampled.max_s)} if sampled else None
    return found


def quantile(value: Quantile | None) -> Json | None:
    """`{estimate, low, high, open}`; an open one has no upper bound and no estimate."""
    if value is None:
        return None
    return {
        "estimate": number(value.estimate),
        "low": number(value.low),
        "high": number(value.high),
        "open": value.high is None,
    }


def _execution(execution: Execution | None) -> Json | None:
    if execution is None:
        return None
    return {"count": execution.count, "mean_s": number(execution.mean_s), "p95": quantile(execution.p95)}


def _utilization(utilization: Utilization | None) -> Json | None:
    if utilization is None:
        return None
    return {
        "mean": number(utilization.mean),
        "ge_0.95": number(utilization.ge_95),
        "gt_0.99": number(utilization.gt_99),
        "gt_1": number(utilization.gt_1),
        "seconds": number(utilization.seconds),
        "lifetime": utilization.lifetime,
    }


def _demand(demand: Demand | None) -> Json | None:
    if demand is None:
        return None
    return {
        "high_watermark": number(demand.high_watermark),
        "average": number(demand.average),
        "stdev": number(demand.stdev),
        "smoothed": number(demand.smoothed),
        "target": number(demand.target),
    }


def _by(waiting: Mapping[str, int], executing: Mapping[str, int] | None) -> Json:
    return {"waiting": dict(waiting), "executing": None if executing is None else dict(executing)}


def _next(level: Level) -> Json | None:
    head = level.next_to_dispatch
    if head is None:
        return None
    return {
        "queue": head.queue,
        "user": head.user,
        "verb": head.verb,
        "resource": head.resource,
        "seats": head.seats,
        "fits": head.fits,
    }


def _flow(flow: Flow) -> Json:
    return {
        "flow_schema": flow.schema,
        "distinguisher": flow.flow,
        "priority_level": flow.level,
        "waiting": flow.waiting,
        "executing": flow.executing,
        "seats": flow.seats,
        "verb": flow.verb,
        "resource": flow.resource,
        "by_kind": dict(flow.by_kind),
        "hand": None if flow.hand is None else list(flow.hand),
        "collides_with": list(flow.collides_with),
    }


def _start(row: Request, checks: ReplicaChecks | None) -> Start | None:
    return checks.start(row.level, row.key) if checks and not row.executing else None


def _request(row: Request, start: Start | None) -> Json:
    return {
        "pl": row.level,
        "fs": row.schema,
        "queue": row.queue,
        "index": row.index,
        "distinguisher": row.distinguisher,
        "user": row.user,
        "verb": row.verb,
        "path": row.path,
        "namespace": row.namespace,
        "name": row.name,
        "api_version": row.api_version,
        "resource": row.resource,
        "subresource": row.subresource,
        "initial_seats": row.initial_seats,
        "final_seats": row.final_seats,
        "additional_latency": row.additional_latency,
        "state": "executing" if row.executing else "waiting",
        "age_s": number(row.age_s),
        "wait_s": number(row.wait_s),
        "own": row.own,
        "predicted_start": start_json(start),
    }


def _summary(frame: Frame) -> Json | None:
    dumped = [replica for replica in frame.replicas.values() if replica.requests is not None]
    if not dumped:
        return None
    rows = [row for replica in dumped for row in replica.requests or ()]
    listed = all(replica.lists_executing for replica in dumped)
    return {
        "waiting": sum(not row.executing for row in rows),
        "executing": sum(row.executing for row in rows) if listed else None,
        "own": sum(row.own for row in rows),
        "seats_in_use_without_own": sum(row.width for row in rows if row.executing and not row.own) if listed else None,
    }


def _totals(totals: Totals) -> Json:
    return {
        "nominal_sum": number(totals.nominal_sum),
        "refused_share": number(totals.refused_share),
        "levels": {name: _total(level) for name, level in totals.levels.items()},
        "share_of_dispatch": {
            name: {replica: number(share) for replica, share in level.share_of_dispatch.items()}
            for name, level in totals.levels.items()
            if level.share_of_dispatch
        },
        "skew": {name: number(level.skew) for name, level in totals.levels.items() if level.skew is not None},
        "hot": totals.hot,
    }


def _total(level: LevelTotal) -> Json:
    return {
        "replicas": level.replicas,
        "nominal": number(level.nominal),
        "current": number(level.current),
        "seats_in_use": number(level.seats_in_use),
        "executing": number(level.executing),
        "waiting": number(level.waiting),
        "dispatched_per_s": number(level.dispatched_per_s),
        "rejected_per_s": number(level.rejected_per_s),
        "refused_share": number(level.refused_share),
    }


def _worst(values: Any) -> float | int | None:
    return number(max((value for value in values if value is not None), default=None))
