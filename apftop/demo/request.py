"""One request on its way through a simulated server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from apftop.apf.attributes import Attributes
from apftop.apf.estimate import WorkEstimate
from apftop.apf.request import Request as ModelRequest

if TYPE_CHECKING:
    from apftop.demo.clients import Asked

READ_ONLY = frozenset({"get", "list", "watch"})


class Request(ModelRequest):
    """A request to the model, with what only its server and its client know.

    Times are nanoseconds that the server has lived. `cost` is the estimate, of which the model may cut the final seats.
    `service_ns` is how long its handler takes, None where whoever sent it ends it; it waits for at most
    `wait_limit_ns`. `watchers` is how many were counted, None for a request that tells none. `asked` is what its client
    sent, None for a reader's.
    """

    __slots__ = ("asked", "cost", "service_ns", "wait_limit_ns", "watchers")

    attributes: Attributes

    def __init__(
        self,
        attributes: Attributes,
        cost: WorkEstimate,
        service_ns: int | None,
        wait_limit_ns: int,
        watchers: int | None = None,
        asked: Asked | None = None,
    ) -> None:
        super().__init__(0, cost.initial_seats, cost.final_seats, cost.additional_latency_ns, attributes)
        self.cost = cost
        self.service_ns = service_ns
        self.wait_limit_ns = wait_limit_ns
        self.watchers = watchers
        self.asked = asked

    @property
    def kind(self) -> str:
        """The server's `request_kind`: all but get, list and watch counts as mutating."""
        return "readOnly" if self.attributes.verb in READ_ONLY else "mutating"

    @property
    def refused(self) -> bool:
        """Whether it is answered with 429: at once, or because it waited in vain."""
        return self.state in ("refused", "gone")

    @property
    def waited_ns(self) -> int:
        """How long one that was started had waited."""
        return self.start_ns - self.arrive_ns
