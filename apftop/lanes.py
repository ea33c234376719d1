"""How often one server is asked for what: as fresh as the reader needs it, and cheap for a server in trouble."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from apftop.apf.objects import MANDATORY
from apftop.doubt import doubtful, near_limit
from apftop.parse.vocabulary import asked_names, vocabulary
from apftop.records.asking import Demand, Plan
from apftop.records.parsed import LevelRow
from apftop.records.raw import DUMPS, Endpoint
from apftop.records.state import ReplicaState, Transfer
from apftop.rules import rules

STEP_S = 0.5
"""What is stretched is stretched by whole steps, so that plans do not change with every answer."""

SPEEDS_COMPARED = 3
"""The slowest of so many answers tells the speed of the link: a wrong guess must not be too fast."""

MOST_NEW_FAMILIES = 50
"""So many families that the vocabulary lacks are asked for by name: a query has to end somewhere."""


def plan(replica: ReplicaState, demand: Demand) -> Plan:
    """What to ask of a server now, by what it has answered so far. Pure, so that it may be asked after each answer.

    The reader chooses the pace of the dumps, and metrics get what is left of the share of a core that all polling may
    cost. What a server denies or lacks is asked for rarely, since that may change. The numbers are in `rules.toml`.
    """
    limits = rules().polling
    own: dict[Endpoint, float] = {}
    rarely: dict[Endpoint, float] = {}
    beside: dict[Endpoint, float] = {}
    left_out: dict[Endpoint, str] = {}
    for endpoint, seconds, paired in _dumps(replica, demand):
        rare, long = _rare(replica, endpoint), too_long(replica, endpoint)
        if rare or long:
            left_out[endpoint] = rare or long
        if rare and not long:
            rarely[endpoint] = max(seconds, limits.rare_s)
        elif not long:
            (beside if paired else own)[endpoint] = seconds
    scrape_s, whole_s = _metrics_s(replica)
    behind, behind_share = _behind(replica, scrape_s)
    spent = whole_s / limits.whole_again_s + _share(replica, {**own, **rarely}) + behind_share
    paired_s = sum(_dump_s(replica, endpoint) for endpoint in beside)
    least = max(demand.interval_s, limits.whole_s if _by_name(replica) is False else limits.named_s)
    wished = _stretched((scrape_s or 0.0) + paired_s, limits.server_share - spent, least, limits.metrics_slowest_s)
    rare = _rare(replica, Endpoint.METRICS)
    if rare:
        left_out[Endpoint.METRICS] = rare
        scrape_s, metrics_s = 0.0, max(wished, limits.rare_s)
    else:
        own, metrics_s = _in_step(own, wished)
    dumps = {**own, **rarely, **{endpoint: max(seconds, metrics_s) for endpoint, seconds in beside.items()}}
    spent = whole_s / limits.whole_again_s + _share(replica, dumps) + behind_share
    return Plan(
        every_s={**own, **rarely, Endpoint.METRICS: metrics_s, **behind},
        with_metrics=beside,
        families=_families(replica),
        whole_every_s=limits.whole_again_s,
        left_out=left_out,
        cost_share=None if scrape_s is None else spent + scrape_s / metrics_s,
        levels_at=0.0 if _levels(replica) is None else replica.levels[-1].received,
    )


def _behind(replica: ReplicaState, scrape_s: float | None) -> tuple[dict[Endpoint, float], float]:
    """How often to ask what lies behind the queues, if at all, and the share of a core that it costs the server.

    Not before metrics have answered, which tell what it will cost. Two answers make a pair, which then waits for a
    doubt, and is renewed at a calm pace meanwhile.
    """
    if not replica.metrics or scrape_s is None or _rare(replica, Endpoint.METRICS):
        return {}, 0.0
    limits = rules().behind
    named = _transfers(replica, Endpoint.BACKEND, named=True)
    trip_s = min((one.begun - one.sent for one in _transfers(replica, Endpoint.LEVELS)), default=0.0)
    cost_s = _scrape_s(named, trip_s) if named else scrape_s
    outcome = replica.outcomes.get(Endpoint.BACKEND)
    unread = outcome is not None and (outcome.error != "" or outcome.status != 200)
    often = unread or len(replica.behind) < 2 or doubtful(replica, _levels(replica) or ())
    least = limits.doubt_s if often else limits.calm_s
    every_s = _stretched(cost_s, limits.server_share, least, math.inf)
    return {Endpoint.BACKEND: every_s}, cost_s / every_s


def _dumps(replica: ReplicaState, demand: Demand) -> Iterator[tuple[Endpoint, float, bool]]:
    """The dumps worth asking for, their intervals, and whether they are of use next to metrics only.

    Queues say little without the requests that are in them. What was seen to wait is asked for once more when nothing
    waits, so that an interval with waiting requests has a dump at its end.
    """
    limits, readers = rules().polling, _readers(replica)
    yield Endpoint.LEVELS, readers * max(demand.interval_s, limits.least_interval_s), False
    known = _levels(replica)
    rows = known or ()
    often, queues_s = (
        _dump_interval(replica, endpoint, demand, readers, limits.requests_s)
        for endpoint in (Endpoint.REQUESTS, Endpoint.QUEUES)
    )
    slowly = _dump_interval(replica, Endpoint.REQUESTS, demand, readers, limits.requests_slow_s)
    waiting, measured = any(row.waiting for row in rows), not _rare(replica, Endpoint.METRICS)
    ended = measured and known is not None and not waiting and _waited(replica)
    if waiting or demand.needs & {Endpoint.REQUESTS, Endpoint.QUEUES}:
        yield Endpoint.REQUESTS, often, False
    elif ended:
        yield Endpoint.REQUESTS, often, True
    elif _busy(replica, rows):
        yield Endpoint.REQUESTS, slowly, False
    if Endpoint.QUEUES in demand.needs:
        yield Endpoint.QUEUES, queues_s, False
    elif measured and (waiting or ended):
        yield Endpoint.QUEUES, queues_s, True


def _dump_interval(replica: ReplicaState, endpoint: Endpoint, demand: Demand, readers: int, least_s: float) -> float:
    limits = rules().polling
    least = readers * max(demand.interval_s, least_s)
    return _stretched(_dump_s(replica, endpoint), limits.dump_share, least, limits.requests_slow_s)


def _in_step(dumps: Mapping[Endpoint, float], metrics_s: float) -> tuple[dict[Endpoint, float], float]:
    """The intervals of dumps and of metrics, stretched so that each turn of a slower lane is one of the faster ones.

    So dumps tell of the moment of the metrics, and nothing is asked for the more often. The levels keep their pace; of
    other dumps and metrics, those give way that lose less by it.
    """
    found, beat = dict(dumps), dumps.get(Endpoint.LEVELS, 0.0)
    if beat < 2 * metrics_s:
        metrics_s = _turns(metrics_s, beat)
    for endpoint in (Endpoint.REQUESTS, Endpoint.QUEUES):
        if endpoint not in found:
            continue
        beat = _turns(found[endpoint], beat)
        later_s = _turns(metrics_s, beat)
        if beat > metrics_s or metrics_s / beat < later_s / metrics_s:
            beat = _turns(beat, metrics_s)
        else:
            metrics_s = later_s
        found[endpoint] = beat
    return found, metrics_s


def _turns(seconds: float, beat_s: float) -> float:
    """The least whole number of beats that is no shorter; any time is, where there is no beat."""
    return math.ceil(seconds / beat_s - 1e-9) * beat_s if beat_s else seconds


def _share(replica: ReplicaState, every_s: Mapping[Endpoint, float]) -> float:
    """The share of a core that dumps at these intervals cost the server."""
    return sum(_dump_s(replica, endpoint) / seconds for endpoint, seconds in every_s.items())


def _stretched(cost_s: float, share: float, least_s: float, most_s: float) -> float:
    """The interval at which a cost in seconds of CPU stays within a share of a core, from `least_s` to `most_s`."""
    wished = cost_s / share if share > 0 else math.inf
    if wished <= least_s:
        return least_s
    return max(least_s, most_s if wished >= most_s else math.ceil(wished / STEP_S) * STEP_S)


def _rare(replica: ReplicaState, endpoint: Endpoint) -> str:
    """Why an endpoint is asked for rarely, empty where it is not."""
    outcome = replica.outcomes.get(endpoint)
    if outcome is not None and outcome.status in (403, 404):
        return f"status {outcome.status}"
    levels = _levels(replica)
    if endpoint in DUMPS and levels and MANDATORY.issuperset(row.name for row in levels):
        return "it has the mandatory levels only, as an extension server does"
    return ""


def _levels(replica: ReplicaState) -> tuple[LevelRow, ...] | None:
    """The newest dump of priority levels, if its endpoint still answers."""
    outcome = replica.outcomes.get(Endpoint.LEVELS)
    if not replica.levels or outcome is None or outcome.error or outcome.status != 200:
        return None
    return replica.levels[-1].data.rows


def _waited(replica: ReplicaState) -> bool:
    """Whether requests waited when they were last dumped."""
    return replica.requests is not None and any(not row.executing for row in replica.requests.data.rows)


def _busy(replica: ReplicaState, rows: tuple[LevelRow, ...]) -> bool:
    """Whether many requests execute in a level, exempt ones too, or come near the seats it has."""
    if any(row.executing and row.executing >= rules().polling.many_executing for row in rows):
        return True
    return near_limit(replica, rows, rules().polling.near_limit)


def _readers(replica: ReplicaState) -> int:
    """How many read the dumps at the same time, by the requests for dumps that dumps have shown, ours among them.

    The dump that shows them is asked for at times only, so that what it showed long ago counts no more.
    """
    now = max((one.received for one in _transfers(replica, Endpoint.LEVELS)), default=0.0)
    dumps = _transfers(replica, Endpoint.REQUESTS)
    seen = (one.readers for one in dumps if now - one.received <= rules().polling.readers_s)
    return min(max(1, *seen, 0), rules().polling.most_readers)


def too_long(replica: ReplicaState, endpoint: Endpoint) -> str:
    """Why a dump would hold up its server for too long, empty where it would not.

    The server makes up the text row by row and writes it while it holds the lock (1.26 to 1.37).
    """
    if endpoint is Endpoint.LEVELS:
        return ""
    limits = rules().hold
    rows = _rows(replica, endpoint)
    if rows is None:
        needed = Endpoint.LEVELS if endpoint is Endpoint.REQUESTS else Endpoint.CONFIGS
        return f"how large it would be is not known without {needed}"
    row_bytes = _row_bytes(replica, endpoint)
    size, speed = rows * row_bytes, _speed(replica)
    about = f"about {rows} rows of {row_bytes:.0f} B"
    if speed is None and size > limits.first_flight_bytes:
        return f"{about}, and how fast the link is is not known yet"
    held_s = rows * limits.row_us / 1e6 + (size / speed if speed else 0.0)
    if held_s <= limits.longest_s:
        return ""
    link = f" at {speed / 1e6:.2g} MB/s" if speed else ""
    return f"{about}{link} would hold the server up for {held_s * 1000:.0f} ms, over {limits.longest_s * 1000:.0f} ms"


def _rows(replica: ReplicaState, endpoint: Endpoint) -> int | None:
    """How many rows a dump will have; queues that were taken away are listed for as long as they drain."""
    levels = _levels(replica)
    if endpoint is Endpoint.LEVELS:
        return None if levels is None else len(levels)
    if endpoint is Endpoint.REQUESTS:
        return None if levels is None else sum((row.waiting or 0) + (row.executing or 0) for row in levels)
    if replica.configs is None:
        return None
    queues = sum(config.queuing.queues for config in replica.configs.data if config.queuing is not None)
    return max(queues, *(transfer.rows for transfer in _transfers(replica, endpoint)[-1:]), 0)


def _row_bytes(replica: ReplicaState, endpoint: Endpoint) -> float:
    """The width of a row as the last dump showed it, else as assumed."""
    seen = [transfer for transfer in _transfers(replica, endpoint) if transfer.rows]
    if seen:
        return seen[-1].wire_bytes / seen[-1].rows
    return rules().hold.request_row_bytes if endpoint is Endpoint.REQUESTS else rules().hold.queue_row_bytes


def _speed(replica: ReplicaState) -> float | None:
    """Bytes a second of the link, by the latest answers that are long enough to tell; without any, by shorter ones."""
    limits = rules().hold
    some = [one for kind in replica.transfers.values() for one in kind if one.wire_bytes > limits.first_flight_bytes]
    telling = [one for one in some if one.wire_bytes >= limits.telling_bytes] or some
    latest = sorted(telling, key=lambda one: one.received)[-SPEEDS_COMPARED:]
    speeds = (one.wire_bytes / (max(0.0, one.received - one.begun) + limits.late_s) for one in latest)
    return min(speeds, default=None)


def _dump_s(replica: ReplicaState, endpoint: Endpoint) -> float:
    """Seconds of CPU that a dump costs the server, by the rows that it will have."""
    cost = rules().cost
    idle_ms = {Endpoint.LEVELS: cost.levels_ms, Endpoint.REQUESTS: cost.requests_ms, Endpoint.QUEUES: cost.queues_ms}
    return max(idle_ms[endpoint] / 1000, (_rows(replica, endpoint) or 0) * rules().hold.row_us / 1e6)


def _metrics_s(replica: ReplicaState) -> tuple[float | None, float]:
    """Seconds of CPU that the usual question for metrics costs the server, and one for all of them that is apart."""
    whole, named = _transfers(replica, Endpoint.METRICS), _transfers(replica, Endpoint.METRICS, named=True)
    usual = named or whole
    if not usual:
        return None, 0.0
    trip_s = min((one.begun - one.sent for one in _transfers(replica, Endpoint.LEVELS)), default=0.0)
    return _scrape_s(usual, trip_s), _scrape_s(whole, trip_s) if whole and _by_name(replica) else 0.0


def _scrape_s(transfers: tuple[Transfer, ...], trip_s: float) -> float:
    """Gathering ends with the first byte: the soonest of the last few is the least disturbed. Then comes encoding."""
    cost, last = rules().cost, transfers[-1]
    gathering = max(0.0, min(one.begun - one.sent for one in transfers) - trip_s)
    per_mb = (cost.text_ms_per_mb if last.text else cost.protobuf_ms_per_mb) / 1000
    packed = 1 + cost.gzip_share if last.wire_bytes < last.whole_bytes else 1
    return gathering + last.whole_bytes / 1e6 * per_mb * packed


def _by_name(replica: ReplicaState) -> bool | None:
    """Whether the server picks families by name (since 1.37), which its last answer to that shows; None before it."""
    named = _transfers(replica, Endpoint.METRICS, named=True)
    return named[-1].whole_bytes <= 2 * named[-1].kept_bytes if named else None


def _families(replica: ReplicaState) -> tuple[str, ...]:
    """The names to ask for: all known ones, and those that whole answers have shown besides."""
    known, prefix = asked_names(), vocabulary().prefix
    seen = {name for read in replica.metrics for name in read.data.families if name.startswith(prefix)}
    return known + tuple(sorted(seen.difference(known))[:MOST_NEW_FAMILIES])


def _transfers(replica: ReplicaState, endpoint: Endpoint, *, named: bool = False) -> tuple[Transfer, ...]:
    return replica.transfers.get((endpoint, named), ())
