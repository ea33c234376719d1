"""What the next seconds of a level may look like: many runs from one dump, and the band that they span."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apftop.apf.resume import SeenLevel, resume
from apftop.apf.simulate import SimulatedRequest, Simulation
from apftop.apf.traffic import Traffic

RUNS = 64
LOW, HIGH = 0.05, 0.95


@dataclass(frozen=True, slots=True)
class Band:
    """Where most of the runs lie: the 5th percentile, the median and the 95th."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """Bands over an interval. Waits in nanoseconds; None where no run had any.

    `mean_wait` is that of the requests which left their queue in the interval, served or timed out, as the wait
    histogram counts them; `waiting` is how many wait at the end. `starts` has for each request that was seen waiting
    when it starts, from the moment of the dump; None where it did not start in most of the runs.
    """

    mean_wait: Band | None
    dispatched: Band
    refused: Band
    timed_out: Band
    waiting: Band
    starts: tuple[Band | None, ...]


def generators(seed: int, runs: int = RUNS) -> Iterator[random.Random]:
    """One independent source of randomness for each run; the same seed gives the same runs."""
    for run in range(runs):
        yield random.Random(f"{seed}/{run}")  # noqa: S311 - a simulation, no secret


def band(values: Sequence[float]) -> Band:
    """The band of some values, at least one: nearest ranks, no interpolation."""
    ordered = sorted(values)
    last = len(ordered) - 1
    return Band(ordered[round(LOW * last)], ordered[round(0.5 * last)], ordered[round(HIGH * last)])


def forecast(
    seen: SeenLevel, traffic: Traffic, until_ns: int, *, counted_from_ns: int | None = None, seed: int, runs: int = RUNS
) -> Forecast:
    """Run a level forward from a dump to `until_ns` many times, with arrivals drawn from `traffic`.

    What happens is counted from `counted_from_ns` on, or from the moment of the dump.
    """
    start = seen.at_ns if counted_from_ns is None else counted_from_ns
    outcomes = [_run(seen, traffic, rng, start, until_ns) for rng in generators(seed, runs)]
    waits = [one.mean_wait for one in outcomes if one.mean_wait is not None]
    return Forecast(
        mean_wait=band(waits) if waits else None,
        dispatched=band([one.dispatched for one in outcomes]),
        refused=band([one.refused for one in outcomes]),
        timed_out=band([one.timed_out for one in outcomes]),
        waiting=band([one.waiting for one in outcomes]),
        starts=tuple(_starts([one.starts[index] for one in outcomes]) for index in range(len(outcomes[0].starts))),
    )


@dataclass(frozen=True, slots=True)
class _Outcome:
    mean_wait: float | None
    dispatched: int
    refused: int
    timed_out: int
    waiting: int
    starts: tuple[int | None, ...]


def _run(seen: SeenLevel, traffic: Traffic, rng: random.Random, start_ns: int, until_ns: int) -> _Outcome:
    level, inside = resume(seen, traffic.service, rng, traffic.wait_limit_ns)
    simulation = Simulation(level)
    for request in inside:
        simulation.go_on(request)
    seen_waiting = [request for request in inside if request.state == "waiting"]
    arrivals = traffic.draw(rng, seen.at_ns, until_ns)
    simulation.run(arrivals, until_ns)
    served, left, refused = 0, 0, 0
    waits = 0
    for request in (*inside, *arrivals):
        if request.state == "refused" and request.arrive_ns > start_ns:
            refused += 1
        elif request.state == "gone" and request.end_ns is not None and request.end_ns > start_ns:
            left += 1
            waits += request.end_ns - request.arrive_ns
        elif _started(request) and request.start_ns > start_ns:
            served += 1
            waits += request.start_ns - request.arrive_ns
    return _Outcome(
        mean_wait=waits / (served + left) if served + left else None,
        dispatched=served,
        refused=refused,
        timed_out=left,
        waiting=level.waiting,
        starts=tuple(request.start_ns - seen.at_ns if _started(request) else None for request in seen_waiting),
    )


def _started(request: SimulatedRequest) -> bool:
    return request.state in ("executing", "lingering", "done")


def _starts(moments: Sequence[int | None]) -> Band | None:
    started = [moment for moment in moments if moment is not None]
    return band(started) if 2 * len(started) > len(moments) else None
