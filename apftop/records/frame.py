"""What was derived from the samples so far: one Frame, with every number's window and bounds beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from apftop.apf.objects import EXEMPT, FlowSchema, PriorityLevelConfiguration
from apftop.records.backend import Backend, Callback
from apftop.records.checks import RequestKey
from apftop.records.load import Load
from apftop.records.measures import Counts, Demand, Execution, Fill, Sampled, Utilization, Waits, Window
from apftop.records.parsed import KeptHands

LevelState = Literal["idle", "busy", "saturated", "blocked", "leaking", "exempt", "quiescing", "stale", "unknown"]


@dataclass(frozen=True, slots=True)
class NextDispatch:
    """The waiting request with the least virtual finish: the only one that its level considers.

    `idle` are seats free at the dump of the queues, by the current limit; None if that is not known.
    """

    queue: int
    user: str
    verb: str
    resource: str
    seats: int
    idle: float | None
    fits: bool | None


@dataclass(frozen=True, slots=True)
class Request:
    """One row of dump_requests with what follows from it. Ages and waits in seconds by the server's clock.

    `arrive_ns` is when it came to its level (Unix nanoseconds by that clock): it names the request from dump to dump.
    """

    level: str
    schema: str
    queue: int
    index: int
    distinguisher: str
    user: str | None
    verb: str | None
    path: str | None
    namespace: str | None
    name: str | None
    api_version: str | None
    resource: str | None
    subresource: str | None
    initial_seats: int
    final_seats: int
    additional_latency: str
    executing: bool
    arrive_ns: int
    age_s: float | None
    wait_s: float | None
    executing_s: float | None
    own: bool
    kept: KeptHands | None = field(default=None, compare=False, repr=False)

    @property
    def width(self) -> int:
        return max(self.initial_seats, self.final_seats)

    @property
    def key(self) -> RequestKey:
        """What names it from dump to dump; without details its distinguisher stands for its user."""
        return RequestKey(self.arrive_ns, self.schema, self.distinguisher if self.user is None else self.user)

    @property
    def kind(self) -> str:
        """What is asked for: `get pods`, `patch pods/status`, `get /livez`; empty without details."""
        if self.verb is None:
            return ""
        what = self.resource or self.path or ""
        return f"{self.verb} {what}/{self.subresource}" if self.resource and self.subresource else f"{self.verb} {what}"


@dataclass(frozen=True, slots=True)
class Flow:
    """Requests of one flow in one dump: counts, and seats of those that execute (None where the dump lacks them).

    `flow` is the distinguisher, or the user where the level has at most one queue and computes none. `hand` is empty
    where there are no queues to choose from, and None where the level's queues are not known.
    """

    schema: str
    flow: str
    level: str
    waiting: int
    executing: int | None
    seats: int | None
    verb: str | None
    resource: str | None
    by_kind: Mapping[str, int]
    hand: tuple[int, ...] | None
    collides_with: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Inside:
    """Who is in a level, by the dump of requests and without this tool's own; ages in seconds.

    What executes is None where the dump lists waiting requests only (up to 1.27).
    """

    sampled: Sampled | None
    waiting_by_user: Mapping[str, int]
    executing_seats_by_user: Mapping[str, int] | None
    waiting_by_kind: Mapping[str, int]
    executing_seats_by_kind: Mapping[str, int] | None
    oldest_waiting_s: float | None
    oldest_executing_s: float | None
    flows_waiting: int
    max_waiting_per_flow: int


@dataclass(frozen=True, slots=True)
class Queue:
    """One queue of a level by the dump of queues; `flows` are those that have requests in it by the dump of requests.

    `next_dispatch_r` and `work` are seat-seconds of virtual time and of work that waits in it. `next` says that its
    head is the one that the level considers. `flows` come most requests first, and are None, as `oldest_waiting_s` is,
    without a dump of requests; they leave out this tool's own questions, which are in the numbers.
    """

    level: str
    index: int
    waiting: int
    executing: int
    seats_in_use: int
    waiting_seats: int
    next_dispatch_r: float
    work: float
    next: bool
    flows: tuple[str, ...] | None
    oldest_waiting_s: float | None


@dataclass(frozen=True, slots=True)
class Recent:
    """Counts of a level over a window: by the last two dumps of priority levels, or by the last two metrics answers."""

    window: Window
    counts: Counts

    @property
    def dispatched_per_s(self) -> float:
        return self.window.per_s(self.counts.dispatched)

    @property
    def rejected_per_s(self) -> float:
        return self.window.per_s(self.counts.rejected_total)


@dataclass(frozen=True, slots=True)
class Level:
    """One priority level on one replica. Seats and limits in seats; None is unknown.

    `window` and `counts` are of the last two metrics answers, or of the dumps where these give none; `recent` is of the
    last two dumps. The rates are those of `counts`; what is shown is the `pace`. `queues` is None without a dump of
    them. `load` is what the level was asked to do over the window, `usual` over its life before it; `demand` is what
    its server makes of that. `fill` is None for a level of which nothing is known to wait, as the exempt one.
    """

    name: str
    config: PriorityLevelConfiguration | None
    state: LevelState
    quiescing: bool | None
    nominal: float | None
    lower: float | None
    upper: float | None
    reachable_max: float | None
    current: float | None
    executing: float | None
    executing_from: str
    seats_in_use: float | None
    seats_from: str
    waiting: float | None
    waiting_from: str
    waiting_seats: float | None
    active_queues: int | None
    max_seats_per_request: int | None
    utilization: Utilization | None
    window: Window | None
    counts: Counts | None
    waits: Waits | None
    execution: Execution | None
    inside: Inside | None
    next_to_dispatch: NextDispatch | None
    recent: Recent | None
    queues: tuple[Queue, ...] | None
    load: Load | None = None
    usual: Load | None = None
    demand: Demand | None = None
    fill: Fill | None = None

    @property
    def exempt(self) -> bool:
        return self.config.exempt if self.config is not None else self.name == EXEMPT

    @property
    def pace(self) -> Recent | None:
        """What a rate that is shown comes from: the dumps, which are asked for most often, else the metrics.

        Its reasons of rejection are those of the same pair. A dump tells time-outs from refusals on arrival, and the
        level's object says which these are; any other reason is told by metrics alone, in `counts`.
        """
        if self.recent is not None or self.window is None or self.counts is None:
            return self.recent
        return Recent(self.window, self.counts)

    @property
    def limit_delta(self) -> float | None:
        """Current limit minus nominal: positive has borrowed, negative has lent."""
        if self.current is None or self.nominal is None:
            return None
        return self.current - self.nominal

    @property
    def borrowed(self) -> float | None:
        """Seats of the current limit above the nominal one; None for exempt, whose limit is not enforced."""
        return None if self.exempt or self.limit_delta is None else max(0.0, self.limit_delta)

    @property
    def borrowed_in_use(self) -> float | None:
        if self.exempt or self.seats_in_use is None or self.nominal is None:
            return None
        return max(0.0, self.seats_in_use - self.nominal)

    @property
    def seats_idle(self) -> float | None:
        if self.exempt or self.current is None or self.seats_in_use is None:
            return None
        return max(0.0, self.current - self.seats_in_use)

    @property
    def dispatched_per_s(self) -> float | None:
        return None if self.counts is None or self.window is None else self.window.per_s(self.counts.dispatched)

    @property
    def rejected_per_s(self) -> float | None:
        return None if self.counts is None or self.window is None else self.window.per_s(self.counts.rejected_total)

    @property
    def utilization_now(self) -> float | None:
        """Seats in use over the current limit; None for a limit of 0 and for exempt, whose limit is not enforced."""
        if self.exempt or not self.current or self.seats_in_use is None:
            return None
        return self.seats_in_use / self.current


@dataclass(frozen=True, slots=True)
class Schema:
    """One flow schema on one replica.

    `past_levels` are levels that its series still name but its object does not; `deleted` that there is no object.
    """

    name: str
    config: FlowSchema | None
    deleted: bool
    level: str | None
    past_levels: tuple[str, ...]
    window: Window | None
    counts: Counts | None
    waits: Waits | None
    seats_in_use: float | None
    waiting: float | None
    executing: float | None
    oldest_waiting_s: float | None
    flows: int | None


@dataclass(frozen=True, slots=True)
class SampleAge:
    """When an answer was received (Unix seconds), and whether its endpoint has failed to answer since."""

    time: float | None
    stale: bool


@dataclass(frozen=True, slots=True)
class Own:
    """What became of this tool's own requests on one replica."""

    schema: str | None
    level: str | None
    rejected: int
    sent: int
    next_try: tuple[float, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class Clock:
    """The server's clock at the dump of requests, how it is known, and how far it is believed; seconds."""

    dump_time: float | None
    known_from: str
    tolerance_s: float | None
    skew_s: float | None


@dataclass(frozen=True, slots=True)
class Replica:
    """One API server as seen by the samples so far.

    `requests` is None where there is no dump of them; up to 1.27 it has the waiting ones only (not `lists_executing`).
    `backend` is what lies behind the queues, as far as metrics tell that are read less often. `callbacks` is how the
    last question for webhooks and APIServices ended, as in `endpoints`; one server is asked for all. `failed` is set
    once any question to it went without a usable answer. `started` is when its process started (Unix seconds by its own
    clock), `peer` the SHA-256 of its certificate, empty where there is none.
    """

    name: str
    version: str | None
    kind: Literal["kube-apiserver", "extension"] | None
    apf: Literal["ok", "absent", "denied"] | None
    endpoints: Mapping[str, int | str | None]
    server_concurrency: float | None
    nominal_sum: float | None
    naive_nominal_sum: float | None
    current_sum: float | None
    lower_sum: float | None
    fair_frac: float | None
    nan_levels: tuple[str, ...]
    borrowing: Literal["ok", "frozen", "unknown"]
    stale_levels: tuple[str, ...]
    possibly_stale_levels: tuple[str, ...]
    clock: Clock
    own: Own
    samples: Mapping[str, SampleAge]
    window: Window | None
    levels: Mapping[str, Level]
    schemas: Mapping[str, Schema]
    flows: tuple[Flow, ...]
    requests: tuple[Request, ...] | None
    lists_executing: bool
    sources: Mapping[str, str]
    cannot_fill: tuple[str, ...]
    unknown_families: tuple[str, ...]
    unknown_columns: tuple[str, ...]
    corrections: tuple[str, ...]
    problems: tuple[str, ...]
    failed: bool
    started: float | None
    peer: str
    backend: Backend | None = None
    callbacks: int | str | None = None

    @property
    def unassigned_seats(self) -> float | None:
        if self.nominal_sum is None or self.current_sum is None:
            return None
        return self.nominal_sum - self.current_sum


@dataclass(frozen=True, slots=True)
class LevelTotal:
    """A level summed over the kube-apiservers that have it; None where one of them does not know its term."""

    replicas: int
    nominal: float | None
    current: float | None
    seats_in_use: float | None
    executing: float | None
    waiting: float | None
    dispatched_per_s: float | None
    rejected_per_s: float | None
    refused_share: float | None
    share_of_dispatch: Mapping[str, float]
    skew: float | None


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over replicas: each is a derivation, and never hides the replica that hurts (`hot`)."""

    nominal_sum: float | None
    refused_share: float | None
    levels: Mapping[str, LevelTotal]
    hot: str | None


@dataclass(frozen=True, slots=True)
class Frame:
    """All that is known at one moment, a pure function of the samples so far and the settings.

    `servers_alive` is how many kube-apiservers renewed their lease lately, None where leases cannot be read.
    `callbacks` are the services that API servers call while they serve requests, None where nobody told of them.
    `redacted` where names are pseudonyms.
    """

    t0: float | None
    t1: float | None
    replicas: Mapping[str, Replica]
    totals: Totals
    servers_alive: int | None
    callbacks: tuple[Callback, ...] | None = None
    redacted: bool = False

    @property
    def servers(self) -> tuple[Replica, ...]:
        """The replicas that are kube-apiservers, as far as that is known."""
        return tuple(one for one in self.replicas.values() if one.kind != "extension")

    @property
    def servers_hidden(self) -> int:
        """How many servers are alive by their leases and not among the known ones; 0 where that is not known."""
        return max(0, (self.servers_alive or 0) - len(self.servers))
