"""What logs say, where somebody gave them: who really sent the requests, and who waits in the client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ClientLog:
    """Lines in which client-go says that its own limiter made a request wait ("due to client-side throttling").

    Waits in seconds. `requests` are the requests named there, verb and path without the server, by how often.
    """

    lines: int
    max_wait_s: float
    sum_wait_s: float
    requests: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Caller:
    """Requests of one user with one user agent from one address, by the audit log or the servers' access log.

    `schema` and `level` are empty where the log does not name them (only the access log does), `user` where it lacks
    the user (the access log does). `refused` are answers with 429; `queued` are those that waited in a queue, with the
    sum and the maximum of their waits in seconds, as far as the log tells (audit logs since 1.31, for requests slower
    than 500 ms). `kinds` are verb and resource, such as `list pods`, by how often.
    """

    user: str
    user_agent: str
    source: str
    schema: str = ""
    level: str = ""
    requests: int = 0
    refused: int = 0
    queued: int = 0
    queued_s: float = 0.0
    max_queued_s: float = 0.0
    kinds: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Denied:
    """Who may not list the APF objects, by a log of an API server that embeds the same library."""

    user: str
    resource: str
    lines: int
    server: str = ""


@dataclass(frozen=True, slots=True)
class Logs:
    """All of the logs that were given; `callers` come most requests first, from audit and access logs.

    `entries` is how many requests these logs tell of, `seconds` the time from the first to the last of them.
    `problems` says which lines could not be read and how many.
    """

    client: ClientLog | None = None
    callers: tuple[Caller, ...] = ()
    entries: int = 0
    seconds: float | None = None
    denied: tuple[Denied, ...] = ()
    problems: tuple[str, ...] = ()


NO_LOGS = Logs()
