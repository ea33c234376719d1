"""A server on loopback with flow schemas and priority levels to list and to watch, whose events the test sends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import queue
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from apftop.access import Access
from apftop.fetch import Manner
from apftop.poll.config import follow_objects
from apftop.records.raw import Endpoint, Sample
from tests.poll.polling import HASTY
from tests.reach.asking import GROUP

KINDS = {"flowschemas": "FlowSchema", "prioritylevelconfigurations": "PriorityLevelConfiguration"}
UID = "X-Kubernetes-PF-FlowSchema-UID"

END = None
"""Ends a watch as a server does when its time is over."""
CUT = b"cut"
"""Ends the connection in the midst of a watch."""


@dataclass
class Asked:
    """One request: a path, and its query."""

    path: str
    query: dict[str, str]

    @property
    def watch(self) -> bool:
        return "watch" in self.query


@dataclass
class Watch:
    """A watch that began: what is put in is sent."""

    asked: Asked
    pieces: queue.Queue[bytes | None] = field(default_factory=queue.Queue)

    def send(self, kind: str, thing: Any) -> None:
        self.pieces.put(json.dumps({"type": kind, "object": thing}).encode() + b"\n")


def thing(name: str, version: int, kind: str = "FlowSchema", **more: Any) -> dict[str, Any]:
    """An object as an event has it."""
    metadata = {"name": name, "resourceVersion": str(version)}
    return {"kind": kind, "apiVersion": "flowcontrol.apiserver.k8s.io/v1", "metadata": metadata, **more}


class Watched:
    """Runs while the `with` lasts. `lists` gives the items of each plural, `refused` a status for paths with query.

    A watch that is not in `refused` is in `watches` from its start on.
    """

    def __init__(self) -> None:
        self.version = "v1"
        self.resource_version = 100
        self.lists: dict[str, list[dict[str, Any]]] = {plural: [] for plural in KINDS}
        self.refused: Callable[[Asked], int | None] = lambda asked: None
        self.retry_after: str | None = None
        self.asked: list[Asked] = []
        self.watches: list[Watch] = []
        self._ended = False
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port: int = self._http.server_address[1]
        self.access = Access(f"127.0.0.1:{self.port}", f"http://127.0.0.1:{self.port}")

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended = True
        self._http.shutdown()
        self._http.server_close()

    def of(self, plural: str, *, watch: bool) -> list[Asked]:
        """The requests for objects of one kind so far."""
        return [asked for asked in tuple(self.asked) if asked.path.endswith(f"/{plural}") and asked.watch == watch]

    def watch_of(self, plural: str) -> Watch | None:
        """The watch of one kind that began last."""
        found = [watch for watch in tuple(self.watches) if watch.asked.path.endswith(f"/{plural}")]
        return found[-1] if found else None

    def _list(self, plural: str) -> dict[str, Any]:
        meta = {"resourceVersion": str(self.resource_version)}
        kind = f"{KINDS[plural]}List"
        return {
            "kind": kind,
            "apiVersion": f"flowcontrol.apiserver.k8s.io/{self.version}",
            "metadata": meta,
            "items": self.lists[plural],
        }

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                asked = Asked(parts.path, {key: values[0] for key, values in parse_qs(parts.query).items()})
                fake.asked.append(asked)
                status = fake.refused(asked)
                if status is not None:
                    self._say(status, b'{"kind":"Status"}')
                elif asked.path == GROUP:
                    self._say(200, json.dumps({"versions": [{"version": fake.version}]}).encode())
                elif asked.path.rpartition("/")[0] != f"{GROUP}/{fake.version}":
                    self._say(404, b"")
                elif asked.watch:
                    self._watch(Watch(asked))
                else:
                    self._say(200, json.dumps(fake._list(asked.path.rpartition("/")[2])).encode())

            def _say(self, status: int, body: bytes) -> None:
                self._head(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def _head(self, status: int) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header(UID, "uid-1")
                if status >= 400 and fake.retry_after:
                    self.send_header("Retry-After", fake.retry_after)

            def _watch(self, watch: Watch) -> None:
                self._head(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                fake.watches.append(watch)
                while not fake._ended:
                    try:
                        piece = watch.pieces.get(timeout=0.05)
                    except queue.Empty:
                        continue
                    if piece == CUT:
                        self.close_connection = True
                        return
                    with contextlib.suppress(OSError):
                        body = piece or b""
                        self.wfile.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
                    if piece is None:
                        return
                self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


@dataclass
class Following:
    """What was delivered, and the way to wake it."""

    samples: list[Sample] = field(default_factory=list)
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    def of(self, endpoint: Endpoint) -> list[Sample]:
        return [sample for sample in self.samples if sample.endpoint is endpoint]

    def names(self, endpoint: Endpoint = Endpoint.SCHEMAS) -> list[list[str]]:
        """The names of the objects of each list that came."""
        lists = [json.loads(sample.body) for sample in self.of(endpoint) if sample.ok]
        return [[item["metadata"]["name"] for item in found["items"]] for found in lists]


@asynccontextmanager
async def following(*servers: Watched, manner: Manner = HASTY) -> AsyncIterator[Following]:
    """Objects followed on these servers."""
    heard = Following()
    accesses = [server.access for server in servers]
    task = asyncio.create_task(follow_objects(lambda: accesses, manner, heard.samples.append, heard.wake))
    try:
        yield heard
        if task.done():
            task.result()
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
