"""Simulated planes at instants of choice, and questions to them without HTTP."""

from __future__ import annotations

from dataclasses import dataclass

from apftop.demo.answers import Reply, handler_s, question, reply
from apftop.demo.plane import ControlPlane
from apftop.demo.scenario import load
from apftop.demo.server import Server

EPOCH_NS = 1_800_000_000 * 1_000_000_000
SECOND_NS = 1_000_000_000
PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
DUMPS = "/debug/api_priority_and_fairness/"
HOT = 1
"""The replica that the storm of the scenario `rush` goes to."""


def at(seconds: float) -> int:
    """An instant, so many seconds after the scenario began."""
    return EPOCH_NS + int(seconds * SECOND_NS)


def live(server: Server, seconds: float) -> None:
    """Let a server live until so many seconds after the scenario began, in steps that are all simulated."""
    while server.now < at(seconds):
        server.advance(min(server.now + 30 * SECOND_NS, at(seconds)))


def a_plane(seconds: float = 0.0, seed: int = 0) -> ControlPlane:
    """The scenario `rush` after so many seconds that nobody looked at."""
    plane = ControlPlane(load("rush"), seed, EPOCH_NS)
    for server in plane.servers:
        live(server, seconds)
    return plane


def ask(plane: ControlPlane, server: Server, target: str, **headers: str) -> Reply:
    """The answer to a GET at the server's present instant."""
    asked = question(target, {name.replace("_", "-"): value for name, value in headers.items()})
    request = server.enter(asked.path, asked.query)
    answer = reply(plane, server, request, asked)
    if not request.refused:
        server.leave(request, handler_s(asked))
    return answer


@dataclass
class HandClock:
    """A clock that stands until it is set."""

    now: int = EPOCH_NS

    def __call__(self) -> int:
        return self.now
