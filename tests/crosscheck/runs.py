"""Recorded control planes as rounds of samples, as live polling would have brought them, with the objects in force."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.apf.release import parse_release
from apftop.records.raw import Endpoint, Sample
from tests.planes.flow import flow_schema, priority_level
from tests.recording import ENDPOINTS, FOLDER

Json = dict[str, Any]

LONGEST_S = 3.0
"""The four fetches of a round took no longer."""

OLD = "2020-01-01T00:00:00Z"
LOAD = priority_level("load", shares=25, lendable=50, borrowing=50, queue_length=12)
BATCH = "apf-case-batch"
PHASES = {
    "normal": priority_level(BATCH, shares=5, queues=1, hand_size=1, queue_length=2),
    "zero-reject": priority_level(BATCH, shares=0, reject=True),
    "zero-queue": priority_level(BATCH, shares=0, queues=1, hand_size=1, queue_length=2),
    "recovery": priority_level(BATCH, shares=5, queues=1, hand_size=1, queue_length=2),
}
SHARES_SET = "shares of load set to "


@dataclass(frozen=True)
class Round:
    """One round of questions to one replica, in the order of their answers."""

    replica: str
    t: float
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class Run:
    """One recording: its rounds in order of time, and the levels under load."""

    name: str
    levels: tuple[str, ...]
    rounds: tuple[Round, ...]

    @property
    def replicas(self) -> tuple[str, ...]:
        return tuple(sorted({one.replica for one in self.rounds}))


def runs(*folders: Path) -> list[Run]:
    """All recordings of the folders, else of the one in APFTOP_RECORDINGS, else those that ship with the tests."""
    return [_run(path) for folder in folders or (FOLDER,) for path in sorted(folder.glob("*.jsonl.gz"))]


def _run(path: Path) -> Run:
    name = path.name.removesuffix(".jsonl.gz")
    with gzip.open(path, "rt") as file:
        lines = [json.loads(line) for line in file]
    about = path.with_name(f"{name}.objects.json")
    objects = json.loads(about.read_text()) if about.exists() else {}
    levels = objects.get("levels") or ["load" if name.startswith("contention") else BATCH]
    told = list(_as_recorded(objects) if objects else _as_described(path, name))
    return Run(name, tuple(levels), tuple(_rounds(lines, told)))


def _rounds(lines: Sequence[Json], told: Sequence[tuple[float, bytes, bytes]]) -> Iterator[Round]:
    known: dict[str, int] = {}
    ends = [line["t"] for line in lines[1:]] + [lines[-1]["t"] + LONGEST_S]
    for line, end in zip(lines, ends, strict=True):
        replica, t = str(line["replica"]), float(line["t"])
        samples = []
        at = max((index for index, (since, _, _) in enumerate(told) if since <= t), default=0)
        if known.get(replica) != at:
            known[replica] = at
            _, schemas, configs = told[at]
            samples += [_sample(replica, Endpoint.SCHEMAS, schemas, t, t, t)]
            samples += [_sample(replica, Endpoint.CONFIGS, configs, t, t, t)]
        last = min(end, t + LONGEST_S)
        for endpoint in ENDPOINTS:
            sent, begun, received = line.get("stamps", {}).get(endpoint.value, (t, last, last))
            # The recorder of some left the last newline out; a server never does.
            body = (line[endpoint.value].rstrip("\n") + "\n").encode()
            samples.append(_sample(replica, endpoint, body, sent, begun, received))
        yield Round(replica, t, tuple(samples))


def _sample(replica: str, endpoint: Endpoint, body: bytes, sent: float, begun: float, received: float) -> Sample:
    return Sample(replica, endpoint, body, 200, sent=sent, begun=begun, received=received, origin=endpoint.value)


def _as_recorded(objects: Json) -> Iterator[tuple[float, bytes, bytes]]:
    """Since when (Unix seconds) which schemas and levels hold: those of the beginning, then after each edit."""
    schemas, levels = objects["flowschemas"], objects["prioritylevels"]
    yield 0.0, _body(schemas), _body(levels)
    for event in objects["events"]:
        if event["what"].startswith(SHARES_SET):
            levels = json.loads(json.dumps(levels))
            for item in levels["items"]:
                if item["metadata"]["name"] == "load":
                    item["spec"]["limited"]["nominalConcurrencyShares"] = int(event["what"].removeprefix(SHARES_SET))
            yield event["end"], _body(schemas), _body(levels)


def _as_described(path: Path, name: str) -> Iterator[tuple[float, bytes, bytes]]:
    """What the objects of recordings without them were."""
    version = name.rpartition("-")[2]
    if name.startswith("contention"):
        yield 0.0, *_objects(version, LOAD, flow_schema("load", "load", groups=["loaders"], precedence=500))
        return
    with gzip.open(path.with_name(f"{name}.client.json.gz"), "rt") as file:
        marks = json.load(file)["marks"]
    schema = flow_schema(BATCH, BATCH, groups=["batch"], precedence=500)
    for number, mark in enumerate(marks):
        yield mark["t"] if number else 0.0, *_objects(version, PHASES[mark["phase"]], schema)


def _objects(version: str, level: Json, schema: Json) -> tuple[bytes, bytes]:
    release = parse_release(f"v{version}")
    assert release is not None
    schemas = [*map(_schema, builtin_schemas(release).values()), schema]
    return _body({"items": schemas}, "FlowSchema"), _body(
        {"items": [*map(_level, builtin_levels().values()), level]}, "PriorityLevelConfiguration"
    )


def _body(items: Json, kind: str = "") -> bytes:
    """A list as a server sends it; of objects without a time of creation it is long ago."""
    found = {"apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": f"{kind}List", "metadata": {}, **items}
    found["items"] = [{**one, "metadata": {"creationTimestamp": OLD, **one["metadata"]}} for one in found["items"]]
    return json.dumps(found).encode()


def _schema(schema: FlowSchema) -> Json:
    """Enough of a built-in schema to name it; nothing here classifies requests."""
    return flow_schema(
        schema.name, schema.priority_level, precedence=schema.precedence, distinguisher=schema.distinguisher
    )


def _level(config: PriorityLevelConfiguration) -> Json:
    if config.exempt:
        spec = {"nominalConcurrencyShares": config.shares, "lendablePercent": config.lendable_percent}
        return {"metadata": {"name": config.name}, "spec": {"type": "Exempt", "exempt": spec}}
    queues: Json = {"reject": True}
    if config.queuing is not None:
        one = config.queuing
        queues = {"queues": one.queues, "hand_size": one.hand_size, "queue_length": one.queue_length_limit}
    return priority_level(
        config.name,
        shares=config.shares,
        lendable=config.lendable_percent,
        borrowing=config.borrowing_limit_percent,
        **queues,
    )
