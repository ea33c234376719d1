"""Clients that send their next request when the last one is answered: arrivals that departures bring about."""

from __future__ import annotations

import random
from collections.abc import Sequence

from apftop.apf.queueset import QueueSet
from apftop.apf.simulate import Event, SimulatedRequest, Simulation

PAUSE_NS = 10_000_000
"""How long a client takes to send the next request, on average."""


def answering(
    level: QueueSet[SimulatedRequest], requests: Sequence[SimulatedRequest], start_ns: int, rng: random.Random
) -> Simulation:
    """A simulation of a level in which one of these requests comes each time that another one leaves after `start_ns`.

    They come in random order, whenever they were to arrive before; who is left over stays new.
    """
    to_come = list(requests)
    rng.shuffle(to_come)

    def after(at: int, event: Event, request: SimulatedRequest | None, started: Sequence[SimulatedRequest]) -> None:
        if event in ("finish", "time-out") and at >= start_ns and to_come:
            following, comes_at = to_come.pop(), at + round(rng.expovariate(1 / PAUSE_NS))
            if following.time_out_ns is not None:
                following.time_out_ns += comes_at - following.arrive_ns
            simulation.come_at(comes_at, following)

    simulation = Simulation(level, after)
    return simulation
