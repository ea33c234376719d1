"""All that is known of one replica, laid out once so that each level and schema is derived by look-ups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.apf.release import Release
from apftop.derive.clock import clock
from apftop.derive.deltas import Step, step
from apftop.derive.flows import flows
from apftop.derive.requests import requests
from apftop.join import view
from apftop.records.frame import Clock, Flow, Request
from apftop.records.parsed import LevelRow, QueueRow, RequestRow
from apftop.records.state import ReplicaState
from apftop.records.view import View


class OfLevel(Protocol):
    """A row that belongs to a level."""

    @property
    def level(self) -> str: ...


class Classified(Protocol):
    """An answer that names, by UID, the level and schema in which it ran."""

    @property
    def level_uid(self) -> str: ...
    @property
    def schema_uid(self) -> str: ...


R = TypeVar("R", bound=OfLevel)


@dataclass(frozen=True, slots=True)
class DumpStep:
    """The last two rows of each level in dump_priority_levels and the seconds between them, if both are known."""

    before: Mapping[str, LevelRow]
    t0: float
    t1: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """One replica's parsed answers, joined. Own requests are given as (level, schema) names."""

    state: ReplicaState
    view: View | None
    step: Step | None
    release: Release | None
    configs: Mapping[str, PriorityLevelConfiguration] | None
    schemas: Mapping[str, FlowSchema] | None
    rows: Mapping[str, LevelRow] | None
    dump_step: DumpStep | None
    queues: Mapping[str, tuple[QueueRow, ...]] | None
    request_rows: Mapping[str, tuple[RequestRow, ...]] | None
    requests: tuple[Request, ...] | None
    lists_executing: bool
    requests_by_level: Mapping[str, tuple[Request, ...]]
    flows: tuple[Flow, ...]
    flows_by_level: Mapping[str, tuple[Flow, ...]]
    clock: Clock
    own_in_window: Mapping[tuple[str, str], int]
    scrape_in: tuple[str, str] | None
    dump_in: tuple[str, str] | None
    request_timeout_s: float | None
    problems: tuple[str, ...]


def evidence(state: ReplicaState, request_timeout_s: float | None) -> Evidence:
    """Join what has been read of one replica."""
    views = [view(read.data) for read in state.metrics]
    pair = step(views[0], views[1], state.metrics[0].time, state.metrics[1].time) if len(views) == 2 else None
    last = views[-1] if views else None
    release = last.release if last else None
    configs = {config.name: config for config in state.configs.data} if state.configs else None
    schemas = {schema.name: schema for schema in state.schemas.data} if state.schemas else None
    now = clock(state.requests)
    rows: tuple[Request, ...] | None = None
    problems = list(state.problems) + (list(last.problems) if last else [])
    problems += [one for read in (state.schemas, state.configs) if read for one in read.problems]
    if state.requests is not None:
        rows, now, doubt = requests(state.requests.data, now, release)
        problems += [f"ages are unreliable: {doubt}"] if doubt else []
    found = flows(rows or (), configs or {})
    names = _own_names(state)
    return Evidence(
        state=state,
        view=last,
        step=pair,
        release=release,
        configs=configs,
        schemas=schemas,
        rows={row.name: row for row in state.levels[-1].data.rows} if state.levels else None,
        dump_step=_dump_step(state),
        queues=_grouped(state.queues.data.rows) if state.queues else None,
        request_rows=_grouped(state.requests.data.rows) if state.requests else None,
        requests=rows,
        # Up to 1.27 the dump lists waiting requests only.
        lists_executing=state.requests is not None and "StartTime" in state.requests.data.columns,
        requests_by_level=_grouped(rows or ()),
        flows=found,
        flows_by_level=_grouped(found),
        clock=now,
        own_in_window=_own_in_window(state, names),
        scrape_in=names(state.metrics[-1]) if state.metrics else None,
        dump_in=names(state.levels[-1]) if state.levels else None,
        request_timeout_s=request_timeout_s,
        problems=tuple(problems),
    )


def _grouped(rows: Iterable[R]) -> dict[str, tuple[R, ...]]:
    groups: dict[str, list[R]] = defaultdict(list)
    for row in rows:
        groups[row.level].append(row)
    return {level: tuple(group) for level, group in groups.items()}


def _dump_step(state: ReplicaState) -> DumpStep | None:
    if len(state.levels) < 2:
        return None
    before, after = state.levels
    if before.time is None or after.time is None or after.time <= before.time:
        return None
    return DumpStep({row.name: row for row in before.data.rows}, before.time, after.time)


def _own_names(state: ReplicaState) -> Callable[[Classified], tuple[str, str] | None]:
    """A function from an answer's UIDs to the names of its level and schema; None where either is not known."""
    levels = {config.meta.uid: config.name for config in state.configs.data} if state.configs else {}
    schemas = {schema.meta.uid: schema.name for schema in state.schemas.data} if state.schemas else {}

    def names(answer: Classified) -> tuple[str, str] | None:
        level, schema = levels.get(answer.level_uid), schemas.get(answer.schema_uid)
        return (level, schema) if level and schema else None

    return names


def _own_in_window(
    state: ReplicaState, names: Callable[[Classified], tuple[str, str] | None]
) -> dict[tuple[str, str], int]:
    """This tool's dispatched requests between the two metrics answers, by level and schema.

    Each answer counts itself, so the window holds those sent after the first one and up to the second.
    """
    counts: dict[tuple[str, str], int] = defaultdict(int)
    if len(state.metrics) < 2 or state.metrics[0].sent is None or state.metrics[1].sent is None:
        return counts
    first, last = state.metrics[0].sent, state.metrics[1].sent
    for answer in state.own:
        where = names(answer)
        if where and not answer.refused and answer.sent is not None and first < answer.sent <= last:
            counts[where] += 1
    return dict(counts)
