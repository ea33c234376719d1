"""When the requests that wait in a dump are to start: runs from there on, until all of them have or time is up."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace

from apftop.apf.forecast import Band, band_of_most, generators, started
from apftop.apf.resume import SeenLevel, resume
from apftop.apf.simulate import Simulation
from apftop.apf.traffic import Traffic

RUNS = 32


@dataclass(frozen=True, slots=True)
class Onward:
    """What is run: a level from a dump on, to `until_ns` at most, with the arrivals of `traffic` every `every_ns`.

    Nobody knows how long service is going to take: its mean is that of before, give or take `drift`, the deviation of
    its logarithm.
    """

    seen: SeenLevel
    traffic: Traffic
    every_ns: int
    until_ns: int
    seed: int | str
    runs: int = RUNS
    drift: float = 0.0


def start_bands(onward: Onward) -> tuple[Band | None, ...]:
    """When each request that was seen waiting starts, in nanoseconds after the dump, in the order seen.

    None where it does not in most of the runs.
    """
    runs = [_run(onward, rng) for rng in generators(onward.seed, onward.runs)]
    return tuple(band_of_most(moments) for moments in zip(*runs, strict=True))


def _run(onward: Onward, rng: random.Random) -> list[int | None]:
    seen, traffic = onward.seen, onward.traffic
    if onward.drift:
        traffic = replace(traffic, service=traffic.service.stretched(math.exp(rng.gauss(0.0, onward.drift))))
    level, inside = resume(seen, traffic.service, rng, traffic.wait_limit_ns)
    simulation = Simulation(level)
    for request in inside:
        simulation.go_on(request)
    waiting = [request for request in inside if request.state == "waiting"]
    at_ns = seen.at_ns
    while at_ns < onward.until_ns and any(request.state == "waiting" for request in waiting):
        simulation.run(traffic.draw(rng, at_ns + 1, at_ns + onward.every_ns), at_ns + onward.every_ns)
        at_ns += onward.every_ns
    starts = (request.start_ns if started(request) else None for request in waiting)
    return [None if start is None or start > onward.until_ns else start - seen.at_ns for start in starts]
