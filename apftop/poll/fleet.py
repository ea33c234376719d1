"""All servers that are asked: which they are, each with its lane, and what they share."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any

from apftop.access import Access, Unreachable
from apftop.errors import one_line
from apftop.fetch import Manner
from apftop.poll.callbacks import follow_callbacks
from apftop.poll.config import follow_objects
from apftop.poll.discover import Found, discovered
from apftop.poll.lane import Lane
from apftop.poll.leases import follow_leases
from apftop.poll.pace import Pace
from apftop.records.asking import Plan
from apftop.records.raw import OBJECTS, Endpoint, Sample
from apftop.session import names_of, open_session

log = logging.getLogger("apftop")

DISCOVER_EVERY_S = 60.0
STAND_IN_S = 3.0
"""So long nothing is asked while it is not known which replicas there are; then the way given stands in for them."""

STAGGER_S = 2.0
"""The most by which the first question to a server waits for those to others."""

FORGET_S = 600.0
"""A replica that is no address of the cluster any more and does not answer is forgotten after so long."""

AGAIN_S = 5.0
FINISH_S = 0.2
CLOSE_S = 0.1
_GOLDEN = 0.618034
"""Multiples of it, modulo 1, spread evenly however many there are."""


class Fleet:
    """The lanes of all servers in one event loop, whose thread calls all methods."""

    def __init__(
        self,
        ways: Sequence[Access],
        *,
        discover: bool,
        manner: Manner,
        first: Plan,
        deliver: Callable[[Sample], None],
        tell: Callable[[str], None],
    ) -> None:
        self._ways = tuple(ways)
        self._discover = discover
        self._manner = manner
        self._first = first
        self._deliver = deliver
        self._tell = tell
        self._plans: Mapping[str, Plan] = {}
        self._lanes: dict[str, Lane] = {}
        self._stand_ins: set[str] = set()
        self._told: dict[str, float] = {}
        self._objects: dict[Endpoint, tuple[Sample, ...]] = {}
        self._wake_objects = asyncio.Event()
        self._begun = 0
        self._news = ""
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def replicas(self) -> tuple[str, ...]:
        """The names of the servers that are asked now."""
        return tuple(self._lanes)

    async def run(self, ended: asyncio.Event) -> None:
        """Ask until `ended`; then answers in flight get a moment to come to their end."""
        self._names = names_of(self._manner)
        if self._discover:
            self._spawn("discovery", self._find)
            asyncio.get_running_loop().call_later(STAND_IN_S, self._stand_in)
        else:
            self._adopt(self._ways)
        await ended.wait()
        for lane in self._lanes.values():
            lane.retire()
        await self._wait(FINISH_S)
        for task in self._tasks:
            task.cancel()
        await self._wait(CLOSE_S)

    def plan(self, plans: Mapping[str, Plan]) -> None:
        """Ask by these plans from now on; servers without one go on by the first."""
        self._plans = plans
        for name, lane in self._lanes.items():
            lane.plan(plans.get(name, self._first))

    def wake(self) -> None:
        """Ask everything now."""
        for lane in self._lanes.values():
            lane.wake()
        self._wake_objects.set()

    async def _find(self) -> None:
        """Look for the replicas, for ever: those found are asked instead of the way that led to them."""
        while True:
            for way in self._ways:
                found = await self._found(way)
                if found.news and found.news != self._news:
                    self._tell(found.news)
                self._news = found.news
                if found.accesses:
                    self._adopt(found.accesses)
                    self._forget(found.accesses)
                self._count(found.answer)
                if found.accesses:
                    break
            else:
                self._stand_in()
            await asyncio.sleep(DISCOVER_EVERY_S)

    async def _found(self, way: Access) -> Found:
        try:
            async with open_session(way, self._manner, self._names) as session:
                return await discovered(session, way, self._manner)
        except Unreachable as exc:
            return Found((), str(exc))

    def _stand_in(self) -> None:
        """Take the ways given for the replicas, where none is known."""
        if not self._lanes:
            self._stand_ins = {way.name for way in self._ways}
            self._adopt(self._ways)

    def _adopt(self, accesses: Sequence[Access]) -> None:
        """Ask these servers too from now on, and no way that stood in for them."""
        first = not self._begun
        names = {access.name for access in accesses}
        for name in self._stand_ins - names:
            self._lanes.pop(name).retire()
        self._stand_ins &= names
        new = [access for access in accesses if access.name not in self._lanes]
        for access in new:
            self._begin(access)
        if new and not first:
            self._tell(one_line(f"found and asked from now on: {', '.join(access.name for access in new)}"))
        if first:
            self._spawn(
                "objects", lambda: follow_objects(self._accesses, self._manner, self._share, self._wake_objects)
            )
            self._spawn("leases", lambda: follow_leases(self._accesses, self._manner, self._share))
            self._spawn("callbacks", lambda: follow_callbacks(self._accesses, self._manner, self._share))

    def _forget(self, accesses: Sequence[Access]) -> None:
        """Ask no more what has long been no address of the cluster and does not answer; for a while it is down."""
        now = time.monotonic()
        self._told |= {access.name: now for access in accesses}
        for name in [name for name, told in self._told.items() if now - told > FORGET_S]:
            if self._lanes[name].unreached:
                self._lanes.pop(name).retire()
                del self._told[name]
                self._tell(one_line(f"not asked any more, as no address of the cluster: {name}"))

    def _count(self, answer: Sample | None) -> None:
        """Let a question for the addresses count as one of ours, where it is known which replica took it."""
        if answer is None:
            return
        peers = [name for name, lane in self._lanes.items() if answer.peer and lane.peer == answer.peer]
        name = answer.replica if answer.replica in self._lanes else peers[0] if len(peers) == 1 else None
        if name is not None:
            self._deliver(replace(answer, replica=name, body=b""))

    def _begin(self, access: Access) -> None:
        plan = self._plans.get(access.name, self._first)
        longest = min(STAGGER_S, min(plan.every_s.values(), default=0.0))
        pace = Pace(plan, time.monotonic() + (self._begun * _GOLDEN) % 1 * longest)
        self._begun += 1
        lane = Lane(access, self._manner, pace, self._names, self._deliver, self._tell)
        self._lanes[access.name] = lane
        for samples in self._objects.values():
            for sample in samples:
                self._deliver(_copy(sample, access.name))
        self._spawn(access.name, lane.run)

    def _accesses(self) -> list[Access]:
        return [lane.access for lane in self._lanes.values()]

    def _share(self, sample: Sample) -> None:
        """Hand on what one server said for all: objects to each, as only the answer of one that was asked."""
        asked = sample.replica in self._lanes
        if sample.endpoint not in OBJECTS:
            if asked:
                self._deliver(sample)
            return
        good = self._objects.get(sample.endpoint, ())[:1]
        self._objects[sample.endpoint] = (sample,) if sample.ok or not (good and good[0].ok) else (*good, sample)
        for name in self._lanes:
            self._deliver(sample if name == sample.replica else _copy(sample, name))

    def _spawn(self, what: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        task = asyncio.create_task(_kept(what, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _wait(self, seconds: float) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)


async def _kept(what: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Do work to its end; begin it again, after a pause, where it breaks off."""
    while True:
        try:
            await work()
        except Exception:  # whatever it is, the other servers are asked on
            log.exception("polling: %s", what)
        else:
            return
        await asyncio.sleep(AGAIN_S)


def _copy(sample: Sample, replica: str) -> Sample:
    """The same objects as known of another server, which was not asked for them."""
    return replace(sample, replica=replica, headers=(), wire_bytes=0, peer="")
