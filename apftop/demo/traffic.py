"""What a simulated server counts of its requests beside flow control: codes, durations, storage."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from apftop.demo.meters import Distribution
from apftop.demo.request import Request

Key = TypeVar("Key")

DURATIONS = (
    *(0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0),
    *(3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0),
)
FILTER_SECONDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 5.0, 10.0, 15.0, 30.0)
STORAGE_SHARE = 0.4
"""How much of the time of a request that reaches etcd is spent there."""

_VERBS = {"create": "POST", "update": "PUT"}
_STORAGE = {"get": "get", "create": "create", "update": "update", "patch": "update", "delete": "delete"}
_CPU_S = 0.0012
_CPU_S_PER_SEAT = 0.004


class RequestLabels(NamedTuple):
    """The labels by which requests are counted."""

    verb: str
    group: str
    version: str
    resource: str
    subresource: str
    scope: str


class Traffic:
    """Counters and distributions over all levels of one server."""

    def __init__(self) -> None:
        self.codes: dict[tuple[RequestLabels, int], int] = {}
        self.durations: dict[RequestLabels, Distribution] = {}
        self.without_waits: dict[RequestLabels, Distribution] = {}
        self.terminations: dict[RequestLabels, int] = {}
        self.storage: dict[tuple[str, str, str], Distribution] = {}
        self.queueing = Distribution(FILTER_SECONDS)
        self.cpu_s = 0.0

    def served(self, request: Request, took_s: float) -> None:
        """A request has got its answer; `took_s` is the time in its handler."""
        asked = _asked(request)
        sent, waited_s = request.attributes, request.waited_ns / 1e9
        key = asked, 201 if asked.verb == "POST" else 200
        self.codes[key] = self.codes.get(key, 0) + 1
        self.queueing.observe(waited_s + _CPU_S / 10)
        if sent.verb != "watch":
            _of(self.durations, asked).observe(waited_s + took_s)
            _of(self.without_waits, asked).observe(took_s)
        self.cpu_s += _CPU_S + _CPU_S_PER_SEAT * request.initial_seats
        operation = _STORAGE.get(sent.verb)
        if operation and sent.resource_request:
            where = operation, sent.api_group, sent.resource
            _of(self.storage, where).observe(took_s * STORAGE_SHARE)

    def refused(self, request: Request) -> None:
        """A request was refused by flow control: with 429, and without a place among the durations."""
        asked = _asked(request)
        self.codes[asked, 429] = self.codes.get((asked, 429), 0) + 1
        self.terminations[asked] = self.terminations.get(asked, 0) + 1
        self.cpu_s += _CPU_S / 2

    def age(self, factor: int) -> None:
        """As if all of it had happened `factor` times."""
        self.codes = {key: count * factor for key, count in self.codes.items()}
        self.terminations = {key: count * factor for key, count in self.terminations.items()}
        for one in (*self.durations.values(), *self.without_waits.values(), *self.storage.values(), self.queueing):
            one.age(factor)
        self.cpu_s *= factor


def _asked(request: Request) -> RequestLabels:
    sent = request.attributes
    verb = _VERBS.get(sent.verb, sent.verb.upper())
    if not sent.resource_request:
        return RequestLabels(verb, "", "", "", sent.path, "")
    scope = "resource" if sent.name else "namespace" if sent.namespace else "cluster"
    return RequestLabels(verb, sent.api_group, sent.api_version, sent.resource, sent.subresource, scope)


def _of(found: dict[Key, Distribution], key: Key) -> Distribution:
    one = found.get(key)
    if one is None:
        one = found[key] = Distribution(DURATIONS)
    return one
