"""Situations of a level drawn at random: who crowds it, with how many, how wide and how long requests."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from apftop.apf.objects import Queuing
from tests.crosscheck.simulated import Client, Shape, Situation

QUEUES = ((4, 2), (8, 2), (8, 3), (16, 4), (16, 4), (32, 5), (64, 6), (64, 8), (128, 6))
LIMITS = (2, 3, 5, 8, 12, 20, 40)
LENGTHS = (10, 20, 50, 100)
SHAPES: tuple[Shape, ...] = ("exponential", "constant", "spread", "two kinds")
MOST_PER_S = 150.0
"""Quicker levels take long to simulate and show nothing else."""


@dataclass(frozen=True)
class Drawn:
    """What all clients of a situation have in common; `capacity` is in requests a second."""

    rng: random.Random
    limit: int
    service_s: float
    shape: Shape

    @property
    def capacity(self) -> float:
        return self.limit / self.service_s

    def client(self, flow: str, rate: float, batch: int = 1) -> Client:
        """An open loop with so many times the level's capacity."""
        return Client(flow, rate=self.capacity * rate, batch=batch, service_s=self.service_s, shape=self.shape)

    def elephant(self, number: int = 0, share: float = 1.0) -> Client:
        """A closed loop with a few requests under way for each seat."""
        population = max(2, round(self.limit * self.rng.uniform(1.5, 6) * share))
        think_s = self.service_s * self.rng.choice([0.0, 0.0, 0.5, 2.0])
        return Client(
            f"elephant{number}", population=population, think_s=think_s, service_s=self.service_s, shape=self.shape
        )

    def mice(self) -> tuple[Client, ...]:
        """Light flows, some of which are not so light."""
        flows, share = self.rng.choice([1, 3, 8, 20]), self.rng.uniform(0.05, 0.5)
        return tuple(self.client(f"mouse{number}", share / flows) for number in range(flows))


def crowd(drawn: Drawn) -> tuple[Client, ...]:
    return drawn.elephant(), *drawn.mice()


def open_loop(drawn: Drawn) -> tuple[Client, ...]:
    rng = drawn.rng
    return drawn.client("elephant0", rng.uniform(0.6, 2), rng.choice([1, 3, 10])), *drawn.mice()


def several(drawn: Drawn) -> tuple[Client, ...]:
    return (*(drawn.elephant(number) for number in range(drawn.rng.choice([2, 3, 4]))), *drawn.mice())


def equal_open(drawn: Drawn) -> tuple[Client, ...]:
    rng = drawn.rng
    flows, load, batch = rng.choice([2, 3, 5, 10, 30]), rng.uniform(0.8, 1.6), rng.choice([1, 1, 4])
    return tuple(drawn.client(f"flow{number}", load / flows, batch) for number in range(flows))


def equal_closed(drawn: Drawn) -> tuple[Client, ...]:
    flows = drawn.rng.choice([2, 3, 5, 10])
    return tuple(drawn.elephant(number, 1 / flows) for number in range(flows))


def alone(drawn: Drawn) -> tuple[Client, ...]:
    rng = drawn.rng
    return (drawn.elephant() if rng.random() < 0.5 else drawn.client("one", rng.uniform(0.8, 1.5), rng.choice([1, 5])),)


def bursts(drawn: Drawn) -> tuple[Client, ...]:
    rng = drawn.rng
    return tuple(
        drawn.client(f"flow{number}", rng.uniform(0.2, 1.2) / 6, rng.choice([5, 20, 50])) for number in range(6)
    )


def single_bursts(drawn: Drawn) -> tuple[Client, ...]:
    rng = drawn.rng
    return (*(drawn.client(f"flow{number}", 0.1, rng.choice([30, 60])) for number in range(3)), *drawn.mice()[:3])


def come_and_go(drawn: Drawn) -> tuple[Client, ...]:
    rng = drawn.rng
    first = replace(drawn.elephant(), begins_s=rng.uniform(10, 60))
    second = replace(drawn.elephant(1, 0.5), begins_s=rng.uniform(10, 60), ends_s=rng.uniform(60, 80))
    return first, second, *drawn.mice()


def wide(drawn: Drawn) -> tuple[Client, ...]:
    """Either the heavy flow or the light ones have wide requests, some of which linger."""
    rng = drawn.rng
    seats, linger_s = rng.choice([2, 4, 10]), rng.choice([0.0, 0.0, 0.05])
    if rng.random() < 0.5:
        return replace(drawn.elephant(0, 1 / seats), seats=seats, linger_s=linger_s), *drawn.mice()
    mice = (replace(one, rate=one.rate / seats, seats=seats, linger_s=linger_s) for one in drawn.mice())
    return drawn.elephant(), *mice


def slow_mice(drawn: Drawn) -> tuple[Client, ...]:
    mice = (replace(one, service_s=10 * one.service_s, rate=one.rate / 10) for one in drawn.mice())
    return drawn.elephant(), *mice


def slow_elephant(drawn: Drawn) -> tuple[Client, ...]:
    return replace(drawn.elephant(), service_s=10 * drawn.service_s), *drawn.mice()


KINDS: dict[str, Callable[[Drawn], tuple[Client, ...]]] = {
    "crowd": crowd,
    "open loop": open_loop,
    "several crowds": several,
    "equal open loops": equal_open,
    "equal closed loops": equal_closed,
    "one flow alone": alone,
    "bursts": bursts,
    "single bursts": single_bursts,
    "crowds come and go": come_and_go,
    "wide requests": wide,
    "slow mice": slow_mice,
    "slow elephant": slow_elephant,
    "hands of one": several,
}


def situation(kind: str, seed: int) -> Situation:
    """One situation of a kind; the same seed gives the same."""
    rng = random.Random(f"{kind}/{seed}")
    while True:
        queues, hand = rng.choice(QUEUES)
        if kind == "hands of one":
            queues, hand = rng.choice([2, 4, 8]), 1
        drawn = Drawn(rng, rng.choice(LIMITS), 10 ** rng.uniform(-1.6, 0.5), rng.choice(SHAPES))
        clients = KINDS[kind](drawn)
        if drawn.capacity <= MOST_PER_S:
            break
    return Situation(
        kind=kind,
        limit=drawn.limit,
        queuing=Queuing(queues, hand, rng.choice(LENGTHS)),
        clients=clients,
        every_s=rng.choice([1, 2, 2, 3, 5]),
        wait_limit_s=rng.choice([3, 15, 15]),
    )


def like_recordings(seed: int) -> Situation:
    """One elephant and eight mice, as in recordings of real servers."""
    rng = random.Random(f"like recordings/{seed}")
    service_s, limit = rng.choice([0.1, 0.25, 0.25, 0.5]), rng.choice([8, 10, 12, 15])
    elephant = Client("elephant", population=rng.choice([30, 30, 40, 60]), think_s=0.05, service_s=service_s)
    mice = tuple(Client(f"mouse{number}", rate=rng.choice([0.33, 1.0]), service_s=service_s) for number in range(8))
    return Situation("like recordings", limit, Queuing(16, 4, 12), (elephant, *mice))
