"""A simulated control plane keeps all laws: its numbers are those of the model that they are held against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from apftop.check.checks import checked
from apftop.check.track import Tracks, followed
from apftop.demo.plane import ControlPlane
from apftop.demo.server import Server
from apftop.live import observe
from apftop.records.checks import Check
from apftop.records.raw import Endpoint, Sample
from apftop.records.state import State
from tests.demo.planes import DUMPS, SECOND_NS, a_plane, ask, live

FLOW_CONTROL = "/apis/flowcontrol.apiserver.k8s.io/v1/"
PATHS = {
    Endpoint.SCHEMAS: FLOW_CONTROL + "flowschemas",
    Endpoint.CONFIGS: FLOW_CONTROL + "prioritylevelconfigurations",
    Endpoint.LEVELS: DUMPS + "dump_priority_levels",
    Endpoint.QUEUES: DUMPS + "dump_queues",
    Endpoint.REQUESTS: DUMPS + "dump_requests?includeRequestDetails=1",
    Endpoint.METRICS: "/metrics",
}
TRIP_NS = 2_000_000
"""From question to answer, in which the server lives on."""


def look(plane: ControlPlane, server: Server, number: int) -> Iterator[Sample]:
    """One round of questions to a server, as live polling asks them."""
    for endpoint, path in PATHS.items():
        sent = server.now
        server.advance(server.now + TRIP_NS // 2)
        begun = server.now
        answer = ask(plane, server, path)
        server.advance(server.now + TRIP_NS // 2)
        yield Sample(
            f"server-{number}",
            endpoint,
            answer.body,
            answer.status,
            content_type=answer.content_type,
            sent=sent / SECOND_NS,
            begun=begun / SECOND_NS,
            received=server.now / SECOND_NS,
        )


def test_no_check_is_off_in_two_minutes_of_a_rush() -> None:
    plane = a_plane(1.0)
    state = State()
    known: Tracks = {}
    off: dict[str, Check] = {}
    told: Counter[str] = Counter()
    for second in range(2, 120, 4):
        for number, server in enumerate(plane.servers):
            live(server, float(second))
            for sample in look(plane, server, number):
                state = observe(state, sample)
                known = followed(known, state)
            found = checked(known[f"server-{number}"])
            made = [("", check) for check in found.checks]
            made += [(name, check) for name, level in found.levels.items() for check in level.checks]
            off |= {f"{second} s, {number}, {name}": check for name, check in made if check.verdict == "off"}
            told.update(check.law for _, check in made if check.verdict == "ok")

    assert not off, off
    assert told["hand"] > 10
    assert told["waiting-time"] > 50
