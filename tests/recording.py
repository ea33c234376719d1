"""Recordings of real control planes under load, as samples, with what the clients measured."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from apftop.records.raw import Endpoint, Sample

SHIPPED = Path(__file__).parent / "recordings"
FOLDER = Path(os.environ.get("APFTOP_RECORDINGS") or SHIPPED)
ENDPOINTS = (Endpoint.LEVELS, Endpoint.QUEUES, Endpoint.REQUESTS, Endpoint.METRICS)


@dataclass(frozen=True)
class Scrape:
    """Four answers of one replica, fetched one after the other from `t` on (Unix seconds)."""

    t: float
    replica: str
    bodies: dict[Endpoint, bytes]

    def samples(self) -> Iterator[Sample]:
        for endpoint, body in self.bodies.items():
            yield Sample(self.replica, endpoint, body, 200, sent=self.t, received=self.t, origin=str(endpoint))


@dataclass(frozen=True)
class Recording:
    """One run: its scrapes in order, the level under test, and the clients' requests against it."""

    name: str
    level: str
    scrapes: tuple[Scrape, ...]
    requests: tuple[dict[str, Any], ...]

    def of(self, replica: str) -> list[Scrape]:
        return [scrape for scrape in self.scrapes if scrape.replica == replica]

    @property
    def replicas(self) -> list[str]:
        return sorted({scrape.replica for scrape in self.scrapes})


@cache
def recordings(folder: Path = FOLDER) -> tuple[Recording, ...]:
    """All recordings of a folder: that which APFTOP_RECORDINGS names, else the cuts that ship with the tests."""
    return tuple(_read(path) for path in sorted(folder.glob("*.jsonl.gz")))


def _read(path: Path) -> Recording:
    with gzip.open(path, "rt") as lines:
        scrapes = tuple(_scrape(json.loads(line)) for line in lines)
    with gzip.open(path.with_name(path.name.replace(".jsonl.gz", ".client.json.gz")), "rt") as file:
        clients = json.load(file)["requests"]
    four_phase = path.name.startswith("fourphase")
    return Recording(
        name=path.name.removesuffix(".jsonl.gz"),
        level="apf-case-batch" if four_phase else "load",
        scrapes=scrapes,
        requests=tuple(request for request in clients if not four_phase or request["who"] == "batch"),
    )


def _scrape(line: dict[str, Any]) -> Scrape:
    # The recorder left the last newline out; a server never does.
    bodies = {endpoint: (line[endpoint.value].rstrip("\n") + "\n").encode() for endpoint in ENDPOINTS}
    return Scrape(line["t"], str(line["replica"]), bodies)
