"""This tool's own requests: where they ran, which rows are theirs, and what they added to counters and gauges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from apftop.records.frame import Own
from apftop.records.parsed import RequestRow
from apftop.records.raw import DUMP_PATHS, Endpoint
from apftop.records.state import OwnAnswer, Read, ReplicaState
from apftop.rules import rules

OWN_PATHS = (DUMP_PATHS, "/metrics")
DUMP_REQUESTS_PATH = DUMP_PATHS + Endpoint.REQUESTS

Where = tuple[str, str]
"""Level and schema."""


@dataclass(frozen=True, slots=True)
class Added:
    """Own requests between two answers by level and schema; the refused ones by whether they had waited in a queue."""

    served: Mapping[Where, int]
    refused: Mapping[Where, Mapping[bool, int]]


@dataclass(frozen=True, slots=True)
class OwnLoad:
    """Own requests between the last two metrics answers and the last two dumps, and what each last answer ran in.

    `dump` is of the priority levels.
    """

    metrics: Added
    dumps: Added
    scrape: Where | None
    dump: Where | None
    queues: Where | None


def own_load(state: ReplicaState) -> OwnLoad:
    """What this tool added to the counters between the last two metrics answers, and between the last two dumps.

    Each answer counts itself, so a window holds the requests sent after its first answer and up to its second.
    """
    names = _Names(state)
    return OwnLoad(
        metrics=names.added(_sent_between(state.own, state.metrics)),
        dumps=names.added(_sent_between(state.own, state.levels)),
        scrape=names.of_read(state.metrics[-1]) if state.metrics else None,
        dump=names.of_read(state.levels[-1]) if state.levels else None,
        queues=names.of_read(state.queues) if state.queues else None,
    )


def own_summary(state: ReplicaState) -> Own:
    """The latest classification of our requests, refusals of all, and when each refused one may be tried again."""
    names = _Names(state)
    last = state.own[-1] if state.own else None
    return Own(
        schema=(names.schemas.get(last.schema_uid) or last.schema_uid or None) if last else None,
        level=(names.levels.get(last.level_uid) or last.level_uid or None) if last else None,
        rejected=state.own_refused,
        sent=state.own_sent,
        next_try=tuple(
            answer.received + answer.retry_after_s
            for answer in state.own
            if answer.refused and answer.received is not None and answer.retry_after_s is not None
        ),
        bytes=state.bytes_received,
    )


def dump_rows(rows: Iterable[RequestRow]) -> list[RequestRow]:
    """The requests for dump_requests that execute: one of them is for this very dump."""
    return [row for row in rows if row.executing and row.details and row.details.path == DUMP_REQUESTS_PATH]


def own_users(rows: Iterable[RequestRow]) -> frozenset[str]:
    """Who was reading the dump: this tool's user, and nobody can tell which if there are several."""
    return frozenset(row.details.user for row in dump_rows(rows) if row.details)


def is_own(row: RequestRow, users: frozenset[str]) -> bool:
    """Whether a row is a reader's question to the dumps or metrics, and not load."""
    return row.details is not None and row.details.user in users and row.details.path.startswith(OWN_PATHS)


def less_own(
    value: float | None, where: Where | None, *, level: str | None = None, schema: str | None = None
) -> float | None:
    """Take out the request that asked: it counts itself as executing, one seat wide, in its own level and schema."""
    if value is None or where is None or (level not in (None, where[0])) or (schema not in (None, where[1])):
        return value
    return max(0.0, value - 1)


class _Names:
    """Levels and schemas by UID."""

    def __init__(self, state: ReplicaState) -> None:
        self.levels = {config.meta.uid: config.name for config in state.configs.data} if state.configs else {}
        self.schemas = {schema.meta.uid: schema.name for schema in state.schemas.data} if state.schemas else {}

    def of(self, level_uid: str, schema_uid: str) -> Where | None:
        level, schema = self.levels.get(level_uid), self.schemas.get(schema_uid)
        return (level, schema) if level and schema else None

    def of_read(self, read: Read[object]) -> Where | None:
        return self.of(read.level_uid, read.schema_uid)

    def added(self, answers: Iterable[OwnAnswer]) -> Added:
        served: Counter[Where] = Counter()
        refused: dict[Where, Counter[bool]] = {}
        for answer in answers:
            where = self.of(answer.level_uid, answer.schema_uid)
            if where and answer.refused:
                refused.setdefault(where, Counter())[_waited(answer)] += 1
            elif where:
                served[where] += 1
        return Added(served, refused)


def _sent_between(answers: Iterable[OwnAnswer], reads: tuple[Read[object], ...]) -> list[OwnAnswer]:
    if len(reads) < 2 or reads[0].sent is None or reads[1].sent is None:
        return []
    first, last = reads[0].sent, reads[1].sent
    return [answer for answer in answers if answer.sent is not None and first < answer.sent <= last]


def _waited(answer: OwnAnswer) -> bool:
    """Whether a refused request had waited in a queue, and not been refused on arrival."""
    if answer.sent is None or answer.received is None:
        return False
    return answer.received - answer.sent >= rules().wait.least_time_out_s
