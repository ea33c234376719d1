"""A stream of requests with service times, run through one level or a whole replica on a virtual clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any, Literal, Protocol

from apftop.apf.attributes import Attributes
from apftop.apf.request import Request

Event = Literal["change", "release", "finish", "finish-cancelled", "time-out", "cancelled", "arrive"]
"""`change` is a new configuration or a borrowing round; `finish-cancelled` is a cancel that ends an execution."""

CHANGE, RELEASE, FINISH, GIVE_UP, ARRIVE, LOOK = range(6)
"""The order of events at one instant; within a kind they come in the order in which they were scheduled."""


class SimulatedRequest(Request):
    """A request with its fate: how long it is served once it starts, and when it will wait no longer.

    Times are nanoseconds of the virtual clock. `time_out_ns` and `cancel_ns` are moments, None for never; a server of
    up to 1.28.4 looks to the time-out itself, if it looks at all. `end_ns` is when its execution ended, or when it was
    refused or left; None before that.
    """

    __slots__ = ("cancel_ns", "end_ns", "service_ns", "time_out_ns")

    def __init__(
        self,
        arrive_ns: int,
        service_ns: int,
        attributes: Attributes | None = None,
        *,
        flow_hash: int = 0,
        initial_seats: int = 1,
        final_seats: int = 0,
        additional_latency_ns: int = 0,
        time_out_ns: int | None = None,
        cancel_ns: int | None = None,
    ) -> None:
        """`attributes` are needed for a replica, `flow_hash` for a single level with queues."""
        super().__init__(flow_hash, initial_seats, final_seats, additional_latency_ns, attributes)
        self.arrive_ns = arrive_ns
        self.service_ns = service_ns
        self.time_out_ns = time_out_ns
        self.cancel_ns = cancel_ns
        self.end_ns: int | None = None


class Server(Protocol):
    """What requests are sent to: a `QueueSet` or a `Replica`."""

    @property
    def overdue(self) -> Sequence[SimulatedRequest]: ...

    def arrive(self, now_ns: int, request: SimulatedRequest) -> Sequence[SimulatedRequest]: ...
    def finish(self, now_ns: int, request: SimulatedRequest) -> Sequence[SimulatedRequest]: ...
    def release(self, now_ns: int, request: SimulatedRequest) -> Sequence[SimulatedRequest]: ...
    def give_up(self, now_ns: int, request: SimulatedRequest) -> None: ...


Observer = Callable[[int, Event, SimulatedRequest | None, Sequence[SimulatedRequest]], None]
"""Told of each event after it: the time, what it was, the request (None for a change), and those that it started."""

Change = Callable[[int], Sequence[SimulatedRequest]]
"""A configuration or a borrowing round at a time; returns the requests that start by it."""


class Simulation:
    """A virtual clock with what is still to happen on it."""

    __slots__ = ("_events", "_numbers", "_observer", "_server")

    def __init__(self, server: Server, observer: Observer | None = None) -> None:
        self._server = server
        self._observer = observer
        self._events: list[tuple[int, int, int, Callable[[int, Any], None], Any]] = []
        self._numbers = count()

    def change_at(self, at_ns: int, change: Change) -> None:
        """Let something change at a time, before everything else of that instant."""
        self._schedule(at_ns, CHANGE, self._change, change)

    def come_at(self, at_ns: int, request: SimulatedRequest) -> None:
        """Let a request arrive that is in nobody's list, after all others of that instant."""
        self._schedule(at_ns, ARRIVE, self._arrive, request)

    def look_at(self, at_ns: int, look: Callable[[int], None]) -> None:
        """Have a look taken at a time, after everything else of that instant; it must change nothing."""
        self._schedule(at_ns, LOOK, _look, look)

    def go_on(self, request: SimulatedRequest) -> None:
        """Take over a request that is inside the server already.

        One that executes ends `service_ns` after its start, one that lingers at `end_ns` plus its additional latency.
        """
        if request.state == "executing":
            self._schedule(request.start_ns + request.service_ns, FINISH, self._finish, request)
        elif request.state == "lingering" and request.end_ns is not None:
            self._schedule(request.end_ns + request.additional_latency_ns, RELEASE, self._release, request)
        self._schedule_end(request, request.arrive_ns)

    def run(self, requests: Iterable[SimulatedRequest], until_ns: int | None = None) -> None:
        """Let requests arrive, in order of time, and everything happen that follows, up to and including `until_ns`.

        Without `until_ns` the run goes on until nothing is left to happen. Raises ValueError for a request that arrives
        before the one ahead of it.
        """
        last = 0
        for request in requests:
            at = request.arrive_ns
            if at < last:
                raise ValueError(f"a request arrives at {at}, after one that arrives at {last}")
            if until_ns is not None and at > until_ns:
                break
            last = at
            self._advance((at, ARRIVE))
            self._arrive(at, request)
        self._advance(None if until_ns is None else (until_ns, LOOK + 1))

    def _advance(self, limit: tuple[int, int] | None) -> None:
        events = self._events
        while events and (limit is None or events[0] < limit):
            at, _, _, happen, what = heappop(events)
            happen(at, what)

    def _schedule(self, at: int, rank: int, happen: Callable[[int, Any], None], what: object) -> None:
        heappush(self._events, (at, rank, next(self._numbers), happen, what))

    def _schedule_end(self, request: SimulatedRequest, now: int) -> None:
        if request.time_out_ns is not None and request.state == "waiting":
            self._schedule(max(now, request.time_out_ns), GIVE_UP, self._time_out, request)
        if request.cancel_ns is not None and request.state in ("waiting", "executing"):
            self._schedule(max(now, request.cancel_ns), GIVE_UP, self._cancel, request)

    def _arrive(self, at: int, request: SimulatedRequest) -> None:
        started = self._server.arrive(at, request)
        for late in self._server.overdue:
            late.end_ns = at
            self._after(at, "time-out", late, ())
        if request.state == "refused":
            request.end_ns = at
        elif request.time_out_ns is not None or request.cancel_ns is not None:
            self._schedule_end(request, at)
        self._after(at, "arrive", request, started)

    def _finish(self, at: int, request: SimulatedRequest) -> None:
        # A cancel may have ended it before.
        if request.state == "executing":
            self._end(at, "finish", request)

    def _end(self, at: int, event: Event, request: SimulatedRequest) -> None:
        started = self._server.finish(at, request)
        request.end_ns = at
        if request.state == "lingering":
            self._schedule(at + request.additional_latency_ns, RELEASE, self._release, request)
        self._after(at, event, request, started)

    def _release(self, at: int, request: SimulatedRequest) -> None:
        self._after(at, "release", request, self._server.release(at, request))

    def _time_out(self, at: int, request: SimulatedRequest) -> None:
        if request.state == "waiting":
            self._leave(at, "time-out", request)

    def _cancel(self, at: int, request: SimulatedRequest) -> None:
        if request.state == "waiting":
            self._leave(at, "cancelled", request)
        elif request.state == "executing":
            self._end(at, "finish-cancelled", request)

    def _leave(self, at: int, event: Event, request: SimulatedRequest) -> None:
        self._server.give_up(at, request)
        request.end_ns = at
        self._after(at, event, request, ())

    def _change(self, at: int, change: Change) -> None:
        self._after(at, "change", None, change(at))

    def _after(
        self, at: int, event: Event, request: SimulatedRequest | None, started: Sequence[SimulatedRequest]
    ) -> None:
        for one in started:
            heappush(self._events, (at + one.service_ns, FINISH, next(self._numbers), self._finish, one))
        if self._observer is not None:
            self._observer(at, event, request, started)


def _look(at: int, look: Callable[[int], None]) -> None:
    look(at)
