"""The clients that recorded runs have in common."""

from __future__ import annotations

from dataclasses import replace

from tests.planes.client import Json
from tests.planes.flow import flow_schema
from tests.planes.load import ClosedLoop, Load, OpenLoop, Request, create_configmap
from tests.planes.users import LOADERS, MICE


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
