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


class Load(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When the life of a level tells what it is usually asked to do. Seconds."""

    least_life_s: float


class OfBaselines(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When moments gone by tell what a level is usually asked to do. Seconds."""

    least_s: float


class Behind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When it is asked what lies behind the queues, and until when that tells of now. Shares, seconds and requests."""

    doubt_s: float
    calm_s: float
    server_share: float
    outdated_s: float
    near_limit: float
    slower_times: float
    slower_s: float
    slower_of: int


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
    """`[findings.load]`: when a level is full, with whom, and why. Requests, seconds, shares and factors."""

    least_window_s: float
    refused_least: float
    refused_share: float
    queue: float
    felt_s: float
    full_share: float
    long_s: float
    full_least: float
    dominant_share: float
    crowded_share: float
    crowded_least: int
    held_share: float
    turn_share: float
    many_clients: int
    rise_factor: float
    slow_factor: float
    slow_s: float
    slow_least: int
    behind_factor: float
    behind_s: float
    behind_least: float
    storm_share: float
    storm_per_s: float
    storm_rise: float
    server_full: float
    calm_share: float
    protected: tuple[str, ...]
    own_shares: int
    more_shares: float
    started_slack_s: float


class OfFlows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.flows]`: when a flow or a kind of request crowds a level. Requests, shares, seconds and a chance."""

    waiting: int
    refused: float
    fill: float
    flow_share: float
    kind_share: float
    even_clients: int
    client_share: float
    oldest_s: float
    heavy_share: float
    squeezed: float


class OfWidths(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.widths]`: when the width of requests is the matter. Seats, shares, requests and seconds."""

    width: float
    seats_share: float
    full_share: float
    requests: int
    waiting: int
    refused: float
    oldest_s: float
    idle_share: float
    list_s: float
    lists: int
    watches: int
    watches_share: float


class OfInversion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.inversion]`: when requests wait for others that wait in a queue. Seconds, requests and shares."""

    executing_s: float
    waiting_s: float
    requests: int
    stuck_share: float
    alone_s: float
    alone_share: float
    crowded_namespaces: tuple[str, ...]
    reviews: tuple[str, ...]


class OfZeroSeats(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.zero_seats]`: counts."""

    least_requests: int
    shares_given: int


class OfLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.limits]`: seconds, counts, percent, and a ratio."""

    least_s: float
    least_requests: int
    percent_step: int
    least_raise: float
    tolerance_seats: float


class OfLeaks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.leaks]`: seconds, counts and shares."""

    least_s: float
    deadlines: int
    seats_share: float
    demand_share: float
    passed_s: float


class OfWaits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.waits]`: seconds, shares and counts."""

    least_s: float
    near: float
    near_share: float
    near_requests: int
    timed_out: int


class OfPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.policy]`: counts, likeness of names from 0 to 1, seconds; names of providers, commands of guards."""

    strays: int
    near: float
    settled_s: float
    providers: dict[str, str]
    guards: dict[str, str]


class OfExempt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.exempt]`: groups, verbs, requests and seconds."""

    broad: tuple[str, ...]
    verbs: tuple[str, ...]
    executing: int
    oldest_s: float


class OfEdits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.edits]`: seconds, and a share of all shares."""

    before_s: float
    together_s: float
    share: float


class OfRisk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.risk]`: when what keeps a cluster alive is delayed or refused. Requests, seconds and shares."""

    refused_least: float
    near_s: float
    near_share: float
    near_least: int


class ReleaseChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is other from a release on, and the ranges of releases in which it is so."""

    holds: tuple[str, ...]
    text: str


class OfReplicas(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.replicas]`: seconds, shares, rates and counts."""

    least_s: float
    uneven: float
    least_per_s: float
    refused: float
    idle_share: float
    full_share: float
    times: float
    restarted_s: float
    clock_here_s: float
    clocks_apart_s: float
    clocks_warning_s: float
    changes: tuple[ReleaseChange, ...]


class OfAccess(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.access]`; `lost` says by measure what cannot be told without it."""

    least_s: float
    recent_s: float
    own_refused: int
    forbidden_share: float
    forbidden_per_s: float
    others: float
    others_share: float
    lost: dict[str, str]


class OfRefusals(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.refusals]`: seconds, shares, rates and counts."""

    least_s: float
    refused: float
    share: float
    catch_all_per_s: float


class OfClient(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.client]`: seconds, counts and a share."""

    lines: int
    long_s: float
    alone_s: float
    lease_s: float
    refused: int
    refused_share: float


class OfDoubt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.doubt]`: codes of laws."""

    told_elsewhere: tuple[str, ...]
    grave: tuple[str, ...]


class OfVerdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.verdict]`: when it is not flow control. Requests, shares and seconds."""

    other_least: float
    other_share: float
    other_of_all: float
    client_wait_s: float


class OfAlerts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[findings.alerts]`: thresholds of the query library. Requests, shares, seats and seconds."""

    least: float
    rejected: float
    rejected_share: float
    protected: tuple[str, ...]
    protected_rejected: float
    long_s: float
    long_share: float
    near_limit_s: float
    near_limit_share: float
    waits_per_s: float
    timed_out: float
    full_share: float
    borrowing_full_share: float
    server_spare_below: float
    server_full_share: float
    exempt_share: float
    exempt_schemas: tuple[str, ...]
    exempt_per_s: float
    catch_all_per_s: float
    storm: float
    storm_share: float
    imbalance_times: float
    imbalance_per_s: float
    over_share: float
    queues_full_share: float
    single_spare_share: float
    wide_seats_share: float
    wide_seats: float
    wide_full_share: float
    forbidden_share: float
    forbidden_per_s: float
    mixin_share: float


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
    alerts: OfAlerts


class Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of `rules.toml`."""

    wait: Wait
    state: State
    clock: Clock
    window: Window
    load: Load
    baselines: OfBaselines
    behind: Behind
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
