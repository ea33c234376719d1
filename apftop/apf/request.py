"""One request inside a priority level: what its queue set needs to know of it, changed as it passes through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

from apftop.apf.work import total_work

if TYPE_CHECKING:
    from apftop.apf.queue import Queue

State = Literal["new", "waiting", "executing", "lingering", "done", "refused", "gone"]
"""`lingering`: at its end, but still holding its seats; `gone`: left its queue without being served."""

Refusal = Literal["queue-full", "concurrency-limit"]
"""Why a level refuses a request on arrival, as the metrics name it."""


class Request:
    """A request of known cost. Seats are whole, times nanoseconds, work in units of 1e-8 seat-second.

    `final_seats`, `additional_latency_ns` and `width` may be cut to the level's limit at dispatch.
    """

    __slots__ = (
        "additional_latency_ns",
        "arrival_r",
        "final_seats",
        "flow_hash",
        "initial_seats",
        "queue",
        "refusal",
        "start_ns",
        "state",
        "width",
        "work",
    )

    def __init__(
        self, flow_hash: int = 0, initial_seats: int = 1, final_seats: int = 0, additional_latency_ns: int = 0
    ) -> None:
        self.flow_hash = flow_hash
        self.initial_seats = initial_seats
        self.final_seats = final_seats
        self.additional_latency_ns = additional_latency_ns
        self.width = max(initial_seats, final_seats)
        self.work = total_work(initial_seats, final_seats, additional_latency_ns)
        self.state: State = "new"
        self.refusal: Refusal | None = None
        self.queue: Queue[Any] | None = None
        self.arrival_r = 0
        self.start_ns = 0


R = TypeVar("R", bound=Request)
"""The kind of request that a queue set is fed with: callers add what they keep of one in a subclass."""
