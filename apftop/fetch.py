"""One look at servers: plain GETs, one at a time for each server, whose failures are lines of text in the Samples."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol
from urllib.parse import urlencode

from apftop.access import Access, Headers, Unreachable
from apftop.errors import one_line
from apftop.failures import Answer, Broken, Deadlines, failure, size, unusable, wait_s
from apftop.http_text import http_date
from apftop.records.parsed import ParseError
from apftop.records.raw import EXPOSITIONS, KEPT_HEADERS, OBJECTS, Endpoint, Sample
from apftop.session import open_session

if TYPE_CHECKING:
    import aiohttp


class Picker(Protocol):
    """Takes a body piece by piece and gives the part of it that is kept. Both raise ParseError."""

    @property
    def seen(self) -> int:
        """Bytes so far, without the content encoding."""
        ...

    def feed(self, chunk: bytes, /) -> None: ...

    def finish(self) -> bytes: ...


PickerFactory = Callable[[str, str], Picker]
"""Makes a Picker from Content-Type and Content-Encoding."""

Fits = Callable[[Sequence[Sample], Endpoint], bool]
"""Whether to ask a server for something, by all that it has answered so far."""

Form = Literal["auto", "text", "openmetrics", "protobuf"]

GROUP = "flowcontrol.apiserver.k8s.io"
VERSIONS = ("v1", "v1beta3", "v1beta2", "v1beta1")
LOOK = (Endpoint.LEVELS, Endpoint.QUEUES, Endpoint.REQUESTS, Endpoint.METRICS, *OBJECTS)
"""Everything, in the order of asking: metrics directly after the requests, so that the two tell of one moment."""

_PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
_TEXT = "text/plain;version=0.0.4"
_ACCEPT: dict[Form, str] = {
    "auto": f"{_PROTOBUF};q=1,{_TEXT};q=0.5",
    "text": _TEXT,
    "openmetrics": "application/openmetrics-text;version=1.0.0",
    "protobuf": _PROTOBUF,
}
_PATHS = {
    Endpoint.LEVELS: "/debug/api_priority_and_fairness/dump_priority_levels",
    Endpoint.QUEUES: "/debug/api_priority_and_fairness/dump_queues",
    Endpoint.REQUESTS: "/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1",
    Endpoint.METRICS: "/metrics",
    Endpoint.BACKEND: "/metrics",
    Endpoint.DISCOVERY: f"/apis/{GROUP}",
    # As with the objects of APF: from the server's memory. 1.26 to 1.37 have v1 of each.
    Endpoint.VALIDATING: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?resourceVersion=0",
    Endpoint.MUTATING: "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations?resourceVersion=0",
    Endpoint.APISERVICES: "/apis/apiregistration.k8s.io/v1/apiservices?resourceVersion=0",
}
_PLURALS = {Endpoint.SCHEMAS: "flowschemas", Endpoint.CONFIGS: "prioritylevelconfigurations"}
_REFUSAL_BYTES = 64 << 10
_PICKED_AT_ONCE = 64 << 10


@dataclass(frozen=True)
class Manner(Deadlines):
    """How to ask.

    `max_bytes` limits a body as it comes over the wire. `families` are asked for by name; older servers send all. With
    `gzip` None, compressed metrics are asked for off loopback only, and never without a `picker` to decode them.
    `behind` and `behind_picker` are the same for what lies behind the queues.
    `patience_s` is how many seconds a server that refuses may make a look wait before its next question.
    """

    max_bytes: int = 256 << 20
    families: tuple[str, ...] = ()
    form: Form = "auto"
    gzip: bool | None = None
    picker: PickerFactory | None = None
    behind: tuple[str, ...] = ()
    behind_picker: PickerFactory | None = None
    patience_s: float = 10.0

    def asked(self, endpoint: Endpoint) -> tuple[tuple[str, ...], PickerFactory | None]:
        """The families that an endpoint is asked for by name, and what picks them; none for what is no metrics."""
        if endpoint is Endpoint.METRICS:
            return self.families, self.picker
        return (self.behind, self.behind_picker) if endpoint is Endpoint.BACKEND else ((), None)


@dataclass(frozen=True)
class Turn:
    """What to ask for, `after_s` seconds from the start of the turn before, or at once if that took longer.

    One that `goes_on` is part of the look before, and so of its pauses and patience: where nothing at all was answered
    to that, it is not tried. With `fits`, only what fits is asked for; objects always are.
    """

    wants: tuple[Endpoint, ...] = LOOK
    after_s: float = 0.0
    goes_on: bool = False
    fits: Fits | None = None


DEFAULT = Manner()


def run(accesses: Sequence[Access], turns: Sequence[Turn], manner: Manner = DEFAULT) -> list[Sample]:
    """Ask all servers at the same time, each turn after turn: their Samples, server by server, in the order of asking.

    Blocks; starts an event loop of its own. Raises Unreachable for files or proxies that cannot be used, else never.
    """

    async def all_servers() -> list[list[Sample]]:
        return await asyncio.gather(*(_serve(access, turns, manner) for access in accesses))

    return [sample for samples in asyncio.run(all_servers()) for sample in samples]


async def look(
    session: aiohttp.ClientSession, access: Access, wants: Iterable[Endpoint] = LOOK, manner: Manner = DEFAULT
) -> list[Sample]:
    """Ask one server for several things, one after another in the order of LOOK.

    Each answer is a Sample, those on the way to the objects too, under DISCOVERY. Where no connection comes about or no
    answer begins in time, the rest is not tried, and has the same error. A server that refuses with 429 or 503 gets the
    pause that it asks for; where that is longer than the patience, the rest is not asked, and has an error too.
    """
    return await _looked(_Visit(session, access, manner), wants)


async def _serve(access: Access, turns: Sequence[Turn], manner: Manner) -> list[Sample]:
    """All turns of one server."""
    samples: list[Sample] = []
    async with open_session(access, manner) as session:
        begun = time.monotonic()
        visit = _Visit(session, access, manner)
        for turn in turns:
            await asyncio.sleep(begun + turn.after_s - time.monotonic())
            begun = time.monotonic()
            if turn.goes_on:
                visit.go_on()
            else:
                visit = _Visit(session, access, manner)
            samples += await _looked(visit, turn.wants, turn.fits, samples)
    return samples


async def _looked(
    visit: _Visit, wants: Iterable[Endpoint], fits: Fits | None = None, before: Sequence[Sample] = ()
) -> list[Sample]:
    """What fits of what is wanted; `before` are the earlier answers of the server."""
    order = [endpoint for endpoint in LOOK if endpoint in set(wants)]
    samples: list[Sample] = []
    for endpoint in order:
        if endpoint not in _PLURALS and (fits is None or visit.over or fits([*before, *samples], endpoint)):
            samples.append(await visit.ask(endpoint))
    objects = [endpoint for endpoint in order if endpoint in _PLURALS]
    return samples + (await _objects(visit, objects) if objects else [])


class _Visit:
    """One look at one server, and what its answers so far mean for the questions that are left."""

    def __init__(self, session: aiohttp.ClientSession, access: Access, manner: Manner) -> None:
        self._session = session
        self._access = access
        self._manner = manner
        self._pause_s = 0.0
        self._patience_s = manner.patience_s
        self._end: Sample | None = None
        self._silent = False
        self._heard = False

    @property
    def over(self) -> bool:
        """Whether nothing more is asked."""
        return self._end is not None

    def go_on(self) -> None:
        """Ask again after a silence, if that was of one endpoint: the server has answered something before."""
        if self._silent and self._heard:
            self._end, self._silent = None, False

    async def ask(self, endpoint: Endpoint, version: str = VERSIONS[0]) -> Sample:
        """The answer to one question, after the pause that the answer before it called for."""
        if self._end:
            return replace(self._end, endpoint=endpoint)
        await asyncio.sleep(self._pause_s)
        self._patience_s -= self._pause_s
        path = path_of(endpoint, self._manner, version)
        sample, go_on = await ask(self._session, self._access, endpoint, self._manner, path)
        told = sample.header("retry-after") or ""
        self._pause_s = wait_s(sample.status, told)
        self._heard = self._heard or sample.status is not None
        if not go_on:
            self._end, self._silent = sample, True
        elif self._pause_s > self._patience_s:
            error = f"not asked: the server said to wait {one_line(told, 20)} s"
            self._end = Sample(sample.replica, endpoint, error=error, sent=sample.received, received=sample.received)
        return sample


async def _objects(visit: _Visit, wants: Sequence[Endpoint]) -> list[Sample]:
    """Configuration objects in the newest version that the server has, after the answers that led to it.

    Where the group is not there or not told, that is the outcome of each of the `wants` too, but only the group's own
    Sample has the headers and bytes of the one answer.
    """
    if visit.over:
        return [await visit.ask(endpoint) for endpoint in wants]
    group = await visit.ask(Endpoint.DISCOVERY)
    if group.error or group.status == 404:
        return [group, *(replace(group, endpoint=endpoint, body=b"", headers=(), wire_bytes=0) for endpoint in wants)]
    samples = [group]
    for endpoint in wants:
        tries: list[Sample] = []
        for version in _served(group):
            tries.append(await visit.ask(endpoint, version))
            if tries[-1].status != 404:
                break
        samples += [replace(missed, endpoint=Endpoint.DISCOVERY) for missed in tries[:-1]] + tries[-1:]
    return samples


def _served(group: Sample) -> tuple[str, ...]:
    """The versions to try in turn: those known that the server says it has, else its preferred one, else all known."""
    try:
        said = json.loads(group.body)
        there = {entry["version"] for entry in said["versions"]}
        return tuple(v for v in VERSIONS if v in there) or (str(said["preferredVersion"]["version"]),)
    except (ValueError, KeyError, TypeError):
        return VERSIONS


def path_of(endpoint: Endpoint, manner: Manner, version: str = VERSIONS[0]) -> str:
    """The encoded path with query of an endpoint."""
    if endpoint in _PLURALS:
        # resourceVersion=0 is answered from the server's memory, so that a slow etcd is left alone.
        return f"/apis/{GROUP}/{version}/{_PLURALS[endpoint]}?resourceVersion=0"
    names = [("name[]", family) for family in manner.asked(endpoint)[0]]
    return _PATHS[endpoint] + ("?" + urlencode(names) if names else "")


async def ask(
    session: aiohttp.ClientSession, access: Access, endpoint: Endpoint, manner: Manner, path: str
) -> tuple[Sample, bool]:
    """Send one GET and read its answer to the end: the Sample, and whether a next question may fare better.

    Never raises for what a server or network does: no answer, or half of one, makes a Sample with an `error` and
    without a body. Any status is an answer, and redirects are not followed. What is `sent` and `received` brackets the
    request and its answer alone: neither looking up names, connecting and its handshakes, nor picking what is kept.
    """
    import aiohttp
    import yarl

    answer, error, go_on = Answer(), "", True
    metrics = endpoint in EXPOSITIONS
    families, picker = manner.asked(endpoint)
    gzip = picker and (not access.loopback if manner.gzip is None else manner.gzip)
    asked = (
        ("Accept", _ACCEPT[manner.form] if metrics else "application/json" if "/apis/" in path else "text/plain, */*"),
        ("Accept-Encoding", "gzip" if gzip else "identity"),
    )
    answer.sent = time.time()
    try:
        credentials = await _credentials(access, manner)
        answer.sent = time.time()
        async with session.get(
            yarl.URL(access.url + path, encoded=True),
            headers=(*asked, *credentials),
            server_hostname=access.server_hostname,
            allow_redirects=False,
            trace_request_ctx=answer,
        ) as response:
            answer.begun = time.time()
            answer.status = response.status
            answer.peer = getattr(response, "peer", "")
            kept = ((name, response.headers[name]) for name in KEPT_HEADERS if name in response.headers)
            answer.headers = {name: one_line(value) for name, value in kept}
            await _read(response, answer, manner, picker)
    except (Unreachable, Broken, ParseError, aiohttp.ClientError, TimeoutError, OSError, ValueError) as exc:
        error, go_on = await failure(exc, access, path, answer, manner)
    if answer.status == 401:
        access.refused()
    sample = Sample(
        replica=access.name,
        endpoint=endpoint,
        body=b"" if error else answer.body,
        status=answer.status,
        error=one_line(error),
        content_type=answer.headers.get("content-type", ""),
        sent=answer.sent,
        received=time.time() if answer.received is None else answer.received,
        server_date=http_date(answer.headers.get("date", "")),
        headers=tuple(answer.headers.items()),
        begun=answer.begun,
        wire_bytes=answer.wire_bytes,
        whole_bytes=None if error else answer.whole_bytes,
        named=bool(families),
        peer=answer.peer,
    )
    return sample, go_on


async def _credentials(access: Access, manner: Manner) -> Headers:
    """Who asks. Raises Unreachable, also where that cannot be learned in the time of a whole answer."""
    try:
        async with asyncio.timeout(manner.whole_s):
            return await access.auth()
    except TimeoutError:
        hint = "run the exec plugin of the kubeconfig by hand"
        raise Unreachable(f"no credentials in {manner.whole_s:g} s", access.name, hint) from None


async def _read(response: aiohttp.ClientResponse, answer: Answer, manner: Manner, make: PickerFactory | None) -> None:
    """Read to the end whatever comes: a server counts a reader who leaves early as an aborted request."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    trouble: Exception | None = unusable(answer, encoding, decoded=make is not None)
    picker: Picker | None = None
    body = bytearray()
    async for chunk in response.content.iter_any():
        answer.wire_bytes += len(chunk)
        if answer.wire_bytes > manner.max_bytes:
            raise Broken(f"the answer is larger than {size(manner.max_bytes)}")
        if trouble:
            continue
        if response.status != 200:
            body += chunk[: _REFUSAL_BYTES - len(body)] if encoding == "identity" else b""
        elif make:
            picker = picker or make(answer.headers.get("content-type", ""), encoding)
            try:
                await _pick(picker, chunk)
            except ParseError as exc:
                trouble = exc
        else:
            body += chunk
    answer.received = time.time()
    if trouble:
        raise trouble
    if picker:
        answer.body, answer.whole_bytes = picker.finish(), picker.seen
        return
    answer.body = bytes(body)
    answer.whole_bytes = answer.wire_bytes if encoding == "identity" else None


async def _pick(picker: Picker, chunk: bytes) -> None:
    """Feed a chunk in pieces, so that other servers are heard while one that was packed small is decoded."""
    for start in range(0, len(chunk), _PICKED_AT_ONCE):
        if start:
            await asyncio.sleep(0)
        picker.feed(chunk[start : start + _PICKED_AT_ONCE])
