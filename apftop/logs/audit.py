"""Audit events (audit.k8s.io/v1, a JSON object a line) to requests, each once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime

import msgspec

from apftop.logs.callers import Entry
from apftop.logs.words import duration

QUEUE_WAIT = "apiserver.latency.k8s.io/apf-queue-wait"
"""The annotation with the wait in the queue, since 1.31, on requests slower than 500 ms."""

REFUSAL = "Too many requests, please try again later."
MOST_OPEN = 50_000
MOST_DONE = 20_000
LAST_STAGES = ("ResponseComplete", "Panic", "")


class _User(msgspec.Struct, frozen=True):
    username: str = ""


class _Object(msgspec.Struct, frozen=True):
    resource: str = ""
    subresource: str = ""


class _Status(msgspec.Struct, frozen=True):
    code: int = 0
    message: str = ""


class Event(msgspec.Struct, frozen=True, rename="camel"):
    """The fields of one event that apftop reads."""

    audit_id: str = msgspec.field(name="auditID")
    stage: str = ""
    verb: str = ""
    request_uri: str = msgspec.field(name="requestURI", default="")
    user: _User = _User()
    impersonated_user: _User | None = None
    source_ips: list[str] | None = msgspec.field(name="sourceIPs", default=None)
    user_agent: str = ""
    object_ref: _Object | None = None
    response_status: _Status | None = None
    annotations: dict[str, str] | None = None
    request_received_timestamp: datetime | None = None


class _List(msgspec.Struct, frozen=True):
    items: list[Event]


_EVENT, _LIST = msgspec.json.Decoder(Event), msgspec.json.Decoder(_List)


def events(line: bytes) -> list[Event]:
    """The events of a line: one, or those of an EventList. Raises ValueError where it holds none."""
    try:
        return [_EVENT.decode(line)]
    except msgspec.DecodeError:
        if b"EventList" not in line[:200]:
            raise
        return _LIST.decode(line).items


class Once:
    """Each request once, as its last stage tells of it; long ones may have begun or ended outside of the log."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, Event] = OrderedDict()
        self._done: OrderedDict[str, None] = OrderedDict()

    def take(self, event: Event) -> Iterator[Event]:
        """The event that ends a request, if this is one."""
        if event.audit_id in self._done:
            return
        self._open.pop(event.audit_id, None)
        if event.stage in LAST_STAGES:
            yield self._ended(event)
            return
        self._open[event.audit_id] = event
        if len(self._open) > MOST_OPEN:
            yield self._ended(self._open.popitem(last=False)[1])

    def rest(self) -> Iterator[Event]:
        """What has not ended within the log."""
        yield from self._open.values()
        self._open.clear()

    def _ended(self, event: Event) -> Event:
        self._done[event.audit_id] = None
        if len(self._done) > MOST_DONE:
            self._done.popitem(last=False)
        return event


def entry(event: Event) -> Entry | None:
    """One request; None for one without a user: what is not authenticated never comes to APF."""
    # APF sees the request after impersonation.
    user = (event.impersonated_user or event.user).username
    if not user:
        return None
    about, received = event.object_ref, event.request_received_timestamp
    status = event.response_status or _Status()
    return Entry(
        user,
        event.user_agent,
        # Only the last address is the server's own knowledge; those before it are what the client claims.
        event.source_ips[-1] if event.source_ips else "",
        f"{event.verb} {_what(about, event.request_uri)}",
        # An eviction that a disruption budget forbids, and others after APF, have a message of their own.
        status.code == 429 and status.message in ("", REFUSAL) and not (about and about.subresource == "eviction"),
        queued_s=duration((event.annotations or {}).get(QUEUE_WAIT, "")),
        time=received.timestamp() if received else None,
    )


def _what(about: _Object | None, uri: str) -> str:
    if about is None or not about.resource:
        return uri.partition("?")[0]
    return f"{about.resource}/{about.subresource}" if about.subresource else about.resource
