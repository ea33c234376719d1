"""Objects of one kind as a server lists them, and as the events of a watch change them after that."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from apftop.access import Access
from apftop.errors import one_line
from apftop.fetch import Manner
from apftop.http_text import http_date
from apftop.records.raw import KEPT_HEADERS, Endpoint, Sample

if TYPE_CHECKING:
    import aiohttp

LINE_BYTES = 8 << 20
"""The longest event that is read; etcd stores objects of 1.5 MB at most."""

SILENCE_S = 30.0
"""How long after the end that was asked for a watch that has not ended counts as dead."""


TOGETHER_S = 0.2
"""Changes that come so shortly after a first one are delivered with it."""


class WatchEnd(Exception):
    """A watch that does not go on, for the reason that is the text."""


class Listing:
    """A list of objects, raw, and what the events of a watch made of it. Raises ValueError for what is no list."""

    def __init__(self, body: bytes) -> None:
        try:
            self._list: dict[str, Any] = json.loads(body)
            self._items: dict[str, Any] = {item["metadata"]["name"]: item for item in self._list["items"] or ()}
            self.api_version = str(self._list["apiVersion"])
            self.resource_version = str(self._list["metadata"]["resourceVersion"])
        except (KeyError, TypeError, RecursionError) as exc:
            raise ValueError(f"not a list of objects ({type(exc).__name__})") from None

    def apply(self, line: bytes) -> bool:
        """Take in one event: whether an object changed. Raises WatchEnd for an error, and for what is no event."""
        try:
            event = json.loads(line)
            kind, thing = event["type"], event["object"]
            if kind == "ERROR":
                raise WatchEnd(one_line(f"error event {thing.get('code')}: {thing.get('message')}"))
            self.resource_version = str(thing["metadata"]["resourceVersion"])
            if kind in ("ADDED", "MODIFIED"):
                self._items[thing["metadata"]["name"]] = thing
            elif kind == "DELETED":
                self._items.pop(thing["metadata"]["name"], None)
            elif kind != "BOOKMARK":
                raise WatchEnd(one_line(f"event of unknown type {kind}"))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
            raise WatchEnd(f"event cannot be read ({type(exc).__name__})") from None
        return bool(kind != "BOOKMARK")

    def body(self) -> bytes:
        """The list as a server would send it now, in the order of names."""
        metadata = {**self._list["metadata"], "resourceVersion": self.resource_version}
        items = [self._items[name] for name in sorted(self._items)]
        return json.dumps({**self._list, "metadata": metadata, "items": items}).encode()


class Changes:
    """The events of one watch, delivered as Samples of whole lists, which are like `blank` otherwise."""

    def __init__(self, listing: Listing, blank: Sample, deliver: Callable[[Sample], None]) -> None:
        self._listing = listing
        self._blank = blank
        self._deliver = deliver
        self._bytes = 0
        self._first = self._last = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def take(self, line: bytes) -> None:
        """Take in one event. Raises WatchEnd as the listing does."""
        self._bytes += len(line)
        if not self._listing.apply(line):
            return
        self._last = time.time()
        if self._timer is None:
            self._first = self._last
            self._timer = asyncio.get_running_loop().call_later(TOGETHER_S, self.close)

    def close(self) -> None:
        """Deliver now what was not delivered yet."""
        if self._timer is None:
            return
        self._timer.cancel()
        self._timer = None
        size, self._bytes = self._bytes, 0
        sample = replace(self._blank, body=self._listing.body(), sent=self._first, received=self._last)
        self._deliver(replace(sample, wire_bytes=size))


async def watch(
    session: aiohttp.ClientSession,
    access: Access,
    manner: Manner,
    path: str,
    seconds: int,
    begun: Callable[[Sample], None],
    take: Callable[[bytes], None],
) -> None:
    """Read the events of a watch until its end, which the path asks for after so many seconds.

    `begun` gets the answer that came at its start as a Sample of DISCOVERY, `take` each line. Raises WatchEnd where the
    server refuses, OSError and aiohttp.ClientError where the connection ends in another way, Unreachable, and whatever
    `take` raises.
    """
    import aiohttp
    import yarl

    timeout = aiohttp.ClientTimeout(total=None, connect=manner.connect_s, sock_read=seconds + SILENCE_S)
    credentials = await access.auth()
    sent = time.time()
    async with asyncio.timeout(manner.connect_s + manner.first_byte_s):
        response = await session.get(
            yarl.URL(access.url + path, encoded=True),
            headers=(("Accept", "application/json"), ("Accept-Encoding", "identity"), *credentials),
            server_hostname=access.server_hostname,
            allow_redirects=False,
            timeout=timeout,
        )
    async with response:
        headers = {name: one_line(response.headers[name]) for name in KEPT_HEADERS if name in response.headers}
        begun(
            Sample(
                replica=access.name,
                endpoint=Endpoint.DISCOVERY,
                status=response.status,
                content_type=headers.get("content-type", ""),
                sent=sent,
                received=time.time(),
                server_date=http_date(headers.get("date", "")),
                headers=tuple(headers.items()),
                wire_bytes=0,
                peer=getattr(response, "peer", ""),
            )
        )
        if response.status != 200:
            async with asyncio.timeout(manner.first_byte_s):
                async for _ in response.content.iter_any():
                    pass
            raise WatchEnd(f"status {response.status}")
        while line := await _line(response.content):
            if not line.endswith(b"\n"):
                raise WatchEnd("ended in the midst of an event")
            if line.strip():
                take(line)


async def _line(content: aiohttp.StreamReader) -> bytes:
    from aiohttp.http_exceptions import LineTooLong

    try:
        return await content.readline(max_line_length=LINE_BYTES)
    except LineTooLong:
        raise WatchEnd("an event is too long") from None
