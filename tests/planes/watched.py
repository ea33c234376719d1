"""Servers watched as the screen does it, and what came of that."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from apftop.access import Access
from apftop.cluster import reach
from apftop.records.asking import Demand
from apftop.records.moment import Moment
from apftop.watching import Watching
from tests.planes.plane import Plane

LONG_S = 40.0


def ways(plane: Plane, urls: Sequence[str] | None = None, user: str = "admin") -> tuple[Access, ...]:
    """The ways to all replicas, or to those behind some URLs."""
    return reach(plane.urls if urls is None else urls, str(plane.kubeconfig(user))).ways


class Watched:
    """The moments so far."""

    def __init__(self) -> None:
        self.moments: list[Moment] = []
        self._more = threading.Condition()

    def take(self, moment: Moment) -> None:
        with self._more:
            self.moments.append(moment)
            self._more.notify_all()

    def until(self, holds: Callable[[Moment], object], seconds: float = LONG_S) -> Moment:
        """The first moment from now on for which it holds, the newest one among them."""
        ends = time.monotonic() + seconds
        with self._more:
            at = max(0, len(self.moments) - 1)
            while True:
                for moment in self.moments[at:]:
                    if holds(moment):
                        return moment
                at = len(self.moments)
                if not self._more.wait(max(0.0, ends - time.monotonic())):
                    raise AssertionError(f"not so in {seconds:g} s; last: {_told(self.moments[-1:])}")


@contextmanager
def watching(
    accesses: Sequence[Access],
    demand: Demand = Demand(),  # noqa: B008  frozen
) -> Iterator[tuple[Watching, Watched]]:
    """Watches during the block; the stop does not wait."""
    seen = Watched()
    watching = Watching(
        accesses, discover=False, source="test", request_timeout_s=None, on_moment=seen.take, demand=demand
    )
    watching.start()
    try:
        yield watching, seen
    finally:
        watching.stop()


def _told(moments: Sequence[Moment]) -> str:
    """What a moment says of each server, in short."""
    return "; ".join(
        f"{name}: waiting {sum(level.waiting or 0 for level in replica.levels.values()):g}, "
        f"{dict(replica.endpoints)}, left out {dict(moment.plans[name].left_out) if name in moment.plans else {}}"
        for moment in moments
        for name, replica in moment.frame.replicas.items()
    )
