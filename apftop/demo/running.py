"""The demo at work: the servers of a simulated control plane on loopback ports, in one thread of their own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from apftop.demo.plane import ControlPlane
from apftop.demo.scenario import load
from apftop.demo.shell import Shell
from apftop.errors import Trouble, reason

HOST = "127.0.0.1"
START_S = 10.0
STOP_S = 2.0
LONGEST_HEAD = 64 << 10

Clock = Callable[[], int]
"""Tells Unix nanoseconds that never fall."""


def steady_clock() -> Clock:
    """This machine's time of day, which stands still where that is set back."""
    latest = 0

    def now() -> int:
        nonlocal latest
        latest = max(latest, time.time_ns())
        return latest

    return now


class Demo:
    """A running demo: `urls` are those of its servers, in the order of the replicas.

    `plane` belongs to the demo's thread; others may look at it while nobody asks anything.
    """

    def __init__(self, plane: ControlPlane, clock: Clock) -> None:
        self.plane = plane
        self._clock = clock
        self._ready: Future[tuple[int, ...]] = Future()
        self._thread = threading.Thread(target=self._run, name="apftop-demo", daemon=True)
        self._thread.start()
        plane.ports = self._ready.result(START_S)
        self.urls = tuple(f"http://{HOST}:{port}" for port in plane.ports)

    def stop(self) -> None:
        """Close the ports and end the thread; answers on their way are cut off. May be called twice."""
        # A loop that is closed has nothing to stop.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(STOP_S)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with contextlib.AsyncExitStack() as open_ports:
            ports = []
            try:
                for server in self.plane.servers:
                    shell = Shell(self.plane, server, self._clock)
                    listening = await asyncio.start_server(shell.serve, HOST, 0, limit=LONGEST_HEAD)
                    open_ports.callback(listening.close)
                    ports.append(listening.sockets[0].getsockname()[1])
            except OSError as error:
                self._ready.set_exception(Trouble(f"the demo cannot listen on {HOST}", reason(error), "free a port"))
                return
            self._ready.set_result(tuple(ports))
            await self._end.wait()


def start_demo(scenario: str = "rush", seed: int = 0, clock: Clock | None = None) -> Demo:
    """Start the servers of a scenario on free loopback ports. Raises Trouble where that is not possible.

    `clock` is what the servers live by; without one it is this machine's time.
    """
    clock = clock or steady_clock()
    return Demo(ControlPlane(load(scenario), seed, clock()), clock)
