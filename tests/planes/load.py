"""Loads on one replica, bounded in count and time, with a record of every request."""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import aiohttp

from tests.planes.plane import Plane

MAX_SECONDS = 300.0
MAX_REQUESTS = 100_000
MAX_IN_FLIGHT = 500
REQUEST_SECONDS = 60.0


@dataclass(frozen=True)
class Record:
    """What became of one request; code 0 means that no answer came."""

    user: str
    verb: str
    replica: int
    start: float
    latency: float
    code: int
    retry_after: float | None


@dataclass(frozen=True)
class Request:
    """A request that a load repeats; `verb` is the name that Kubernetes gives it."""

    verb: str
    method: str
    path: str
    body: bytes | None = None


@dataclass(frozen=True)
class ClosedLoop:
    """`concurrency` clients that each send the next request once the last is answered."""

    user: str
    request: Request
    replica: int = 0
    concurrency: int = 1
    seconds: float = MAX_SECONDS
    count: int = MAX_REQUESTS
    # Keeps clients that are turned away at once from spinning.
    pause_after_error: float = 0.05


@dataclass(frozen=True)
class OpenLoop:
    """Requests sent at a rate whatever the answers; a seed makes the gaps exponential instead of equal.

    At MAX_IN_FLIGHT unanswered requests it holds the next ones back.
    """

    user: str
    request: Request
    rate: float
    replica: int = 0
    seconds: float = MAX_SECONDS
    count: int = MAX_REQUESTS
    seed: int | None = None


Load = ClosedLoop | OpenLoop


def get(path: str) -> Request:
    """A GET of one object or a path that is no resource."""
    return Request("get", "GET", path)


def list_configmaps(namespace: str, limit: int | None = None) -> Request:
    """A list of config maps."""
    query = "" if limit is None else f"?limit={limit}"
    return Request("list", "GET", f"/api/v1/namespaces/{namespace}/configmaps{query}")


def create_configmap(namespace: str, *, dry_run: bool = True, size: int = 0) -> Request:
    """A creation of a config map with `size` bytes of data, which is not stored if it is a dry run."""
    item = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"generateName": "load-"},
        "data": {"filler": "x" * size},
    }
    query = "?dryRun=All" if dry_run else ""
    return Request("create", "POST", f"/api/v1/namespaces/{namespace}/configmaps{query}", json.dumps(item).encode())


def run(plane: Plane, *loads: Load) -> list[Record]:
    """Runs the loads together until each has ended; records are in the order of their starts."""
    return asyncio.run(_Runner(plane).run(loads))


@dataclass
class Background:
    """Loads that run in a thread."""

    records: list[Record] = field(default_factory=list)
    error: BaseException | None = None


@contextmanager
def running(plane: Plane, *loads: Load) -> Iterator[Background]:
    """Runs the loads during the block and stops them at its end; the records are complete after it."""
    background, runner = Background(), _Runner(plane)

    def work() -> None:
        try:
            background.records = asyncio.run(runner.run(loads))
        except BaseException as error:  # handed to the thread that waits
            background.error = error

    thread = threading.Thread(target=work, name="load", daemon=True)
    thread.start()
    try:
        yield background
    finally:
        runner.stop()
        thread.join(REQUEST_SECONDS + 10)
    if background.error is not None:
        raise background.error


class _Runner:
    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._records: list[Record] = []
        self._stopped = threading.Event()

    def stop(self) -> None:
        """No load sends another request after this."""
        self._stopped.set()

    async def run(self, loads: tuple[Load, ...]) -> list[Record]:
        """Runs the loads; requests under way at the end are waited for."""
        context = ssl.create_default_context(cafile=str(self._plane.ca_file))
        timeout = aiohttp.ClientTimeout(total=REQUEST_SECONDS)
        connector = aiohttp.TCPConnector(limit=0, ssl=context)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
            await asyncio.gather(*(self._drive(session, load) for load in loads))
        return sorted(self._records, key=lambda record: record.start)

    async def _drive(self, session: aiohttp.ClientSession, load: Load) -> None:
        if isinstance(load, ClosedLoop):
            await self._closed(session, load)
        else:
            await self._open(session, load)

    async def _closed(self, session: aiohttp.ClientSession, load: ClosedLoop) -> None:
        deadline = time.monotonic() + min(load.seconds, MAX_SECONDS)
        numbers = iter(range(min(load.count, MAX_REQUESTS)))

        async def one_client() -> None:
            while not self._over(deadline) and next(numbers, None) is not None:
                code = await self._send(session, load)
                if not 200 <= code < 300:
                    await asyncio.sleep(load.pause_after_error)

        await asyncio.gather(*(one_client() for _ in range(min(load.concurrency, MAX_IN_FLIGHT))))

    async def _open(self, session: aiohttp.ClientSession, load: OpenLoop) -> None:
        deadline = time.monotonic() + min(load.seconds, MAX_SECONDS)
        gaps = random.Random(load.seed)
        free = asyncio.Semaphore(MAX_IN_FLIGHT)
        due = time.monotonic()

        async def one_request() -> None:
            try:
                await self._send(session, load)
            finally:
                free.release()

        async with asyncio.TaskGroup() as tasks:
            for _ in range(min(load.count, MAX_REQUESTS)):
                await asyncio.sleep(max(0.0, min(due, deadline) - time.monotonic()))
                if self._over(deadline):
                    break
                await free.acquire()
                tasks.create_task(one_request())
                due += 1 / load.rate if load.seed is None else gaps.expovariate(load.rate)

    def _over(self, deadline: float) -> bool:
        return self._stopped.is_set() or time.monotonic() >= deadline

    async def _send(self, session: aiohttp.ClientSession, load: Load) -> int:
        request = load.request
        headers = {"Authorization": f"Bearer {self._plane.tokens[load.user]}", "Accept": "application/json"}
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        url = self._plane.urls[load.replica] + request.path
        start, began = time.time(), time.perf_counter()
        code, retry_after = 0, None
        try:
            async with session.request(request.method, url, data=request.body, headers=headers) as response:
                await response.read()
                code, retry_after = response.status, _seconds(response.headers.get("Retry-After"))
        except (aiohttp.ClientError, TimeoutError):
            pass
        latency = time.perf_counter() - began
        self._records.append(Record(load.user, request.verb, load.replica, start, latency, code, retry_after))
        return code


def _seconds(header: str | None) -> float | None:
    return float(header) if header is not None and header.isdigit() else None
