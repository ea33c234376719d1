"""Servers watched as the screen does it, and what came of that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from apftop.access import Access
from apftop.cluster import reach
from apftop.records.asking import Demand
from apftop.records.moment import Moment
from apftop.watching import Watching
from tests.gathering import Gathered
from tests.planes.plane import Plane

LONG_S = 40.0


def ways(plane: Plane, urls: Sequence[str] | None = None, user: str = "admin") -> tuple[Access, ...]:
    """The ways to all replicas, or to those behind some URLs."""
    return reach(plane.urls if urls is None else urls, str(plane.kubeconfig(user))).ways


@contextmanager
def watching(
    accesses: Sequence[Access],
    demand: Demand = Demand(),  # noqa: B008  frozen
) -> Iterator[tuple[Watching, Gathered[Moment]]]:
    """Watches during the block; the stop does not wait."""
    seen = Gathered[Moment](_told, LONG_S)
    watching = Watching(
        accesses, discover=False, source="test", request_timeout_s=None, on_moment=seen.take, demand=demand
    )
    watching.start()
    try:
        yield watching, seen
    finally:
        watching.stop()


def _told(moment: Moment) -> str:
    """What a moment says of each server, in short, and what it finds."""
    servers = "; ".join(
        f"{name}: waiting {sum(level.waiting or 0 for level in replica.levels.values()):g}, "
        f"window {replica.window.seconds if replica.window is not None else None}, "
        f"{dict(replica.endpoints)}, left out {dict(moment.plans[name].left_out) if name in moment.plans else {}}"
        for name, replica in moment.frame.replicas.items()
    )
    found = "; ".join(f"{one.severity} {one.code}: {one.title}" for one in moment.findings.found)
    return f"{moment.findings.verdict}: {found}; {servers}"
