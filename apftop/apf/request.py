"""One request inside a priority level: what the model needs to know of it, changed as it passes through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

from apftop.apf.work import total_work

if TYPE_CHECKING:
    from apftop.apf.attributes import Attributes
    from apftop.apf.queue import Queue
    from apftop.apf.replica import Station

State = Literal["new", "waiting", "executing", "lingering", "done", "refused", "gone"]
"""`lingering`: at its end, but still holding its seats; `gone`: left its queue without being served."""

Refusal = Literal["queue-full", "concurrency-limit"]
"""Why a level refuses a request on arrival, as the metrics name it."""


class Request:
    """A request of known cost. Seats are whole, times nanoseconds, work in units of 1e-8 seat-second.

    `arrive_ns` is when it comes to its level. `attributes` are what a replica classifies it by; then `schema` and
    `level` are names, and `station` is the level that it went to, which outlives the level's object. `final_seats`,
    `additional_latency_ns` and `width` may be cut to the level's limit at dispatch.
    """

    __slots__ = (
        "additional_latency_ns",
        "arrival_r",
        "arrive_ns",
        "attributes",
        "final_seats",
        "flow_hash",
        "initial_seats",
        "level",
        "queue",
        "refusal",
        "schema",
        "start_ns",
        "state",
        "station",
        "width",
        "work",
    )

    def __init__(
        self,
        flow_hash: int = 0,
        initial_seats: int = 1,
        final_seats: int = 0,
        additional_latency_ns: int = 0,
        attributes: Attributes | None = None,
    ) -> None:
        self.flow_hash = flow_hash
        self.initial_seats = initial_seats
        self.final_seats = final_seats
        self.additional_latency_ns = additional_latency_ns
        self.attributes = attributes
        self.width = max(initial_seats, final_seats)
        self.work = total_work(initial_seats, final_seats, additional_latency_ns)
        self.state: State = "new"
        self.refusal: Refusal | None = None
        self.queue: Queue[Any] | None = None
        self.station: Station[Any] | None = None
        self.schema = self.level = ""
        self.arrival_r = 0
        self.arrive_ns = 0
        self.start_ns = 0


R = TypeVar("R", bound=Request)
"""The kind of request that a level or a replica is fed with: callers add what they keep of one in a subclass."""
