"""Thresholds, windows and assumptions, read from `rules.toml`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec


class Wait(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long a request may wait in a queue. Seconds."""

    default_request_timeout_s: float
    limit_fraction: float
    limit_cap_s: float
    limit_cap_holds: tuple[str, ...]
    least_time_out_s: float


class State(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a level counts as saturated."""

    saturated_share_of_time: float


class Clock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far clocks are believed. Seconds."""

    date_tolerance_s: float
    age_cap_s: float
    age_slack_s: float


class Window(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When two answers are of one server, and whose clock gives the time between them. Shares and seconds."""

    clock_agreement: float
    clock_agreement_s: float
    start_jitter_s: float
    tear_s: float
    fresher_s: float
    outdated_s: float


class Fresh(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Until when a number that was not renewed is shown as one of now."""

    late_rounds: float


class Alive(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which leases are those of API servers that live. Seconds."""

    lease_prefixes: tuple[str, ...]
    renewed_within_s: float


class Polling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often servers are asked, and what that may cost them. Shares and seconds."""

    server_share: float
    dump_share: float
    least_interval_s: float
    requests_s: float
    requests_slow_s: float
    near_limit: float
    many_executing: int
    named_s: float
    whole_s: float
    metrics_slowest_s: float
    whole_again_s: float
    rare_s: float
    most_readers: int
    readers_s: float


class Hold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For how long a dump may hold up a server, and how that is foreseen. Seconds, microseconds and bytes."""

    longest_s: float
    row_us: float
    request_row_bytes: float
    queue_row_bytes: float
    first_flight_bytes: int
    telling_bytes: int
    late_s: float


class Cost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What answers cost a server. Milliseconds of CPU."""

    text_ms_per_mb: float
    protobuf_ms_per_mb: float
    gzip_share: float
    levels_ms: float
    requests_ms: float
    queues_ms: float


class Counting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far counters of one answer may lie apart. Requests and seconds."""

    tear_requests: float
    tear_s: float
    tear_deviations: float
    refusals: float


class Waiting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far two counts of the time spent waiting may lie apart, and when a server is taken for short of CPU."""

    share: float
    wake_up_s: float
    lag_s: float
    least_s: float
    late_s: float
    late_share: float


class Seats(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far two counts of the time that seats are taken may lie apart. Shares and seconds."""

    share: float
    lag_s: float
    least_s: float
    longest_step_s: float
    seat_share: float
    seat_least_s: float


class Limit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For how much of a window a level may be above its limit, or leave seats free while requests wait."""

    over_share: float
    idle_s: float


class Same(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far metrics and dumps of one server may lie apart. Requests, requests a second, and seconds."""

    rate: float
    least_per_s: float
    lag_s: float
    least: float
    burst: float
    settled_s: float
    made_s: float
    moment_s: float
    slewed: float


class ServerClock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far a server's clock may be from this machine's. Seconds."""

    tolerance_s: float
    set_for_s: float


class Hands(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When it is no chance that cards are not played. A probability."""

    chance: float


class Current(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far current limits and their fair fraction may be from the rule. Seats, seconds, and a share."""

    tolerance_seats: float
    fair_share: float
    fair_least: float
    period_s: float


class Objects(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a server surely goes by an object. Seconds."""

    settled_s: float


class Fairness(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What it takes to tell fair shares from first come, first served. Seconds, shares, and counts.

    The first ones are of the pairs that overtaking is told by, the others of light flows and the heaviest.
    """

    apart_s: float
    pairs: int
    least_share: float
    mean_age_s: float
    crowded_seats: int
    crowded_times: int
    executing: int
    dumps: int
    light_share: float
    light_seats: int
    light_requests: int
    heavy_s: float
    depth: float
    light_ratio: float
    unfair_depth: float
    unfair_ratio: float
    longest_age_s: float


class Band(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is simulated, and how far observed waits may lie outside the band. Seconds, shares and counts."""

    waited_s: float
    batch_s: float
    width_share: float
    late_share: float
    move_share: float
    alike_share: float
    onward_s: float
    drift: float
    most_requests: int
    least_runs: int
    least_s: float
    low_share: float
    low_s: float
    high_share: float
    high_s: float
    served_share: float
    served: float
    longest_s: float
    least_slower: float
    most_slower: float
    core_share: float
    one_shot_s: float
    most_starts: int


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Windows and tolerances of the laws that numbers are held against. Seconds, shares and counts."""

    window_s: float
    least_answers: int
    together_s: float
    counting: Counting
    waiting: Waiting
    seats: Seats
    limit: Limit
    same: Same
    clock: ServerClock
    objects: Objects
    hands: Hands
    current: Current
    fairness: Fairness
    band: Band


class Flows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many flows are compared for shared queues."""

    compared: int


class OfLoad(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.load]`."""


class OfFlows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.flows]`."""


class OfWidths(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.widths]`."""


class OfInversion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.inversion]`."""


class OfZeroSeats(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.zero_seats]`."""


class OfLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.limits]`."""


class OfLeaks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.leaks]`."""


class OfWaits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.waits]`."""


class OfPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.policy]`."""


class OfExempt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.exempt]`."""


class OfEdits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.edits]`."""


class OfRisk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.risk]`."""


class OfReplicas(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.replicas]`."""


class OfAccess(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.access]`."""


class OfRefusals(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.refusals]`."""


class OfClient(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.client]`."""


class OfDoubt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.doubt]`."""


class OfVerdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.verdict]`."""


class Findings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings]`: one table for each module of `findings`."""

    load: OfLoad
    flows: OfFlows
    widths: OfWidths
    inversion: OfInversion
    zero_seats: OfZeroSeats
    limits: OfLimits
    leaks: OfLeaks
    waits: OfWaits
    policy: OfPolicy
    exempt: OfExempt
    edits: OfEdits
    risk: OfRisk
    replicas: OfReplicas
    access: OfAccess
    refusals: OfRefusals
    client: OfClient
    doubt: OfDoubt
    verdict: OfVerdict


class Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of `rules.toml`."""

    wait: Wait
    state: State
    clock: Clock
    window: Window
    fresh: Fresh
    alive: Alive
    polling: Polling
    hold: Hold
    cost: Cost
    check: Check
    findings: Findings
    flows: Flows


@cache
def rules() -> Rules:
    """The one set of rules; it ships with the package."""
    return msgspec.toml.decode(files("apftop").joinpath("rules.toml").read_bytes(), type=Rules)
