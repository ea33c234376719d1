"""One server, asked over one connection, one question at a time, for as long as it is wanted."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from apftop.access import Access, Unreachable
from apftop.errors import one_line
from apftop.failures import wait_s
from apftop.fetch import Manner, ask, path_of
from apftop.poll.pace import SIZED, Pace
from apftop.records.asking import Plan
from apftop.records.raw import Endpoint, Sample
from apftop.session import open_session

if TYPE_CHECKING:
    import aiohttp

    from apftop.names import Names

log = logging.getLogger("apftop")

START_TIME = "process-start-time-unix"
CAUSES = "after a restart or behind a load balancer"

PLAN_WAIT_S = 0.5
"""So long a round waits for the plan that knows of the last levels."""


class Lane:
    """The questions to one server, and its answers. All methods are for the loop's own thread.

    `deliver` gets each Sample, `tell` a line where another server than before answers.
    """

    def __init__(
        self,
        access: Access,
        manner: Manner,
        pace: Pace,
        names: Names,
        deliver: Callable[[Sample], None],
        tell: Callable[[str], None],
    ) -> None:
        self.access = access
        self._manner = manner
        self._pace = pace
        self._names = names
        self._deliver = deliver
        self._tell = tell
        self._session: aiohttp.ClientSession | None = None
        self._edition = access.edition
        self._stirred = asyncio.Event()
        self._retired = False
        self._levels_at = 0.0
        self._seen: dict[str, set[str]] = {}
        self._left: set[Endpoint] = set()
        self.peer = ""

    @property
    def unreached(self) -> bool:
        """Whether nothing was heard of the server the last time that it was asked."""
        return self._pace.unreached

    async def run(self) -> None:
        """Ask whatever falls due, until retired; whatever goes wrong is a Sample with an error."""
        try:
            while not self._retired:
                self._stirred.clear()
                now = time.monotonic()
                if self._pace.due(now):
                    await self._round()
                else:
                    await self._rest(self._pace.next_at() - now)
        finally:
            await self._close()

    def plan(self, plan: Plan) -> None:
        """Ask by another plan from now on."""
        if plan != self._pace.plan:
            self._pace.plan = plan
            self._stirred.set()

    def wake(self) -> None:
        """Ask everything now, or as soon as the answer in flight is there."""
        self._pace.wake(time.monotonic())
        self._stirred.set()

    def retire(self) -> None:
        """Ask nothing more; the answer in flight is read to its end, and heeded no more."""
        self._retired = True
        self._stirred.set()

    async def _rest(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stirred.wait()

    async def _round(self) -> None:
        """Ask each thing that is due once; what the levels call for goes before the metrics of the same round."""
        gone: set[Endpoint] = set()
        sized: bool | None = None
        while not self._retired and (due := self._pace.due(time.monotonic(), gone)):
            endpoint, *left = due
            if endpoint is not Endpoint.LEVELS and sized is None:
                sized = await self._sized()
                continue
            gone.add(endpoint)
            if endpoint in SIZED and not sized:
                continue
            asked = time.monotonic()
            whole = endpoint is Endpoint.METRICS and self._pace.whole(asked)
            sample, go_on = await self._answer(endpoint, whole=whole)
            now = time.monotonic()
            self._pace.answered(asked, sample, whole=whole, go_on=go_on, now=now)
            if self._retired:
                return
            self._identify(sample)
            if endpoint is Endpoint.LEVELS:
                sized = None
                self._levels_at = sample.received or 0.0 if sample.ok else 0.0
            self._left.discard(endpoint)
            self._deliver(sample)
            if self._pace.quiet(now):
                for one in left:
                    self._leave(one, sample)
                if not go_on or sample.status == 401:
                    # The files of certificates may be others by now.
                    await self._close()
                return

    async def _sized(self) -> bool:
        """Whether the plan knows of the last levels, if plans here look at those at all, after a while for it to come.

        Levels that could not be read again are none.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PLAN_WAIT_S):
                while not self._retired and self._pace.plan.levels_at not in (None, self._levels_at):
                    self._stirred.clear()
                    await self._stirred.wait()
                return True
        return False

    async def _answer(self, endpoint: Endpoint, *, whole: bool) -> tuple[Sample, bool]:
        """The answer to one question, and whether a next one may fare better."""
        sent = time.time()
        manner = replace(self._manner, families=() if whole else self._pace.plan.families)
        try:
            session = await self._opened()
            return await ask(session, self.access, endpoint, manner, path_of(endpoint, manner))
        except Unreachable as exc:
            error = str(exc)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            error = "the request was given up"
        except Exception as exc:  # one server that is odd in a new way must not end the loop
            log.exception("%s: %s", self.access.name, endpoint)
            error = f"unexpected {type(exc).__name__}: {self.access.name}; see the log"
        return Sample(self.access.name, endpoint, error=one_line(error), sent=sent, received=time.time()), False

    def _leave(self, endpoint: Endpoint, sample: Sample) -> None:
        """Say what becomes of an endpoint that was due too, after a sample that called for rest.

        What is asked after a short wait has nothing to say, unless it was left the time before as well.
        """
        wait = wait_s(sample.status, sample.header("retry-after") or "")
        if wait > self._manner.patience_s or (wait and endpoint in self._left):
            error = f"not asked: the server said to wait {wait:.0f} s"
            at = sample.received
            self._deliver(Sample(sample.replica, endpoint, error=error, sent=at, received=at))
        elif wait:
            self._left.add(endpoint)
        else:
            self._deliver(replace(sample, endpoint=endpoint, body=b"", headers=(), wire_bytes=0, whole_bytes=None))

    def _identify(self, sample: Sample) -> None:
        """Tell of a server that did not answer here before, but for the first.

        It is known by its certificate, and by when it started, which only answers of metrics say.
        """
        if sample.status is None:
            return
        self.peer = sample.peer
        started = sample.header(START_TIME)
        starts = self._seen.get(sample.peer)
        if starts is None and self._seen:
            self._tell(f"{self.access.name}: a server with another certificate answers now, {CAUSES}")
        elif starts and started and started not in starts:
            self._tell(f"{self.access.name}: a server that started at another time answers now, {CAUSES}")
        self._seen.setdefault(sample.peer, set()).update([started] if started else [])

    async def _opened(self) -> aiohttp.ClientSession:
        """The session, a new one where the client certificate is not that of before. Raises Unreachable."""
        if self.access.edition != self._edition:
            await self._close()
        if self._session is None:
            self._edition = self.access.edition
            self._session = open_session(self.access, self._manner, self._names)
        return self._session

    async def _close(self) -> None:
        session, self._session = self._session, None
        if session:
            await session.close()
