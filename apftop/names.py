"""Host names become addresses in threads that nobody has to wait for: not when quitting, and not for another server."""

from __future__ import annotations

import asyncio
import errno
import socket
import time
from functools import partial
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

from apftop.daemon import in_daemon

Found = list[tuple[Any, ...]]
"""What getaddrinfo gives."""

HUNG_S = 60.0
_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class Names(AbstractResolver):
    """Resolves names within `within_s` seconds a question. Raises OSError: ETIMEDOUT where that is too short.

    A lookup that takes longer goes on, and its result is for who asks next: one that hangs is begun again each minute
    only, as each occupies a thread.
    """

    def __init__(self, within_s: float) -> None:
        self._within_s = within_s
        self._lookups: dict[tuple[str, int, int], tuple[float, asyncio.Task[Found]]] = {}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The stream addresses of a host."""
        key = (host, port, family)
        begun, lookup = self._lookups.get(key, (0.0, None))
        if lookup is None or (not lookup.done() and time.monotonic() - begun > HUNG_S):
            lookup = asyncio.create_task(in_daemon(partial(_look_up, host, port, family)))
            self._lookups[key] = time.monotonic(), lookup
            # Nobody may ask again: what it raises is then no error of the loop.
            lookup.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.wait([lookup], timeout=self._within_s)
        if not lookup.done():
            raise TimeoutError(errno.ETIMEDOUT, f"name not resolved in {self._within_s:g} s")
        self._lookups.pop(key, None)
        return [
            ResolveResult(hostname=host, host=at[0], port=at[1], family=family, proto=protocol, flags=_NUMERIC)
            for family, _, protocol, _, at in lookup.result()
        ]

    async def close(self) -> None:
        """Wait for no lookup any more."""
        for _, lookup in self._lookups.values():
            lookup.cancel()


def _look_up(host: str, port: int, family: int) -> Found:
    """Addresses of the kinds that this machine has itself, as numbers; blocks. Raises OSError."""
    return socket.getaddrinfo(host, port, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG)
