"""Loads that each bring about one cause which findings have to name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.planes.client import Json
from tests.planes.flow import flow_schema, priority_level, remove_flow
from tests.planes.load import ClosedLoop, OpenLoop, Request
from tests.planes.objects import create_namespace
from tests.planes.plane import Plane
from tests.planes.recorded_corners import zero_seats
from tests.planes.recorded_loads import create, elephant, mice, one_level
from tests.planes.scenario import Scenario, Service
from tests.planes.users import HOOK_ACCOUNT, MICE

INFLIGHT = (60, 30)
FILLED, STEADY = "filled", "steady"
OBJECTS = 600
FILLER = 2400
"""So many config maps of so many bytes make a list several seats wide, by count (1.30) and by bytes (1.37)."""


def no_seats(plane: Plane) -> Scenario:
    """Two levels without seats: one queues, the other rejects."""
    return zero_seats("no-seats", plane.version, 11, INFLIGHT)


def one_elephant(plane: Plane) -> Scenario:
    """One client that fills a level on one replica, and eight that do little everywhere."""
    level = priority_level("load", shares=20, queue_length=12)
    return Scenario(
        "elephant",
        plane.version,
        INFLIGHT,
        "",
        (level,),
        one_level(level),
        (Service(("load",), 0.25, 12),),
        (elephant(0, 30), *mice(0.6, 12)),
    )


def wide_lists(plane: Plane) -> Scenario:
    """Lists of everything, each several seats wide, in a level where others read one object."""
    level = priority_level("load", shares=100, queue_length=12)
    whole = Request("list", "GET", f"/api/v1/namespaces/{FILLED}/configmaps")
    return Scenario(
        "wide-lists",
        plane.version,
        INFLIGHT,
        "",
        (level,),
        one_level(level),
        (Service(("load",), 0.25, 13),),
        (ClosedLoop("lister", whole, 0, 40, pause_after_error=0.2), *mice(0.6, 13)),
    )


def shadowed(plane: Plane) -> Scenario:
    """Loads of a level whose schema is broad."""
    level = priority_level("load", shares=20, queue_length=12)
    return Scenario(
        "shadowed",
        plane.version,
        INFLIGHT,
        "",
        (level,),
        ((flow_schema("load", "load", users=["batch", "elephant", *MICE], precedence=500), "elephant"),),
        (Service(("load",), 0.25, 14),),
        (ClosedLoop("batch", create("load"), 0, 4, pause_after_error=0.2), *mice(0.6, 14)),
    )


def exempt_flood(plane: Plane) -> Scenario:
    """An account with all rights that asks a lot."""
    return Scenario(
        "exempt-flood",
        plane.version,
        INFLIGHT,
        "",
        (),
        (),
        (Service(("load",), 0.25, 15),),
        (ClosedLoop("admin", create("load"), 0, 40, pause_after_error=0.2),),
    )


def inversion(plane: Plane) -> Scenario:
    """Creations that wait for a webhook whose own reads wait in a level that others fill."""
    high, low = priority_level("high", shares=60), priority_level("low", shares=8, queue_length=20)
    return Scenario(
        "inversion",
        plane.version,
        INFLIGHT,
        "",
        (high, low),
        (
            (flow_schema("high", "high", users=["elephant"], precedence=500), "elephant"),
            (flow_schema("low", "low", users=["batch", HOOK_ACCOUNT], precedence=500), "batch"),
        ),
        (Service(("slow",), 4.0, None),),
        (
            ClosedLoop("batch", create("slow", "30s"), 0, 12, pause_after_error=0.2),
            ClosedLoop("elephant", create("guarded", "30s"), 0, 6, pause_after_error=0.2),
        ),
    )


def steady(plane: Plane, rate: float) -> Scenario:
    """A level that has seats enough, as long as what is behind it answers."""
    level = priority_level("load", shares=20, queue_length=50)
    each = (OpenLoop("batch", create(STEADY, "30s"), rate, 0, seed=16), *mice(0.6, 16, namespace=STEADY))
    return Scenario("steady", plane.version, INFLIGHT, "", (level,), one_level(level), (), each)


def fill(plane: Plane) -> None:
    """Makes config maps in a namespace of their own; they go with it."""
    client, path = plane.client(), f"/api/v1/namespaces/{FILLED}/configmaps"
    create_namespace(plane, FILLED)
    for number in range(OBJECTS):
        item: Json = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"filled-{number}"},
            "data": {"filler": "x" * FILLER},
        }
        client.post(path, item).expect(201, 409)


@contextmanager
def in_the_shadow(plane: Plane) -> Iterator[None]:
    """A schema and its level while they are there, with a schema before it that takes all of its requests."""
    level = priority_level("meant", shares=20)
    schema = flow_schema("meant", "meant", users=["batch"], precedence=700)
    plane.client().apply(level)
    plane.client().apply(schema)
    try:
        yield
    finally:
        remove_flow(plane, level, schema)
