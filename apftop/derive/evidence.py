"""All that is known of one replica, laid out once so that each level and schema is derived by look-ups."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.apf.release import Release
from apftop.derive.clock import clock
from apftop.derive.deltas import Step
from apftop.derive.dump_pair import DumpStep, pair_dumps
from apftop.derive.flows import flows
from apftop.derive.freshness import answers, current
from apftop.derive.own import OwnLoad, own_load
from apftop.derive.pairing import Pairing, pair, told_apart
from apftop.derive.requests import requests
from apftop.join import view
from apftop.records.frame import Clock, Flow, Request
from apftop.records.parsed import LevelRow, Metrics, QueueRow, RequestRow
from apftop.records.raw import Endpoint
from apftop.records.state import Read, ReplicaState
from apftop.records.view import View


class OfLevel(Protocol):
    """A row that belongs to a level."""

    @property
    def level(self) -> str: ...


R = TypeVar("R", bound=OfLevel)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One replica's parsed answers, joined. `configs_whole` says that no level's object was left out."""

    state: ReplicaState
    view: View | None
    step: Step | None
    release: Release | None
    configs: Mapping[str, PriorityLevelConfiguration] | None
    configs_whole: bool
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
    own: OwnLoad
    request_timeout_s: float | None
    problems: tuple[str, ...]


def evidence(state: ReplicaState, request_timeout_s: float | None) -> Evidence:
    """Join what has been read of one replica and still holds."""
    state = current(state)
    views = [_view(read) for read in state.metrics]
    pairing = Pairing(None)
    if len(views) == 2:
        before, after = state.metrics
        pairing = pair(views[0], views[1], before.time, after.time, told_apart(before, after))
    last = views[-1] if views else None
    release = last.release if last else None
    configs = {config.name: config for config in state.configs.data} if state.configs else None
    now = clock(state.requests)
    rows: tuple[Request, ...] | None = None
    doubt = ""
    if state.requests is not None:
        rows, now, doubt = requests(state.requests.data, now, release)
    # Up to 1.27 the dump lists waiting requests only.
    lists_executing = state.requests is not None and "StartTime" in state.requests.data.columns
    found = flows(rows or (), configs or {}, lists_executing=lists_executing)
    return Evidence(
        state=state,
        view=last,
        step=pairing.step,
        release=release,
        configs=configs,
        configs_whole=state.configs is not None and not state.configs.problems,
        schemas={schema.name: schema for schema in state.schemas.data} if state.schemas else None,
        rows={row.name: row for row in state.levels[-1].data.rows} if state.levels else None,
        dump_step=pair_dumps(state.levels, state.metrics, pairing.step),
        queues=_grouped(state.queues.data.rows) if state.queues else None,
        request_rows=_grouped(state.requests.data.rows) if state.requests else None,
        requests=rows,
        lists_executing=lists_executing,
        requests_by_level=_grouped(rows or ()),
        flows=found,
        flows_by_level=_grouped(found),
        clock=now,
        own=own_load(state),
        request_timeout_s=request_timeout_s,
        problems=tuple(_problems(state, views, pairing.note, doubt)),
    )


def _view(read: Read[Metrics]) -> View:
    """The measures of an answer; where it holds no start of the process, its header may."""
    found = view(read.data)
    return found if found.start is not None else replace(found, start=read.started)


def _problems(state: ReplicaState, views: list[View], pairing: str, doubt: str) -> Iterator[str]:
    yield from state.problems
    yield from dict.fromkeys(problem for one in views for problem in one.problems)
    for read in (state.schemas, state.configs, *state.callbacks.values()):
        yield from read.problems if read else ()
    for told in state.behind[-1:]:
        yield from told.data.problems
    if pairing:
        yield pairing
    elif len(state.metrics) == 1 and Endpoint.METRICS in state.failures and answers(state, Endpoint.METRICS):
        yield f"no rates: an answer for /metrics is missing ({state.failures[Endpoint.METRICS]})"
    if doubt:
        yield f"ages are unreliable: {doubt}"


def _grouped(rows: Iterable[R]) -> dict[str, tuple[R, ...]]:
    groups: dict[str, list[R]] = defaultdict(list)
    for row in rows:
        groups[row.level].append(row)
    return {level: tuple(group) for level, group in groups.items()}
