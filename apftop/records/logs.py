"""What logs say, where somebody gave them: who really sent the requests, and who waits in the client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ClientLog:
    """Lines in which client-go says that its own limiter made a request wait ("due to client-side throttling").

    Waits in seconds. `requests` are the requests named there, verb and path without the server, by how often, and
    `longest` their longest waits. `retries` are further lines, about waits before another try, in no other number here;
    `refused` are those of them whose try before was answered with 429, by the UID of the flow schema (empty where the
    answer had none: it was not APF's). `given_up` are requests that never left the client: their deadlines would have
    passed before the limiter let them go. `seconds` is the time from the first to the last of all these lines.
    """

    lines: int
    max_wait_s: float
    sum_wait_s: float
    requests: Mapping[str, int] = field(default_factory=dict)
    longest: Mapping[str, float] = field(default_factory=dict)
    retries: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    given_up: int = 0
    seconds: float | None = None


OTHERS = "(others)"
"""Stands for all that are too rare to be told apart, as a user agent, a user, or a kind of request."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Requests of one user with one user agent from one address, by the audit log or the servers' access log.

    `schema` and `level` are empty where the log does not name them (only the access log does), `user` where it lacks
    the user (the access log does). `refused` are answers with 429 that may be APF's; `queued` are those that waited in
    a queue, with the sum and the maximum of their waits in seconds, as far as the log tells (audit logs since 1.31, for
    requests slower than 500 ms; access logs for waits over 100 ms). `kinds` are verb and resource, such as `list pods`,
    by how often. A row of `OTHERS` holds the rare callers of one user, or of all users.
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

    `entries` is how many requests these logs tell of, `seconds` the time from the first to the last of them; where both
    audit and access logs were given, those of the log that tells of more, since most requests are in both.
    `problems` says which lines could not be read and how many.
    """

    client: ClientLog | None = None
    callers: tuple[Caller, ...] = ()
    entries: int = 0
    seconds: float | None = None
    denied: tuple[Denied, ...] = ()
    problems: tuple[str, ...] = ()


NO_LOGS = Logs()
