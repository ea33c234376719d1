"""What happens to a control plane in one recording, and how it is brought about."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from tests.planes import load
from tests.planes.client import Client, Json
from tests.planes.flow import apply_flow
from tests.planes.objects import allow_loaders, create_namespace, delete_namespace, revoke, wait_on_replicas
from tests.planes.observe import priority_levels
from tests.planes.plane import Plane
from tests.planes.watchers import watchers
from tests.planes.webhook import exponential, fixed, start_webhook

# A level without seats would keep the probe waiting for a quarter of the default 60 s.
PROBE_PATH = "/version?timeout=2s"
LOADERS_ROLE = "recorded-loaders"


@dataclass(frozen=True)
class Service:
    """How long creations in those namespaces take, in seconds: exponential with a seed, else always the same."""

    namespaces: tuple[str, ...]
    mean: float
    seed: int | None


@dataclass(frozen=True)
class Watches:
    """Watches on the config maps of a namespace, open on one replica from before the load to its end."""

    namespace: str
    count: int
    replica: int = 0


@dataclass(frozen=True)
class Later:
    """Loads that begin `at` seconds after the others."""

    at: float
    loads: tuple[load.Load, ...]


@dataclass(frozen=True)
class Event:
    """Something done to the control plane `at` seconds after the loads began."""

    at: float
    what: str
    act: Callable[[Plane], object]


@dataclass(frozen=True)
class Scenario:
    """One run. Every schema comes with the user whose requests show that it is in force."""

    name: str
    version: str
    inflight: tuple[int, int]
    notes: str
    levels: tuple[Json, ...]
    schemas: tuple[tuple[Json, str], ...]
    services: tuple[Service, ...]
    loads: tuple[load.Load, ...]
    later: tuple[Later, ...] = ()
    watches: tuple[Watches, ...] = ()
    events: tuple[Event, ...] = ()

    @property
    def level_names(self) -> tuple[str, ...]:
        """The levels under test."""
        return tuple(level["metadata"]["name"] for level in self.levels)


@dataclass
class Happened:
    """The clients' requests by start, and (Unix seconds of begin and end, what) of every event."""

    records: list[load.Record] = field(default_factory=list)
    events: list[tuple[float, float, str]] = field(default_factory=list)


@contextmanager
def prepared(plane: Plane, scenario: Scenario) -> Iterator[None]:
    """Has the objects, the slow webhooks and the watches in force on every replica during the block."""
    with ExitStack() as during:
        allow_loaders(plane, LOADERS_ROLE)
        during.callback(revoke, plane, LOADERS_ROLE)
        during.callback(_remove_flows, plane, scenario)
        by_name = {level["metadata"]["name"]: level for level in scenario.levels}
        for schema, user in scenario.schemas:
            level = by_name[schema["spec"]["priorityLevelConfiguration"]["name"]]
            apply_flow(plane, level, schema, user, PROBE_PATH)
        for service in scenario.services:
            for namespace in service.namespaces:
                create_namespace(plane, namespace)
                during.callback(delete_namespace, plane, namespace)
            during.enter_context(_slow_creations(plane, service))
        for watches in scenario.watches:
            during.enter_context(watchers(plane, watches.namespace, watches.count, watches.replica))
        yield


def happen(plane: Plane, scenario: Scenario, seconds: float) -> Happened:
    """Runs the loads for `seconds`, with the events in between; ends when the last request is answered."""
    happened, ended = Happened(), threading.Event()
    groups = [Later(0.0, scenario.loads), *scenario.later]
    with ThreadPoolExecutor(len(groups)) as threads:
        running = [threads.submit(_drive, plane, group, seconds - group.at, ended) for group in groups]
        try:
            _act(plane, scenario.events, seconds, happened)
        finally:
            ended.set()
    happened.records = sorted((record for one in running for record in one.result()), key=lambda record: record.start)
    return happened


def _drive(plane: Plane, group: Later, seconds: float, ended: threading.Event) -> list[load.Record]:
    if ended.wait(group.at):
        return []
    # A slow open loop sees only between its requests that it was stopped, but it knows its deadline.
    bounded = (replace(one, seconds=min(one.seconds, seconds)) for one in group.loads)
    with load.running(plane, *bounded) as background:
        ended.wait()
    return background.records


def _act(plane: Plane, events: Sequence[Event], seconds: float, happened: Happened) -> None:
    started = time.monotonic()
    for event in sorted(events, key=lambda event: event.at):
        if event.at < seconds:
            time.sleep(max(0.0, started + event.at - time.monotonic()))
            begun = time.time()
            event.act(plane)
            happened.events.append((begun, time.time(), event.what))
    time.sleep(max(0.0, started + seconds - time.monotonic()))


@contextmanager
def _slow_creations(plane: Plane, service: Service) -> Iterator[None]:
    """A sleeping webhook for all namespaces of a service, from when every replica calls it."""
    first = service.namespaces[0]
    with start_webhook(fixed(0.0)) as hook:
        configuration = hook.configuration(f"sleep-{first}", first)
        among = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(service.namespaces)}
        configuration["webhooks"][0]["namespaceSelector"] = {"matchExpressions": [among]}
        probe: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "probe-"}}

        def called(_: int, client: Client) -> bool:
            before = hook.calls
            client.post(f"/api/v1/namespaces/{first}/configmaps?dryRun=All", probe).expect(201)
            return hook.calls > before

        plane.client().apply(configuration)
        wait_on_replicas(plane, f"webhook of {first}", called)
        hook.sleep = fixed(service.mean) if service.seed is None else exponential(service.mean, service.seed)
        try:
            yield
        finally:
            plane.client().remove(configuration)


def _remove_flows(plane: Plane, scenario: Scenario) -> None:
    """Deletes all schemas and then all levels, and waits until every replica has dropped the levels."""
    client = plane.client()
    for item in (*(schema for schema, _ in scenario.schemas), *scenario.levels):
        client.remove(item)
    names = set(scenario.level_names)
    wait_on_replicas(plane, f"levels {names} gone", lambda _, its: names.isdisjoint(priority_levels(its)))
