"""Recorded runs in which flows crowd on levels that have seats."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.planes.client import Json
from tests.planes.flow import flow_schema, priority_level
from tests.planes.load import ClosedLoop, OpenLoop
from tests.planes.recorded_loads import create, elephant, lister, mice, one_level
from tests.planes.scenario import Later, Scenario, Service, Watches
from tests.planes.users import LOADERS, MICE


def contention(
    name: str,
    version: str,
    seed: int,
    mean: float,
    inflight: tuple[int, int],
    level: Json,
    elephants: tuple[int, ...],
) -> Scenario:
    """An elephant, eight mice and a lister; `elephants` are its requests under way on replicas 0, 1 and 2."""
    asked = ", ".join(f"{count} on replica {replica}" for replica, count in enumerate(elephants))
    return Scenario(
        name=name,
        version=version,
        inflight=inflight,
        notes=f"One level, one seat each, service {mean:g} s exponential. elephant in a closed loop with {asked}; "
        "mouse0-mouse7 one creation a second each over all replicas, open loop; lister two lists a second on 0 and 1.",
        levels=(level,),
        schemas=one_level(level),
        services=(Service(("load",), mean, seed),),
        loads=(
            *(elephant(replica, count) for replica, count in enumerate(elephants)),
            *mice(1.0, seed),
            *lister((0, 1)),
        ),
    )


def wide(
    name: str, version: str, seed: int, mean: float, watches: int, inflight: tuple[int, int], shares: int, hand: int
) -> Scenario:
    """Creations in a watched namespace beside narrow ones in another namespace of the same level."""
    level = priority_level("load", shares=shares, hand_size=hand, queue_length=30)
    return Scenario(
        name=name,
        version=version,
        inflight=inflight,
        notes=f"One level with a constant limit. {watches} watches on namespace wide on replica 0, half of that on 1, "
        "give creations there final seats above 1 that linger; elephant (closed loop) and mouse0-3 create in wide, "
        f"mouse4-7 in narrow, which nobody watches; service {mean:g} s exponential in wide, 0.2 s in narrow. "
        "Replica 1 has the same with fewer clients, replica 2 the mice alone.",
        levels=(level,),
        schemas=one_level(level),
        services=(Service(("wide",), mean, seed), Service(("narrow",), 0.2, seed + 1)),
        loads=(
            elephant(0, 24, "wide"),
            elephant(1, 12, "wide"),
            *(OpenLoop(user, create("wide"), 1.0, 0, seed=seed + at) for at, user in enumerate(MICE[:4])),
            *(OpenLoop(user, create("narrow"), 1.5, 0, seed=seed + 9 + at) for at, user in enumerate(MICE[4:])),
            *(OpenLoop(user, create("narrow"), 0.5, 1, seed=seed + 19 + at) for at, user in enumerate(MICE[4:])),
            *(OpenLoop(user, create("wide"), 0.25, 2, seed=seed + 29 + at) for at, user in enumerate(MICE[:4])),
        ),
        watches=(Watches("wide", watches, 0), Watches("wide", watches // 2, 1)),
    )


def schemas(name: str, version: str, seed: int, mean: float, inflight: tuple[int, int], shares: int) -> Scenario:
    """Three schemas on one level, one more on a second level, all busy at once."""
    first = priority_level("load", shares=shares, queues=12, hand_size=3, queue_length=20)
    second = priority_level("second", shares=shares, queues=8, hand_size=2, queue_length=25, lendable=40, borrowing=30)
    rooms = ("east", "west", "north")
    return Scenario(
        name=name,
        version=version,
        inflight=inflight,
        notes="Level load has schemas rooms (ByNamespace: elephant, mouse0-2, namespaces east, west, north), plain (no "
        "distinguisher: batch, mouse3) and users (ByUser: mouse4, mouse5); level second has schema second (ByUser: "
        f"control, lister, mouse6, mouse7, namespace south). Service {mean:g} s exponential, 0.3 s in south. "
        "Most of it on replica 0, some on replica 1.",
        levels=(first, second),
        schemas=(
            (flow_schema("rooms", "load", users=["elephant", *MICE[:3]], distinguisher="ByNamespace"), "elephant"),
            (flow_schema("plain", "load", users=["batch", "mouse3"], distinguisher=None), "batch"),
            (flow_schema("users", "load", users=MICE[4:6]), "mouse4"),
            (flow_schema("second", "second", users=["control", "lister", *MICE[6:]]), "control"),
        ),
        services=(Service(rooms, mean, seed), Service(("south",), 0.3, seed + 1)),
        loads=(
            elephant(0, 14, "east"),
            elephant(1, 10, "east"),
            *(OpenLoop(user, create(room), 1.5, 0, seed=seed + at) for at, (user, room) in enumerate(_pairs(rooms))),
            ClosedLoop("batch", create("west"), 0, 6, pause_after_error=0.2),
            OpenLoop("mouse3", create("north"), 2.0, 0, seed=seed + 20),
            OpenLoop("mouse4", create("west"), 1.0, 0, seed=seed + 21),
            OpenLoop("mouse5", create("north"), 2.0, 1, seed=seed + 22),
            ClosedLoop("control", create("south"), 0, 14, pause_after_error=0.2),
            ClosedLoop("control", create("south"), 1, 8, pause_after_error=0.2),
            *(OpenLoop(user, create("south"), 1.0, 0, seed=seed + 30 + at) for at, user in enumerate(MICE[6:])),
        ),
    )


def _pairs(rooms: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    return ((user, room) for user in MICE[:2] for room in rooms)


def bursts(name: str, version: str, seed: int, mean: float, inflight: tuple[int, int], level: Json) -> Scenario:
    """Forty flows by namespace: a thin open loop in each, and bursts of several flows at once."""
    source = random.Random(seed)
    flows = tuple(f"flow{number:02}" for number in range(40))
    steady = tuple(
        OpenLoop("batch", create(flow), 0.9 / (1 + number) ** 0.5, number % 3, seed=seed + number)
        for number, flow in enumerate(flows)
    )
    later = tuple(
        Later(
            at + source.random(),
            tuple(
                OpenLoop("batch", create(flow), 60.0, replica, count=source.randint(3, 9), seed=source.randrange(10**6))
                for flow in source.sample(flows, 6)
                for replica in (0, 1, 2)[: source.randint(1, 3)]
            ),
        )
        for at in range(2, 58, 3)
    )
    return Scenario(
        name=name,
        version=version,
        inflight=inflight,
        notes="One level, 40 flows by namespace. Each flow in an open loop on one replica, flow00 0.9 a second down to "
        f"flow39 0.14; each 3 s six flows send 3-9 requests at once to 1-3 replicas. Service {mean:g} s exponential.",
        levels=(level,),
        schemas=(
            (
                flow_schema("load", "load", groups=[LOADERS], precedence=500, distinguisher="ByNamespace"),
                "batch",
            ),
        ),
        services=(Service(flows, mean, seed),),
        loads=steady,
        later=later,
    )
