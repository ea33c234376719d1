"""FlowSchemas and PriorityLevelConfigurations, followed: listed, then watched, and listed again when a watch ends."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

from apftop.access import Access, Unreachable
from apftop.failures import wait_s
from apftop.fetch import Manner, look, path_of
from apftop.poll.watch import Changes, Listing, WatchEnd, watch
from apftop.records.raw import OBJECTS, Endpoint, Sample
from apftop.session import names_of, open_session

if TYPE_CHECKING:
    import aiohttp

    from apftop.names import Names

T = TypeVar("T")

log = logging.getLogger("apftop")

WATCH_S = (240, 300)
"""The bounds of the length that is asked of a watch, so that not all watches end together."""

LONG_S = 60.0
"""A watch that lasted so long worked; shorter ones in a row lead to longer and longer rests."""

FIRST_REST_S = 1.0
LIST_EVERY_S = 30.0
"""The pace where there is no watch, and the longest rest."""

DENIED_EVERY_S = 60.0
WATCH_AGAIN_S = 600.0
"""After this time a watch that was forbidden is tried again."""

WAKE_S = 1.0
"""A wake lists again what was listed this long before or longer."""


async def follow_objects(
    accesses: Callable[[], Sequence[Access]],
    manner: Manner,
    deliver: Callable[[Sample], None],
    wake: asyncio.Event,
) -> None:
    """Deliver the objects as one of the servers has them, and again after each change, for ever.

    A Sample of objects is a list: as the server sent it, or as the events of a watch made it since. Where a watch is
    forbidden or fails, lists go on. Where a server does not answer, the next one of `accesses`, which are never none,
    is asked. `wake` makes it list again now.
    """
    names = names_of(manner)
    async with asyncio.TaskGroup() as both:
        for endpoint in OBJECTS:
            both.create_task(_Follower(endpoint, accesses, manner, deliver, names).run(wake))


class _Follower:
    """What is remembered about the objects of one kind from one list to the next."""

    def __init__(
        self,
        endpoint: Endpoint,
        accesses: Callable[[], Sequence[Access]],
        manner: Manner,
        deliver: Callable[[Sample], None],
        names: Names,
    ) -> None:
        self._endpoint = endpoint
        self._accesses = accesses
        self._manner = manner
        self._deliver = deliver
        self._names = names
        self._turn = 0
        self._missed = 0
        self._short = 0
        self._no_watch_until = 0.0

    async def run(self, wake: asyncio.Event) -> None:
        """Follow for ever."""
        while True:
            begun = time.monotonic()
            rest_s = await self._list_and_watch(wake)
            await _unless_woken(asyncio.sleep(rest_s), wake)
            await asyncio.sleep(begun + WAKE_S - time.monotonic())

    async def _list_and_watch(self, wake: asyncio.Event) -> float:
        """List, and watch for as long as that goes: how many seconds to rest before the next list."""
        ways = self._accesses()
        access = ways[self._turn % len(ways)]
        try:
            session = open_session(access, self._manner, self._names)
        except Unreachable as exc:
            self._deliver(Sample(access.name, self._endpoint, error=str(exc)))
            return self._next_way(len(ways), 0.0)
        async with session:
            for sample in (samples := await look(session, access, (self._endpoint,), self._manner)):
                self._deliver(sample)
            listed = samples[-1]
            if listed.status == 404 and not listed.error:
                # Another kind of server has none.
                self._turn += 1
                self._missed += 1
                return 0.0 if self._missed % len(ways) else DENIED_EVERY_S
            if listed.status == 403 and not listed.error:
                return DENIED_EVERY_S
            if not listed.ok:
                return self._next_way(len(ways), wait_s(listed.status, listed.header("retry-after") or ""))
            self._missed = 0
            try:
                listing = Listing(listed.body)
            except ValueError:
                return LIST_EVERY_S
            if time.monotonic() < self._no_watch_until:
                return LIST_EVERY_S
            return await _unless_woken(self._watch(session, access, listing), wake) or 0.0

    def _next_way(self, count: int, told_s: float) -> float:
        """Turn to the next server: at once, but after a rest where all have failed."""
        self._turn += 1
        self._missed += 1
        return 0.0 if self._missed % count else max(told_s, _rest(self._missed // count))

    async def _watch(self, session: aiohttp.ClientSession, access: Access, listing: Listing) -> float:
        """Watch to the end: how many seconds to rest before the next list."""
        import aiohttp

        answer: Sample | None = None

        def begun(sample: Sample) -> None:
            nonlocal answer
            answer = sample
            self._deliver(sample)

        start = time.monotonic()
        path, seconds = self._path(listing)
        blank = Sample(access.name, self._endpoint, status=200, content_type="application/json")
        changes = Changes(listing, blank, self._deliver)
        why = "its end"
        try:
            await watch(session, access, self._manner, path, seconds, begun, changes.take)
        except WatchEnd as exc:
            why = str(exc)
        except (OSError, ValueError, aiohttp.ClientError, Unreachable) as exc:
            why = type(exc).__name__
        finally:
            changes.close()
        log.debug("%s: watch of %s: %s", access.name, self._endpoint, why)
        self._short = 0 if time.monotonic() - start >= LONG_S else self._short + 1
        if answer and answer.status == 401:
            access.refused()
        if answer and answer.status == 403:
            self._no_watch_until = time.monotonic() + WATCH_AGAIN_S
            return LIST_EVERY_S
        told_s = wait_s(answer.status, answer.header("retry-after") or "") if answer else 0.0
        return max(told_s, _rest(self._short - 1))

    def _path(self, listing: Listing) -> tuple[str, int]:
        """The path of a watch from a list on, and for how many seconds it asks."""
        seconds = random.randint(*WATCH_S)  # noqa: S311  nothing secret depends on it
        query = {
            "watch": "1",
            "resourceVersion": listing.resource_version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
        }
        version = listing.api_version.rpartition("/")[2]
        return f"{path_of(self._endpoint, self._manner, version).partition('?')[0]}?{urlencode(query)}", seconds


def _rest(times: int) -> float:
    """Seconds to rest after so many failures in a row: none at first, then doubled each time, less a jitter."""
    if times <= 0:
        return 0.0
    longest = min(LIST_EVERY_S, FIRST_REST_S * 2.0 ** min(times - 1, 10))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311  nothing secret depends on it


async def _unless_woken(work: Coroutine[Any, Any, T], wake: asyncio.Event) -> T | None:
    """What some work gives; None where a wake comes before, which ends it."""
    wake.clear()
    tasks = (asyncio.create_task(work), asyncio.create_task(wake.wait()))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return tasks[0].result() if tasks[0].done() else None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
