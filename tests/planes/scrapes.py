"""Scrapes of every replica while something else happens, as lines of a recording."""

from __future__ import annotations

import http.client
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from apftop.parse.body import TEXT, pick
from apftop.parse.vocabulary import wanted
from tests.planes.observe import DUMPS
from tests.planes.plane import Plane

PATHS = {
    "dump_priority_levels": f"{DUMPS}dump_priority_levels",
    "dump_queues": f"{DUMPS}dump_queues",
    "dump_requests": f"{DUMPS}dump_requests?includeRequestDetails=1",
    "metrics": "/metrics",
}
ANSWER_SECONDS = 15.0

Line = dict[str, Any]


@dataclass
class Scrapes:
    """What came of it: lines in the order of their ends, and (Unix seconds, replica, reason) of scrapes that failed."""

    lines: list[Line] = field(default_factory=list)
    missed: list[tuple[float, int, str]] = field(default_factory=list)


@contextmanager
def scraping(plane: Plane, levels: Sequence[str], interval: float) -> Iterator[Scrapes]:
    """Scrapes every replica from a thread of its own, `interval` seconds from start to start, during the block."""
    scrapes, ended = Scrapes(), threading.Event()
    threads = [
        threading.Thread(
            target=_scrape,
            args=(plane, replica, tuple(levels), interval, scrapes, ended),
            name=f"scrape-{replica}",
            daemon=True,
        )
        for replica in range(len(plane.urls))
    ]
    for thread in threads:
        thread.start()
    try:
        yield scrapes
    finally:
        ended.set()
        for thread in threads:
            thread.join(len(PATHS) * ANSWER_SECONDS)


def _scrape(
    plane: Plane, replica: int, levels: tuple[str, ...], interval: float, scrapes: Scrapes, ended: threading.Event
) -> None:
    connection = _connection(plane, replica)
    due = time.monotonic()
    while not ended.wait(max(0.0, due - time.monotonic())):
        due = time.monotonic() + interval
        begun = time.time()
        try:
            scrapes.lines.append(_line(connection, plane.tokens["admin"], replica, levels))
        except (OSError, http.client.HTTPException) as error:
            scrapes.missed.append((begun, replica, repr(error)))
            connection.close()
            connection = _connection(plane, replica)
    connection.close()


def _connection(plane: Plane, replica: int) -> http.client.HTTPSConnection:
    parts = urlsplit(plane.urls[replica])
    context = ssl.create_default_context(cafile=str(plane.ca_file))
    return http.client.HTTPSConnection(parts.hostname or "", parts.port, timeout=ANSWER_SECONDS, context=context)


def _line(connection: http.client.HTTPSConnection, token: str, replica: int, levels: tuple[str, ...]) -> Line:
    """One scrape: four answers, one right after the other, and the times of each."""
    if connection.sock is None:
        connection.connect()
    bodies: dict[str, bytes] = {}
    stamps: dict[str, list[float]] = {}
    for endpoint, path in PATHS.items():
        accept = TEXT if endpoint == "metrics" else "text/plain, */*"
        sent = time.time()
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}", "Accept": accept})
        answer = connection.getresponse()
        begun = time.time()
        bodies[endpoint] = answer.read()
        stamps[endpoint] = [sent, begun, time.time()]
        if answer.status != 200:
            raise http.client.HTTPException(f"{endpoint}: status {answer.status}")
    bodies["dump_queues"] = _rows_of(bodies["dump_queues"], levels)
    bodies["metrics"], _ = pick([bodies["metrics"]], TEXT, "", wanted())
    return {
        "t": stamps["dump_priority_levels"][0],
        "replica": replica,
        **{endpoint: body.decode() for endpoint, body in bodies.items()},
        "stamps": stamps,
    }


def _rows_of(dump: bytes, levels: tuple[str, ...]) -> bytes:
    """The header of a dump and the rows of some levels."""
    header, *rows = dump.splitlines(keepends=True)
    return header + b"".join(row for row in rows if row.split(b",")[0].decode() in levels)
