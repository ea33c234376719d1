"""Row 8: many runs of one level from a dump, and of a whole replica."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from apftop.apf.attributes import attributes
from apftop.apf.builtins import builtin_levels, builtin_schemas
from apftop.apf.estimate import WorkEstimate
from apftop.apf.forecast import forecast, generators
from apftop.apf.objects import Queuing
from apftop.apf.release import Release
from apftop.apf.replica import Replica
from apftop.apf.resume import SeenLevel, SeenQueue
from apftop.apf.service_times import ServiceTimes
from apftop.apf.shards import flow_hash
from apftop.apf.simulate import SimulatedRequest, Simulation
from apftop.apf.traffic import Sample, Traffic
from tests.bench.row import Row

RUNS = 64
SECOND = 10**9
RELEASE = Release(1, 37, 2)
SERVICE = ServiceTimes((50_000_000, 100_000_000, 200_000_000, 500_000_000), (10, 20, 10, 4, 0))


def rows(*, short: bool) -> Iterator[Row]:
    """Wall seconds on one core."""
    what = f"{RUNS} runs of 10 s of one level, 1,000 requests each"
    yield Row(8, what, min(_level() for _ in range(1 if short else 5)), "s", "wall, one core", 1.0, "lower")
    runs = RUNS // 8 if short else RUNS
    what = f"{RUNS} runs of 60 s of a whole replica, 6,000 requests each"
    yield Row(8, what, _replica(runs) * RUNS / runs, "s", f"wall, one core, from {runs} runs", 20.0, "lower")


def _level() -> float:
    queuing = Queuing(64, 6, 50)
    samples = [Sample(WorkEstimate(), flow_hash("service-accounts", f"user-{flow}")) for flow in range(12)]
    seen = SeenLevel(0, queuing, 13, 0, [SeenQueue(0, 0)] * queuing.queues, [])
    start = time.perf_counter()
    forecast(seen, Traffic(1000, samples, SERVICE, wait_limit_ns=15 * SECOND), 10 * SECOND, seed=1, runs=RUNS)
    return time.perf_counter() - start


def _replica(runs: int) -> float:
    groups = ("system:serviceaccounts", "system:authenticated")
    samples = [
        Sample(
            WorkEstimate(),
            attributes=attributes(
                "GET", f"/api/v1/namespaces/a/{kind}", user=f"system:serviceaccount:a:{user}", groups=groups
            ),
        )
        for kind in ("pods", "configmaps", "secrets")
        for user in range(10)
    ]
    traffic = Traffic(6000, samples, SERVICE, wait_limit_ns=15 * SECOND)
    start = time.perf_counter()
    for rng in generators(1, runs):
        _one(traffic, rng)
    return time.perf_counter() - start


def _one(traffic: Traffic, rng: random.Random) -> None:
    replica: Replica[SimulatedRequest] = Replica(60, RELEASE)
    replica.digest(0, builtin_schemas(RELEASE).values(), builtin_levels().values())
    simulation = Simulation(replica)
    for second in range(0, 60, 10):
        simulation.change_at(second * SECOND, lambda now: replica.adjust(now)[1])
    simulation.run(traffic.draw(rng, 0, 60 * SECOND), 60 * SECOND)
