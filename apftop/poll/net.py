"""Live polling: a thread with an event loop of its own, which no server and no reader can hold up."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apftop.access import Access
from apftop.fetch import Manner
from apftop.poll.fleet import CLOSE_S, FINISH_S, Fleet
from apftop.records.asking import Plan
from apftop.records.raw import Sample

log = logging.getLogger("apftop")


class Net:
    """Asks servers by plans that may change, and delivers each answer.

    `ways` are the servers; with `discover` they are only the way to the replicas, which are looked for. Objects and
    leases come along without a plan. `deliver` and `tell` (a line for the person) are called in this thread and must
    return at once. All methods may be called from any thread, and none waits.
    """

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
        self._fleet = Fleet(ways, discover=discover, manner=manner, first=first, deliver=deliver, tell=tell)
        self._loop = asyncio.new_event_loop()
        self._ended = asyncio.Event()

    @property
    def replicas(self) -> tuple[str, ...]:
        """The names of the servers that are asked now; samples of others are of the past."""
        return self._fleet.replicas

    def start(self) -> None:
        """Begin to ask."""
        thread = threading.Thread(target=self._run, name="apftop-net", daemon=True)
        thread.start()
        # The interpreter ends daemon threads at once, and servers count each answer that is not read to its end.
        atexit.register(thread.join, FINISH_S + CLOSE_S)

    def plan(self, plans: Mapping[str, Plan]) -> None:
        """Ask each server by its plan from now on; those without one go on by the first."""
        self._post(lambda: self._fleet.plan(dict(plans)))

    def wake(self) -> None:
        """Ask everything now, also of servers that are left alone for a while."""
        self._post(self._fleet.wake)

    def stop(self) -> None:
        """End: soon, whatever hangs."""
        self._post(self._ended.set)

    def _run(self) -> None:
        self._loop.set_exception_handler(_report)
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._fleet.run(self._ended))

    def _post(self, work: Callable[[], object]) -> None:
        # A loop that is closed asks nobody any more.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(work)


def _report(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    log.error("polling: %s", context.get("message"), exc_info=context.get("exception"))
