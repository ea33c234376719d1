"""Recorded runs of rare cases: one queue, no queue, no seats, limits that move, a server that is started anew."""

from __future__ import annotations

from dataclasses import replace

from tests.planes.client import Json
from tests.planes.flow import flow_schema, priority_level
from tests.planes.load import ClosedLoop, Load, OpenLoop, get
from tests.planes.plane import Plane
from tests.planes.recorded_loads import create, elephant, mice, one_level
from tests.planes.scenario import Event, Later, Scenario, Service
from tests.planes.users import MICE


def one_queue(name: str, version: str, seed: int, inflight: tuple[int, int]) -> Scenario:
    """A level with one queue, a Reject level that is asked too much of, and an exempt user who asks a lot."""
    single = priority_level("load", shares=12, queues=1, hand_size=1, queue_length=40)
    reject = priority_level("reject", shares=12, reject=True)
    return Scenario(
        name=name,
        version=version,
        inflight=inflight,
        notes="Level load has one queue (elephant 16 in a closed loop on replica 0, 8 on replica 1, mouse0-7); level "
        "reject has none (batch, 20 creations a second on replica 0, half of them too many); admin, who is exempt, "
        "gets /version 20 times a second on replica 0. Service 0.2 s exponential, 0.4 s always for batch.",
        levels=(single, reject),
        schemas=(
            (flow_schema("load", "load", users=["elephant", *MICE]), "elephant"),
            (flow_schema("reject", "reject", users=["batch"]), "batch"),
        ),
        services=(Service(("load",), 0.2, seed), Service(("other",), 0.4, None)),
        loads=(
            elephant(0, 16),
            elephant(1, 8),
            *mice(1.0, seed),
            OpenLoop("batch", create("other"), 20.0, 0, seed=seed + 90),
            OpenLoop("batch", create("other"), 3.0, 1, seed=seed + 91),
            OpenLoop("admin", get("/version"), 20.0, 0, seed=seed + 92),
        ),
    )


def zero_seats(name: str, version: str, seed: int, inflight: tuple[int, int]) -> Scenario:
    """A Queue level and a Reject level that have no seats and may not borrow any."""
    queue = priority_level("load", shares=0, queues=8, hand_size=2, queue_length=3)
    reject = priority_level("reject", shares=0, reject=True)
    return Scenario(
        name=name,
        version=version,
        inflight=inflight,
        notes="Level load queues (8 queues of 3) and has no seats: batch 4 and mouse0-3 1 creation a second each on "
        "replica 0, half of that on 1, batch 0.5 on 2, all with timeout=8s; level reject has no seats and no queues: "
        "control 3 a second on replica 0 and 1 on replica 1. Service 0.25 s exponential.",
        levels=(queue, reject),
        schemas=(
            (flow_schema("load", "load", users=["batch", *MICE]), "batch"),
            (flow_schema("reject", "reject", users=["control"]), "control"),
        ),
        services=(Service(("load",), 0.25, seed),),
        loads=(
            *(OpenLoop("batch", create("load", "8s"), rate, at, seed=seed + at) for at, rate in enumerate((4, 2, 0.5))),
            *(
                OpenLoop(user, create("load", "8s"), rate, replica, seed=seed + 9 + 2 * at + replica)
                for at, user in enumerate(MICE[:4])
                for replica, rate in ((0, 1.0), (1, 0.5))
            ),
            OpenLoop("control", create("load", "8s"), 3.0, 0, seed=seed + 30),
            OpenLoop("control", create("load", "8s"), 1.0, 1, seed=seed + 31),
        ),
    )


def borrowing(name: str, version: str, seed: int, inflight: tuple[int, int]) -> Scenario:
    """Two levels that lend and borrow, whose demand takes turns each 15 s."""
    first = priority_level("load", shares=60, queues=16, hand_size=4, queue_length=20, lendable=70, borrowing=60)
    second = priority_level("second", shares=60, queues=16, hand_size=3, queue_length=20, lendable=80, borrowing=40)
    crowd = ClosedLoop("elephant", create("load"), 0, 26, seconds=15.0, pause_after_error=0.2)
    other = ClosedLoop("batch", create("load"), 0, 26, seconds=15.0, pause_after_error=0.2)
    both = (replace(crowd, replica=1, concurrency=20), replace(other, replica=1, concurrency=20))
    return Scenario(
        name=name,
        version=version,
        inflight=inflight,
        notes="Levels load and second lend and borrow. Replica 0: elephant (26 in a closed loop) is there in the first "
        "and third 15 s, batch (26, on second) in the second and fourth; replica 1: both with 20 in the first and "
        "third. mouse0-3 (load) and mouse4-7 (second) one creation a second over all. Service 0.4 s exponential.",
        levels=(first, second),
        schemas=(
            (flow_schema("load", "load", users=["elephant", *MICE[:4]]), "elephant"),
            (flow_schema("second", "second", users=["batch", *MICE[4:]]), "batch"),
        ),
        services=(Service(("load",), 0.4, seed),),
        loads=(crowd, *both, *mice(1.0, seed)),
        later=(Later(15.0, (other,)), Later(30.0, (crowd, *both)), Later(45.0, (other,))),
    )


def rivalry(name: str, version: str, seed: int, inflight: tuple[int, int]) -> Scenario:
    """Two levels that borrow more than there is, so that what one gains the other loses."""
    first = priority_level("load", shares=100, queues=16, hand_size=4, queue_length=20, lendable=70, borrowing=250)
    second = priority_level("second", shares=100, queues=16, hand_size=3, queue_length=30, lendable=70, borrowing=250)

    def turn(user: str, concurrency: int) -> tuple[Load, ...]:
        both = ((0, concurrency), (1, concurrency // 2))
        return tuple(ClosedLoop(user, create("load"), at, many, 15.0, pause_after_error=0.2) for at, many in both)

    return Scenario(
        name=name,
        version=version,
        inflight=inflight,
        notes="Levels load and second may each borrow nearly all seats. Turns of 15 s on replica 0, each larger than "
        "the one before, since smoothed demand falls slowly: elephant 16 (load), batch 24 (second), elephant 40, "
        "batch 60; half of that on replica 1. mouse0-3 (load) and mouse4-7 (second) one creation a second over all. "
        "Service 0.5 s exponential.",
        levels=(first, second),
        schemas=(
            (flow_schema("load", "load", users=["elephant", *MICE[:4]]), "elephant"),
            (flow_schema("second", "second", users=["batch", *MICE[4:]]), "batch"),
        ),
        services=(Service(("load",), 0.5, seed),),
        loads=(*turn("elephant", 16), *mice(1.0, seed)),
        later=(Later(15.0, turn("batch", 24)), Later(30.0, turn("elephant", 40)), Later(45.0, turn("batch", 60))),
    )


def restart(name: str, version: str, seed: int, inflight: tuple[int, int]) -> Scenario:
    """A limit that is changed, and a server that is started anew."""
    level = priority_level("load", shares=20, queue_length=12)
    larger, smaller = (priority_level("load", shares=shares, queue_length=12) for shares in (35, 12))

    def apply(changed: Json) -> Event:
        shares = changed["spec"]["limited"]["nominalConcurrencyShares"]
        return Event(
            11.0 if changed is larger else 45.0,
            f"shares of load set to {shares}",
            lambda plane: plane.client(replica=1).apply(changed),
        )

    def again(plane: Plane) -> None:
        plane.restart_replica(0)

    return Scenario(
        name=name,
        version=version,
        inflight=inflight,
        notes="One level with 20 shares; they are set to 35 after 11 s and to 12 after 45 s; replica 0 is started anew "
        "after 22 s. elephant 24 in a closed loop on replica 0 and 16 on replica 1, mouse0-7 one creation a second "
        "over all. Service 0.25 s exponential.",
        levels=(level,),
        schemas=one_level(level),
        services=(Service(("load",), 0.25, seed),),
        loads=(elephant(0, 24, pause=0.5), elephant(1, 16, pause=0.5), *mice(1.0, seed)),
        events=(apply(larger), Event(22.0, "replica 0 started anew", again), apply(smaller)),
    )
