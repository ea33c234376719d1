"""Clusters for findings, as what their servers say: text of metrics, dumps and objects, read by the whole pipeline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from apftop.apf.allocation import limits
from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.levels import Levels
from apftop.apf.objects import (
    FlowSchema,
    Meta,
    NonResourceRule,
    PriorityLevelConfiguration,
    Queuing,
    ResourceRule,
    Rule,
    Subject,
)
from apftop.apf.release import parse_release
from apftop.check.checks import checked
from apftop.check.point import Track
from apftop.check.track import followed
from apftop.demo.objects import level_json, schema_json
from apftop.derive.frame import frame
from apftop.findings.scene import Baselines, Scene
from apftop.live import observe
from apftop.records.logs import NO_LOGS, Logs
from apftop.records.raw import Endpoint, Sample
from apftop.records.state import State
from tests.derive.build import PREFIX, WAIT_BOUNDS, table

T0 = 1_775_988_180.0
"""2026-04-12T10:03:00Z: when the first metrics were read."""
SECONDS = 30.0
SEATS = 600
UTILIZATION = ("0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "0.95", "0.99", "1")
REQUESTS = ("0", "0.001", "0.003", "0.01", "0.03", "0.1", "0.25", "0.5", "0.75", "1")
LENGTHS = ("0", "10", "25", "50", "100", "250", "500", "1000")
WIDTHS = ("1", "2", "4", "10")
NS = 1_000_000_000

EVERYTHING = ResourceRule(("*",), ("*",), ("*",), ("*",), cluster_scope=True)


@dataclass(frozen=True)
class Did:
    """What one schema did in its level over the window, on one server.

    `waits` are seconds that served requests waited by how many did, those that waited longest first; all others did not
    wait. `timed_out` left the queue after `limit_s`. Gauges are as at the end, `was_waiting` as at its beginning.
    `usually` are arrivals a second, mean width and execution time in its life before.
    """

    schema: str
    dispatched: int = 0
    queue_full: int = 0
    timed_out: int = 0
    concurrency_limit: int = 0
    waits: Mapping[float, int] = field(default_factory=dict)
    limit_s: float = 15.0
    width: float = 1.0
    execution_s: float = 0.05
    executing: int = 0
    seats: int | None = None
    waiting: int = 0
    waiting_seats: int | None = None
    was_waiting: int = 0
    no_accommodation: int = 0
    usually: tuple[float, float, float] = (10.0, 1.0, 0.05)

    @property
    def arrivals(self) -> int:
        refused = self.queue_full + self.timed_out + self.concurrency_limit
        return self.dispatched + refused + self.waiting - self.was_waiting


@dataclass(frozen=True)
class Of:
    """One level of one server: what its schemas did; `full` and `half` are shares of the time that all or half of the
    seats were taken, `waited` the share in which something waited. Limits are those of the objects and of an idle
    server unless they are given; `demand` is (high watermark, average, deviation, smoothed, target).
    """

    did: tuple[Did, ...] = ()
    full: float = 0.0
    half: float = 0.0
    over: float = 0.0
    waited: float | None = None
    queue_fill: float = 0.001
    current: float | None = None
    nominal: float | None = None
    lower: float | None = None
    upper: float | None = None
    demand: tuple[float, float, float, float, float] | None = None
    dumped: bool = True
    quiescing: bool = False


@dataclass(frozen=True)
class Row:
    """One request in the dump of requests: `age_s` since it came, `executing_s` since it started (None: it waits)."""

    level: str
    schema: str
    user: str
    verb: str = "get"
    resource: str = "pods"
    age_s: float = 1.0
    executing_s: float | None = None
    queue: int = 0
    index: int = 0
    flow: str | None = None
    width: int = 1
    final: int = 0
    namespace: str = "default"
    name: str = ""
    path: str = ""
    api_version: str = "v1"
    subresource: str = ""


@dataclass(frozen=True)
class Server:
    """One API server: levels that did something (all others of the objects are idle), rows of its dump, and more
    series as text, at the beginning and the end of the window (`more` has {name: (labels, before, after)}).
    """

    name: str = "kas-a"
    levels: Mapping[str, Of] = field(default_factory=dict)
    rows: tuple[Row, ...] | None = ()
    more: tuple[tuple[str, float, float], ...] = ()
    release: str = "v1.30.4"
    up_s: float = 3 * 86400.0
    seats: int = SEATS
    fair: float | None = None
    statuses: Mapping[Endpoint, int] = field(default_factory=dict)
    metrics: bool = True
    dumps: bool = True
    clock_s: float = 0.0


def a_cluster(
    *servers: Server,
    levels: Sequence[PriorityLevelConfiguration] = (),
    schemas: Sequence[FlowSchema] = (),
    without: Sequence[str] = (),
    baselines: Baselines | None = None,
    logs: Logs = NO_LOGS,
    more: Iterable[Sample] = (),
    metas: Mapping[str, Mapping[str, Any]] | None = None,
) -> Scene:
    """The scene of these servers, which run the built-in objects of the first one's release, and these besides.

    `without` names built-in objects that are missing; an object given here replaces the built-in one of its name.
    `metas` adds to the `metadata` of objects by their name; `more` are further samples.
    """
    release = parse_release(servers[0].release)
    assert release is not None
    configs = {**builtin_levels(), **{one.name: one for one in levels}}
    flows = {**builtin_schemas(release), **{one.name: one for one in schemas}}
    own = {*(one.name for one in levels), *(one.name for one in schemas)}
    configs = {name: one for name, one in configs.items() if name not in without}
    flows = {name: one for name, one in flows.items() if name not in without}
    texts = {
        Endpoint.SCHEMAS: _list(schema_json(one, one.name not in own) for one in flows.values()),
        Endpoint.CONFIGS: _list(level_json(one, one.name not in own) for one in configs.values()),
    }
    for endpoint, items in texts.items():
        for item in items:
            item["metadata"] |= dict((metas or {}).get(item["metadata"]["name"], {}))
            if endpoint is Endpoint.SCHEMAS:
                level = item["spec"]["priorityLevelConfiguration"]["name"]
                dangling = level not in configs
                item["status"]["conditions"][0] |= {
                    "status": str(dangling),
                    "reason": "NotFound" if dangling else "Found",
                }
    state, tracks = State(), dict[str, Track]()
    samples = [one for server in servers for one in _samples(server, configs, texts)]
    for sample in (*samples, *more):
        state = observe(state, sample)
        tracks = followed(tracks, state)
    seen = frame(state)
    checks = {name: checked(track) for name, track in tracks.items()}
    return Scene(seen, checks, baselines or {}, logs, T0 + SECONDS)


def a_level(
    name: str,
    shares: int = 10,
    *,
    queues: int | None = 16,
    hand_size: int = 4,
    length: int = 10,
    lendable: int = 0,
    borrowing: int | None = None,
) -> PriorityLevelConfiguration:
    """A level of one's own; `queues` None is one that rejects."""
    queuing = None if queues is None else Queuing(queues, hand_size, length)
    return PriorityLevelConfiguration(Meta(name), False, shares, lendable, borrowing, queuing)


def a_schema(
    name: str,
    level: str,
    precedence: int = 1000,
    *subjects: Subject,
    distinguisher: Any = "ByUser",
    rules: Sequence[ResourceRule] = (EVERYTHING,),
    others: Sequence[NonResourceRule] = (),
) -> FlowSchema:
    """A schema of one's own; without subjects it is for all authenticated users."""
    who = subjects or (Subject("Group", "system:authenticated"),)
    return FlowSchema(Meta(name), level, precedence, distinguisher, (Rule(who, tuple(rules), tuple(others)),))


def _list(items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return list(items)


def _samples(
    server: Server, configs: Mapping[str, PriorityLevelConfiguration], texts: Mapping[Endpoint, list[dict[str, Any]]]
) -> Iterable[Sample]:
    for endpoint, items in texts.items():
        body = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()
        yield _answer(server, endpoint, body, T0)
    if server.metrics:
        yield _answer(server, Endpoint.METRICS, _metrics(server, configs, 0.0), T0)
    if server.dumps:
        yield _answer(server, Endpoint.LEVELS, _levels_dump(server, configs, 0.0), T0)
    ends = T0 + SECONDS
    if server.dumps:
        yield _answer(server, Endpoint.LEVELS, _levels_dump(server, configs, SECONDS), ends)
    if server.rows is not None:
        yield _answer(server, Endpoint.REQUESTS, _requests_dump(server), ends)
    if server.metrics:
        yield _answer(server, Endpoint.METRICS, _metrics(server, configs, SECONDS), ends)


def _answer(server: Server, endpoint: Endpoint, body: bytes, at: float) -> Sample:
    status = server.statuses.get(endpoint, 200)
    return Sample(
        server.name,
        endpoint,
        body if status == 200 else b"no",
        status,
        sent=at,
        received=at,
        server_date=at + server.clock_s,
        server_time=at + server.clock_s if endpoint is Endpoint.REQUESTS else None,
    )


def _metrics(server: Server, configs: Mapping[str, PriorityLevelConfiguration], at_s: float) -> bytes:
    release = parse_release(server.release)
    assert release is not None
    static, idle = limits(configs.values(), server.seats, release), Levels(server.seats, release)
    adjusted = idle.digest(0, configs.values(), lambda _: True)
    fair = adjusted.fair if server.fair is None else server.fair
    lines = [
        f'kubernetes_build_info{{git_version="{server.release}"}} 1',
        f"process_start_time_seconds {T0 - server.up_s}",
        f"{PREFIX}seat_fair_frac {fair}",
    ]
    for name in dict.fromkeys((*configs, *server.levels)):
        of, config = server.levels.get(name, Of()), configs.get(name)
        has, now = static.get(name), idle.by_name.get(name)
        gauges: dict[str, float | None] = {
            "nominal_limit_seats": of.nominal if of.nominal is not None else has.nominal if has else None,
            "lower_limit_seats": of.lower if of.lower is not None else has.lower if has else None,
            "upper_limit_seats": of.upper if of.upper is not None else has.upper if has else None,
            "current_limit_seats": of.current if of.current is not None else now.current if now else None,
        }
        demand = of.demand or (float(sum(_seats(did) + _waiting_seats(did) for did in of.did)),) * 5
        names = ("high_watermark", "average", "stdev", "smoothed")
        gauges |= {f"demand_seats_{one}": value for one, value in zip(names, demand, strict=False)}
        gauges["target_seats"] = demand[4]
        level = f'priority_level="{name}"'
        lines += [f"{PREFIX}{one}{{{level}}} {value}" for one, value in gauges.items() if value is not None]
        lines += _over_time(server, of, level, at_s)
        for did in of.did:
            lines += _counted(server, config, did, f'flow_schema="{did.schema}",{level}', at_s)
    lines += [f"{series} {after if at_s else before}" for series, before, after in server.more]
    return ("\n".join(lines) + "\n").encode()


def _seats(did: Did) -> int:
    return round(did.executing * did.width) if did.seats is None else did.seats


def _waiting_seats(did: Did) -> int:
    return round(did.waiting * did.width) if did.waiting_seats is None else did.waiting_seats


def _over_time(server: Server, of: Of, level: str, at_s: float) -> list[str]:
    """The histograms over time: an idle life, and then the window."""
    life = round((server.up_s - 10) * NS)
    window = round(at_s * NS)
    waited = of.waited if of.waited is not None else float(any(did.waiting for did in of.did))
    seat = {"0": 1 - of.full - of.half - of.over, "0.5": of.half, "1": of.full, "+Inf": of.over}
    fill = next(bound for bound in REQUESTS[1:] if float(bound) >= min(1.0, of.queue_fill))
    waits = {"0": 1 - waited, fill: waited}
    runs = {"0": 1 - of.full - of.half, "0.5": of.half, "1": of.full}
    lines: list[str] = []
    for family, labels, bounds, shares in (
        ("priority_level_seat_utilization", f'phase="executing",{level}', UTILIZATION, seat),
        ("priority_level_request_utilization", f'phase="waiting",{level}', REQUESTS, waits),
        ("priority_level_request_utilization", f'phase="executing",{level}', REQUESTS, runs),
    ):
        total = 0.0
        for bound in (*bounds, "+Inf"):
            total += shares.get(bound, 0.0)
            value = life + (window if bound == "+Inf" else round(window * min(1.0, total)))
            lines.append(f'{PREFIX}{family}_bucket{{{labels},le="{bound}"}} {value}')
        mean = sum(1.25 * share if bound == "+Inf" else float(bound) * share for bound, share in shares.items())
        lines.append(f"{PREFIX}{family}_sum{{{labels}}} {window * mean}")
        lines.append(f"{PREFIX}{family}_count{{{labels}}} {life + window}")
    return lines


def _counted(
    server: Server, config: PriorityLevelConfiguration | None, did: Did, labels: str, at_s: float
) -> list[str]:
    """Counters and histograms of one schema: its life before, and what it did."""
    rate, width, execution_s = did.usually
    life = round(rate * (server.up_s - 10))
    after = at_s > 0
    exempt = config is not None and config.exempt
    dispatched = life - did.was_waiting + (did.dispatched if after else 0)
    reasons = {"queue-full": did.queue_full, "time-out": did.timed_out, "concurrency-limit": did.concurrency_limit}
    gauges = {
        "current_executing_requests": did.executing,
        "current_executing_seats": _seats(did),
        "current_inqueue_requests": did.waiting if after else did.was_waiting,
        "current_inqueue_seats": _waiting_seats(did) if after else round(did.was_waiting * did.width),
    }
    lines = [f"{PREFIX}{name}{{{labels}}} {value}" for name, value in gauges.items()]
    lines.append(f"{PREFIX}dispatched_requests_total{{{labels}}} {dispatched}")
    lines += [
        f'{PREFIX}rejected_requests_total{{{labels},reason="{reason}"}} {number if after else 0}'
        for reason, number in reasons.items()
        if number
    ]
    if did.no_accommodation:
        name = f"{PREFIX}request_dispatch_no_accommodation_total"
        lines.append(f"{name}{{{labels}}} {did.no_accommodation if after else 0}")
    arrivals = did.arrivals if after else 0
    lines += _histogram("work_estimated_seats", labels, WIDTHS, _counts((width, life), (did.width, arrivals)))
    ended = did.dispatched if after else 0
    lines += _histogram(
        "request_execution_seconds",
        f'{labels},type="regular"',
        WAIT_BOUNDS,
        _counts((execution_s, dispatched - ended), (did.execution_s, ended)),
    )
    if not exempt:
        waits: dict[float, int] = {0.0001: dispatched - ended, **(did.waits if after else {})}
        waits[0.0001] += ended - sum(did.waits.values()) if after else 0
        if after and did.timed_out:
            waits[did.limit_s] = waits.get(did.limit_s, 0) + did.timed_out
        lines += _histogram("request_wait_duration_seconds", f'{labels},execute="true"', WAIT_BOUNDS, waits)
        lengths = {1.0: life, 1.5: arrivals - (did.queue_full + did.concurrency_limit if after else 0)}
        lines += _histogram("request_queue_length_after_enqueue", labels, LENGTHS, lengths)
    return lines


def _counts(*samples: tuple[float, int]) -> dict[float, int]:
    """How often there was each value, where some may be the same."""
    found: dict[float, int] = {}
    for value, number in samples:
        found[value] = found.get(value, 0) + number
    return found


def _histogram(name: str, labels: str, bounds: Sequence[str], samples: Mapping[float, int]) -> list[str]:
    found = [
        f'{PREFIX}{name}_bucket{{{labels},le="{bound}"}} '
        f"{sum(number for value, number in samples.items() if value <= float(bound))}"
        for bound in bounds
    ]
    count = sum(samples.values())
    total = sum(value * number for value, number in samples.items())
    return [
        *found,
        f'{PREFIX}{name}_bucket{{{labels},le="+Inf"}} {count}',
        f"{PREFIX}{name}_sum{{{labels}}} {total}",
        f"{PREFIX}{name}_count{{{labels}}} {count}",
    ]


def _levels_dump(server: Server, configs: Mapping[str, PriorityLevelConfiguration], at_s: float) -> bytes:
    head = ("PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests")
    counts = ("DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests")
    rows: list[tuple[object, ...]] = []
    for name in sorted({*configs, *server.levels}):
        of = server.levels.get(name, Of())
        if not of.dumped:
            continue
        waiting = sum(did.waiting if at_s else did.was_waiting for did in of.did)
        executing = sum(did.executing for did in of.did)
        life = sum(round(did.usually[0] * (server.up_s - 10)) - did.was_waiting for did in of.did)
        left = sum(did.timed_out for did in of.did) if at_s else 0
        refused = left + (sum(did.queue_full + did.concurrency_limit for did in of.did) if at_s else 0)
        dispatched = life + (sum(did.dispatched for did in of.did) if at_s else 0)
        idle = not waiting and not executing
        state = (str(idle).lower(), str(of.quiescing).lower())
        rows.append((name, min(waiting, 4), *state, waiting, executing, dispatched, refused, 0, left))
    return table((*head, *counts), *rows)


def _requests_dump(server: Server) -> bytes:
    head = (
        *("PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher"),
        *("ArriveTime", "InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime"),
        *("UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"),
    )
    rows: list[tuple[object, ...]] = []
    for row in server.rows or ():
        started = "0001-01-01T00:00:00Z" if row.executing_s is None else _stamp(server, row.executing_s)
        index = row.index if row.executing_s is None else -1
        path = row.path or f"/api/v1/namespaces/{row.namespace}/{row.resource}"
        base = (row.level, row.schema, row.queue, index, row.user if row.flow is None else row.flow)
        cost = (_stamp(server, row.age_s), row.width, row.final, "50ms" if row.final else "0s", started)
        what = (row.namespace, row.name, row.api_version, row.resource, row.subresource)
        if row.path:
            what = ("", "", "", "", "")
        rows.append((*base, *cost, row.user, row.verb, path, *what))
    return table(head, *rows)


def _stamp(server: Server, ago_s: float) -> str:
    at = datetime.fromtimestamp(T0 + SECONDS + server.clock_s - ago_s, UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f") + "Z"


def made(command: str) -> list[dict[str, Any]]:
    """The objects that a `kubectl create` makes, read as it reads a stream that begins with a brace: as JSON alone."""
    head, body = command.split("\n", 1)
    assert head == "kubectl create -f - <<'EOF'"
    rest, found = body.removesuffix("\nEOF"), []
    while rest:
        one, end = json.JSONDecoder().raw_decode(rest)
        found.append(one)
        rest = rest[end:].lstrip()
    return found


def quiet(*names: str, **more: Any) -> tuple[Server, ...]:
    """Servers on which a little goes on and nothing waits."""
    calm = {
        "workload-low": Of((Did("service-accounts", 600, executing=1),)),
        "system": Of((Did("system-nodes", 300),)),
        "node-high": Of((Did("system-node-high", 200),)),
        "leader-election": Of((Did("system-leader-election", 30),)),
        "exempt": Of((Did("exempt", 60),)),
    }
    return tuple(Server(name, calm, **more) for name in names or ("kas-a", "kas-b", "kas-c"))


def busier(server: Server, level: str, of: Of, *rows: Row) -> Server:
    """The same server with other doings of one level, and more rows in its dump."""
    return replace(server, levels={**server.levels, level: of}, rows=(*(server.rows or ()), *rows))
