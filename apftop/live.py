"""The samples so far: each new sample is parsed and laid beside the earlier ones of its replica."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from apftop.parse.behind import behind, without_behind
from apftop.parse.callbacks import parse_callbacks
from apftop.parse.dumps import parse_levels, parse_queues, parse_requests
from apftop.parse.facts import parse_facts
from apftop.parse.instances import split_by_instance
from apftop.parse.leases import parse_leases
from apftop.parse.metrics import parse_metrics
from apftop.parse.objects import configs_of, parse_objects, schemas_of
from apftop.records.parsed import Dump, KeptHands, Metrics, ParseError, RequestRow
from apftop.records.raw import (
    CALLBACKS,
    DUMP_PATHS,
    FLOW_SCHEMA_UID,
    LEVEL_UID,
    OBJECTS,
    PROCESS_START,
    Endpoint,
    Sample,
)
from apftop.records.state import Outcome, OwnAnswer, Read, ReplicaState, State, Transfer

OWN_KEPT = 500
TRANSFERS_KEPT = 5


def fold(samples: Iterable[Sample], state: State | None = None) -> State:
    """The state after all samples, in order."""
    state = state or State()
    for sample in samples:
        state = observe(state, sample)
    return state


def observe(state: State, sample: Sample) -> State:
    """The state with one more sample. A sample that is older than what is known, or says nothing, changes no data.

    One of DISCOVERY is a request of ours like any other, and no more.
    """
    replica = state.replicas.get(sample.replica) or ReplicaState(sample.replica)
    replica = replace(
        _with_own(replica, sample),
        bytes_received=replica.bytes_received + _bytes(sample),
        peer=sample.peer or replica.peer,
    )
    if sample.endpoint is Endpoint.DISCOVERY:
        return _put(state, replica)
    if sample.endpoint is Endpoint.FACTS:
        return _put(state, _with_facts(replica, sample))
    if sample.endpoint is Endpoint.LEASES:
        return _put(state, _with_leases(replica, sample))
    if sample.endpoint in CALLBACKS and not sample.ok:
        # Who may not read them has all the rest.
        return _put(state, _with_outcome(replica, sample, Outcome(sample.status, sample.error)))
    if not sample.ok:
        return _put(state, _without_data(replica, sample, sample.error))
    try:
        data, problems = _parse(sample)
    except ParseError as error:
        return _put(state, _without_data(replica, sample, f"{sample.origin or sample.endpoint}: {error}"))
    replica = _with_transfer(_with_outcome(replica, sample, Outcome(sample.status or 200)), sample, data)
    if sample.endpoint is Endpoint.METRICS:
        return _with_metrics(state, replica, sample, data)
    return _put(state, _with_data(replica, sample, data, problems))


def _parse(sample: Sample) -> tuple[Any, tuple[str, ...]]:
    """The data, and what of it could not be read."""
    match sample.endpoint:
        case Endpoint.METRICS:
            metrics = parse_metrics(sample.body, sample.content_type)
            if not metrics.families:
                raise ParseError("no family in it that apftop reads: empty, or not of an API server")
            return metrics, ()
        case Endpoint.BACKEND:
            return parse_metrics(sample.body, sample.content_type), ()
        case Endpoint.VALIDATING | Endpoint.MUTATING | Endpoint.APISERVICES | Endpoint.WEBHOOKS:
            told = parse_callbacks(sample.body)
            return told.callbacks, told.problems
        case Endpoint.LEVELS:
            return parse_levels(sample.body), ()
        case Endpoint.QUEUES:
            return parse_queues(sample.body), ()
        case Endpoint.REQUESTS:
            return parse_requests(sample.body), ()
    objects = parse_objects(sample.body)
    data = schemas_of(objects) if sample.endpoint is Endpoint.SCHEMAS else configs_of(objects)
    return data, objects.problems


def _with_leases(replica: ReplicaState, sample: Sample) -> ReplicaState:
    """What may not be read is not missed: the leases only say how many servers there should be."""
    if not sample.ok:
        return replace(replica, leases=None)
    try:
        return replace(replica, leases=_read(sample, parse_leases(sample.body)))
    except ParseError as error:
        return _problem(replace(replica, leases=None), f"{sample.origin or sample.endpoint}: {error}")


def _with_facts(replica: ReplicaState, sample: Sample) -> ReplicaState:
    """What a redacted bundle keeps; where that cannot be read, all that it would tell is unknown."""
    try:
        if not sample.ok:
            raise ParseError(f"{sample.error or 'not there'}: the hands of flows are unknown")
        return replace(replica, kept=parse_facts(sample.body))
    except ParseError as error:
        return _problem(replace(replica, kept=KeptHands({})), f"{sample.origin or sample.endpoint}: {error}")


def _with_metrics(state: State, replica: ReplicaState, sample: Sample, metrics: Metrics) -> State:
    """Lay metrics beside the earlier ones; a file that mixes several servers becomes one replica for each of them."""
    parts = split_by_instance(metrics)
    if len(parts) <= 1:
        return _put(state, _with_data(replica, sample, metrics))
    state = _put(state, replace(replica, federated=True))
    for instance, part in parts.items():
        name = instance if sample.replica == "server" else f"{sample.replica}/{instance}"
        single = state.replicas.get(name) or ReplicaState(name)
        single = replace(single, schemas=replica.schemas or single.schemas, configs=replica.configs or single.configs)
        for endpoint in (Endpoint.METRICS, *OBJECTS):
            if endpoint in replica.outcomes:
                single = replace(single, outcomes={**single.outcomes, endpoint: replica.outcomes[endpoint]})
        state = _put(state, _with_data(single, sample, part))
    return state


def _read(sample: Sample, data: Any, problems: tuple[str, ...] = ()) -> Read[Any]:
    stamps = sorted(stamp for pair in data.stamps.values() for stamp in pair) if isinstance(data, Metrics) else []
    started = sample.header(PROCESS_START) or ""
    return Read(
        data=data,
        sent=stamps[0] if stamps else sample.sent,
        received=stamps[-1] if stamps else sample.received,
        server_date=sample.server_date,
        server_time=sample.server_time,
        noted=sample.noted,
        origin=sample.origin,
        status=sample.status,
        level_uid=sample.header(LEVEL_UID) or "",
        schema_uid=sample.header(FLOW_SCHEMA_UID) or "",
        problems=problems,
        begun=sample.begun,
        started=float(started) if started.isdecimal() else None,
        peer=sample.peer,
    )


def _with_data(replica: ReplicaState, sample: Sample, data: Any, problems: tuple[str, ...] = ()) -> ReplicaState:
    read = _read(sample, data, problems)
    match sample.endpoint:
        case Endpoint.METRICS:
            metrics, told = without_behind(data)
            replica = _in_order(replica, "metrics", replica.metrics, replace(read, data=metrics))
            return replica if told is None else _in_order(replica, "behind", replica.behind, replace(read, data=told))
        case Endpoint.BACKEND:
            return _in_order(replica, "behind", replica.behind, replace(read, data=behind(data)))
        case Endpoint.VALIDATING | Endpoint.MUTATING | Endpoint.APISERVICES | Endpoint.WEBHOOKS:
            return replace(replica, callbacks={**replica.callbacks, sample.endpoint: read})
        case Endpoint.LEVELS:
            return _in_order(replica, "levels", replica.levels, read)
        case Endpoint.QUEUES:
            return replace(replica, queues=read)
        case Endpoint.REQUESTS:
            return replace(replica, requests=read if replica.kept is None else _placed(read, replica.kept))
        case Endpoint.SCHEMAS:
            return replace(replica, schemas=read)
        case Endpoint.CONFIGS:
            return replace(replica, configs=read)
        case Endpoint.DISCOVERY | Endpoint.LEASES | Endpoint.FACTS:
            return replica


def _placed(read: Read[Dump[RequestRow]], kept: KeptHands) -> Read[Dump[RequestRow]]:
    """Rows whose names are pseudonyms, with the hands that are known all the same."""
    rows = tuple(replace(row, kept=kept) for row in read.data.rows)
    return replace(read, data=replace(read.data, rows=rows))


def _in_order(replica: ReplicaState, field: str, held: tuple[Read[Any], ...], read: Read[Any]) -> ReplicaState:
    """Keep the last two answers in the order of their times; an older or repeated one is left out and named.

    One that is older by this machine's clock alone, and later by the server's `Date`, came after that clock was set
    back: it counts, but nothing can be compared with what came before.
    """
    if held and read.time is not None and held[-1].time is not None:
        if read.time < held[-1].time:
            if not _dated_later(held[-1], read):
                return _problem(replica, f"{read.origin or field}: older than the sample before it, left out")
            held = ()
        elif read.time == held[-1].time:
            return _problem(replica, f"{read.origin or field}: same time as the sample before it, left out")
    pair: dict[str, Any] = {field: (*held[-1:], read)}
    return replace(replica, **pair)


def _dated_later(before: Read[Any], after: Read[Any]) -> bool:
    return before.server_date is not None and after.server_date is not None and after.server_date > before.server_date


def _with_own(replica: ReplicaState, sample: Sample) -> ReplicaState:
    """Remember how APF treated this request of ours, of the last `OWN_KEPT` ones."""
    schema_uid, level_uid = sample.header(FLOW_SCHEMA_UID), sample.header(LEVEL_UID)
    if schema_uid is None and level_uid is None:
        return replica
    # A 429 in JSON was served by the handler: only the plain text one is a refusal of APF.
    refused = sample.status == 429 and not sample.content_type.startswith("application/json")
    retry = sample.header("retry-after") or ""
    answer = OwnAnswer(
        sent=sample.sent,
        received=sample.received,
        schema_uid=schema_uid or "",
        level_uid=level_uid or "",
        refused=refused,
        retry_after_s=float(retry) if retry.isdecimal() else None,
    )
    return replace(
        replica,
        own=(*replica.own[-OWN_KEPT:], answer),
        own_sent=replica.own_sent + 1,
        own_refused=replica.own_refused + refused,
    )


def _with_transfer(replica: ReplicaState, sample: Sample, data: Any) -> ReplicaState:
    """Remember how this answer came, if it came over the network and not as the copy of another one."""
    if sample.sent is None or sample.begun is None or sample.received is None or not sample.wire_bytes:
        return replica
    rows: tuple[Any, ...] = data.rows if isinstance(data, Dump) else ()
    transfer = Transfer(
        sent=sample.sent,
        begun=sample.begun,
        received=sample.received,
        wire_bytes=sample.wire_bytes,
        whole_bytes=len(sample.body) if sample.whole_bytes is None else sample.whole_bytes,
        kept_bytes=len(sample.body),
        text=not isinstance(data, Metrics) or data.format != "protobuf",
        rows=len(rows),
        readers=sum(_reads_dumps(row) for row in rows) if sample.endpoint is Endpoint.REQUESTS else 0,
    )
    kind = sample.endpoint, sample.named
    held = replica.transfers.get(kind, ())[1 - TRANSFERS_KEPT :]
    return replace(replica, transfers={**replica.transfers, kind: (*held, transfer)})


def _reads_dumps(row: RequestRow) -> bool:
    return row.details is not None and row.details.path.startswith(DUMP_PATHS)


def _without_data(replica: ReplicaState, sample: Sample, fault: str) -> ReplicaState:
    if fault and sample.origin:
        # A saved file is not read again: what is wrong with it stays true when another one follows.
        replica = _problem(replica, fault)
    failures = {**replica.failures, sample.endpoint: fault or f"status {sample.status}"}
    return replace(_with_outcome(replica, sample, Outcome(sample.status, fault)), failures=failures)


def _bytes(sample: Sample) -> int:
    """Bytes over the wire where they are known, else of the body."""
    return len(sample.body) if sample.wire_bytes is None else sample.wire_bytes


def _with_outcome(replica: ReplicaState, sample: Sample, outcome: Outcome) -> ReplicaState:
    asked = sample.begun is not None or (sample.error and not sample.origin)
    outcome = replace(outcome, at=sample.received if asked else None)
    return replace(replica, outcomes={**replica.outcomes, sample.endpoint: outcome})


def _problem(replica: ReplicaState, text: str) -> ReplicaState:
    return replica if text in replica.problems else replace(replica, problems=(*replica.problems, text))


def _put(state: State, replica: ReplicaState) -> State:
    return State({**state.replicas, replica.name: replica})
