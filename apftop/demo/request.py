"""One request on its way through a simulated server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from apftop.demo.clients import Asked

READ_ONLY = frozenset({"get", "list", "watch"})


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked for, with the words of dump_requests; `group` and what follows are empty for a path of no resource.

    `api_version` is `group/version`, or the version alone for the core group.
    """

    verb: str
    path: str
    group: str = ""
    api_version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def version(self) -> str:
        return self.api_version.rpartition("/")[2]

    @property
    def kind(self) -> str:
        """The server's `request_kind`: all but get, list and watch counts as mutating."""
        return "readOnly" if self.verb in READ_ONLY else "mutating"


@dataclass(frozen=True, slots=True)
class Work:
    """What a request takes: seats while it executes, seats for a while after it, and how many watchers were counted.

    `watchers` is None for requests that change nothing.
    """

    initial_seats: int = 1
    final_seats: int = 0
    additional_latency_ns: int = 0
    watchers: int | None = None

    @property
    def width(self) -> int:
        return max(self.initial_seats, self.final_seats)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request belongs: schema, level, flow, and the queues that the flow may use (none: it needs no queue)."""

    schema: str
    level: str
    distinguisher: str = ""
    hand: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class Request:
    """One request. Times are nanoseconds since 1970 by the server's clock.

    `service_ns` is how long its handler takes, None where whoever sent it ends it. It waits for at most
    `wait_limit_ns`. `asked` is what its client sent, None for a reader's. `queue` is -1 where the level has none;
    `started_ns` is None until it executes; `ended` is set when it does not wait or execute any more. `arrival_r` and
    `total_work` are the virtual time at which it came to its queue and what it is charged at dispatch.
    """

    user: str
    target: Target
    place: Place
    work: Work
    arrived_ns: int
    service_ns: int | None
    wait_limit_ns: int
    asked: Asked | None = None
    queue: int = -1
    started_ns: int | None = None
    ended: bool = False
    arrival_r: int = 0
    total_work: int = 0

    @property
    def waiting(self) -> bool:
        return self.started_ns is None and not self.ended
