"""The runs that are recorded, in the order of recording; all seeds are fixed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from tests.planes.client import Json
from tests.planes.flow import flow_schema, priority_level
from tests.planes.load import ClosedLoop, Load, OpenLoop, Request, create_configmap, get
from tests.planes.plane import Plane
from tests.planes.scenario import Event, Later, Scenario, Service, Watches
from tests.planes.users import LOADERS, MICE

OLD, NEW = "1.30.4", "1.37.2"


def create(namespace: str, timeout: str = "12s") -> Request:
    """A dry run of a creation that gives up after `timeout`."""
    request = create_configmap(namespace)
    return replace(request, path=f"{request.path}&timeout={timeout}")


def elephant(replica: int, concurrency: int = 30, namespace: str = "load", pause: float = 0.2) -> Load:
    """One user that keeps many requests under way."""
    return ClosedLoop("elephant", create(namespace), replica, concurrency, pause_after_error=pause)


def mice(rate: float, seed: int, replicas: tuple[int, ...] = (0, 1, 2), namespace: str = "load") -> tuple[Load, ...]:
    """Eight users with `rate` requests a second each, dealt to the replicas."""
    return tuple(
        OpenLoop(mouse, create(namespace), rate / len(replicas), replica, seed=seed + 10 * index + replica)
        for index, mouse in enumerate(MICE)
        for replica in replicas
    )


def lister(replicas: tuple[int, ...]) -> tuple[Load, ...]:
    """Lists of all config maps, once a second from storage and once from the cache."""
    paths = ("/api/v1/configmaps", "/api/v1/configmaps?resourceVersion=0")
    return tuple(OpenLoop("lister", Request("list", "GET", path), 1.0, at) for path in paths for at in replicas)


def one_level(level: Json) -> tuple[tuple[Json, str], ...]:
    """One schema by user for all loaders."""
    name = level["metadata"]["name"]
    return ((flow_schema(name, name, groups=[LOADERS], precedence=500), "elephant"),)


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


RUNS: tuple[Scenario, ...] = (
    contention(
        "contention-a-1.30.4",
        OLD,
        101,
        0.1,
        (60, 30),
        priority_level("load", shares=10, queue_length=12, lendable=50, borrowing=50),
        (30,),
    ),
    contention(
        "contention-b-1.37.2",
        NEW,
        202,
        0.25,
        (40, 20),
        priority_level("load", shares=25, queue_length=12, lendable=50, borrowing=50),
        (30, 18),
    ),
    contention(
        "contention-c-1.30.4", OLD, 303, 0.5, (60, 30), priority_level("load", shares=30, queue_length=12), (30,) * 2
    ),
    contention(
        "contention-d-1.37.2", NEW, 404, 0.1, (60, 30), priority_level("load", shares=10, queue_length=4), (30, 12)
    ),
    wide("wide-a-1.30.4", OLD, 505, 0.25, 80, (100, 60), 60, 4),
    wide("wide-b-1.37.2", NEW, 606, 0.12, 400, (120, 60), 80, 4),
    schemas("schemas-a-1.30.4", OLD, 707, 0.25, (50, 30), 20),
    bursts("bursts-a-1.37.2", NEW, 808, 0.3, (50, 20), priority_level("load", shares=20, queues=32, hand_size=5)),
    one_queue("onequeue-a-1.30.4", OLD, 909, (60, 30)),
    zero_seats("zeroseats-a-1.37.2", NEW, 1010, (60, 30)),
    borrowing("borrowing-a-1.30.4", OLD, 1111, (40, 20)),
    restart("restart-a-1.37.2", NEW, 1212, (60, 30)),
    schemas("schemas-b-1.37.2", NEW, 1313, 0.15, (40, 20), 16),
    bursts("bursts-b-1.30.4", OLD, 1414, 0.15, (40, 20), priority_level("load", shares=15, queues=64, hand_size=6)),
)
