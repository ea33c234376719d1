"""Arrivals drawn at random: as many as were counted, like those that were seen."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from apftop.apf.attributes import Attributes
from apftop.apf.estimate import WorkEstimate
from apftop.apf.service_times import ServiceTimes
from apftop.apf.simulate import SimulatedRequest


@dataclass(frozen=True, slots=True)
class Sample:
    """One request that was seen: its flow, or what a replica classifies it by, and its cost."""

    cost: WorkEstimate
    flow_hash: int = 0
    attributes: Attributes | None = None


@dataclass(frozen=True, slots=True)
class Traffic:
    """The arrivals of an interval.

    Each is like one of `samples` at random. They come in batches at one moment each, whose sizes are drawn from
    `batches`: real clients are burstier than single arrivals at random times.
    """

    count: int
    samples: Sequence[Sample]
    service: ServiceTimes
    batches: Sequence[int] = (1,)
    wait_limit_ns: int | None = None

    def draw(self, rng: random.Random, start_ns: int, end_ns: int) -> list[SimulatedRequest]:
        """The arrivals from start to end, in order of time."""
        span, sizes = end_ns - start_ns + 1, len(self.batches)
        moments: list[int] = []
        while len(moments) < self.count:
            moment = start_ns + int(rng.random() * span)
            moments += [moment] * self.batches[int(rng.random() * sizes)]
        del moments[self.count :]
        moments.sort()
        samples = rng.choices(self.samples, k=len(moments)) if moments else []
        return [self._request(rng, *one) for one in zip(samples, moments, strict=True)]

    def _request(self, rng: random.Random, sample: Sample, arrive_ns: int) -> SimulatedRequest:
        return SimulatedRequest(
            arrive_ns,
            self.service.draw(rng),
            sample.attributes,
            flow_hash=sample.flow_hash,
            initial_seats=sample.cost.initial_seats,
            final_seats=sample.cost.final_seats,
            additional_latency_ns=sample.cost.additional_latency_ns,
            time_out_ns=None if self.wait_limit_ns is None else arrive_ns + self.wait_limit_ns,
        )
