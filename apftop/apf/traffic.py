"""Arrivals drawn at random: as many as were counted, like those that were seen."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal

from apftop.apf.attributes import Attributes
from apftop.apf.estimate import WorkEstimate
from apftop.apf.service_times import ServiceTimes
from apftop.apf.simulate import SimulatedRequest

CROWD_NS = 100_000_000
"""A crowd comes within this time at most."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One request that was seen: its flow, or what a replica classifies it by, and its cost."""

    cost: WorkEstimate
    flow_hash: int = 0
    attributes: Attributes | None = None


Manner = Literal["batches", "even"] | float
"""How arrivals are spread: in batches at random moments, evenly, or with this share of them in one crowd."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """The arrivals of an interval.

    Each is like one of `samples` at random, by `weights` where these are given. They come in batches at one moment
    each, whose sizes are drawn from `batches`: real clients are burstier than single arrivals at random times. Or they
    come evenly, as from clients of whom each sends its next request when the last one is answered. The level was idle
    for `quiet_ns`: of a span of up to so long, somewhere in the interval, nothing comes. Those that are `known`, since
    a later dump shows them, come when they did, each in place of another one.
    """

    count: int
    samples: Sequence[Sample]
    service: ServiceTimes
    batches: Sequence[int] = (1,)
    wait_limit_ns: int | None = None
    weights: Sequence[float] | None = None
    quiet_ns: int = 0
    known: Sequence[tuple[int, Sample]] = ()

    def draw(
        self, rng: random.Random, start_ns: int, end_ns: int, manner: Manner = "batches"
    ) -> list[SimulatedRequest]:
        """The arrivals from start to end, in order of time."""
        moments = self._moments(rng, start_ns, end_ns, manner)
        known = [one for one in self.known if start_ns <= one[0] <= end_ns][: len(moments)]
        for moment, _ in known:
            del moments[_nearest(moments, moment)]
        samples = rng.choices(self.samples, self.weights, k=len(moments)) if moments else []
        arrivals = sorted([*zip(moments, samples, strict=True), *known], key=itemgetter(0))
        times = self.service.draws(rng, len(arrivals))
        return [self._request(*one, time) for one, time in zip(arrivals, times, strict=True)]

    def _moments(self, rng: random.Random, start_ns: int, end_ns: int, manner: Manner) -> list[int]:
        span = end_ns - start_ns + 1
        gap = min(int(self.quiet_ns * rng.random() ** 0.5), span - 1) if self.quiet_ns else 0
        span -= gap
        gap_at = int(rng.random() * span) if gap else span
        moments: list[int] = []
        if manner == "even":
            moments = [int((place + rng.random()) / self.count * span) for place in range(self.count)]
        elif manner != "batches":
            first, within = rng.random() * span, rng.random() * CROWD_NS
            moments = [min(int(first + rng.random() * within), span - 1) for _ in range(round(manner * self.count))]
        sizes = len(self.batches)
        while len(moments) < self.count:
            moments += [int(rng.random() * span)] * self.batches[int(rng.random() * sizes)]
        del moments[self.count :]
        return sorted(start_ns + moment + (gap if moment >= gap_at else 0) for moment in moments)

    def _request(self, arrive_ns: int, sample: Sample, service_ns: int) -> SimulatedRequest:
        return SimulatedRequest(
            arrive_ns,
            service_ns,
            sample.attributes,
            flow_hash=sample.flow_hash,
            initial_seats=sample.cost.initial_seats,
            final_seats=sample.cost.final_seats,
            additional_latency_ns=sample.cost.additional_latency_ns,
            time_out_ns=None if self.wait_limit_ns is None else arrive_ns + self.wait_limit_ns,
        )


def _nearest(moments: Sequence[int], to: int) -> int:
    """The place of the moment that is nearest, of at least one in order of time."""
    after = bisect_left(moments, to)
    if after == len(moments) or (after and to - moments[after - 1] < moments[after] - to):
        return after - 1
    return after
