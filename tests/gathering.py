"""What another thread hands over, gathered, and waited for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
PATIENCE_S = 30.0


class Gathered(Generic[T]):
    """All that was handed over so far, in order; `told` says of one what a test that waits in vain tells."""

    def __init__(self, told: Callable[[T], object] = repr, patience_s: float = PATIENCE_S) -> None:
        self.taken: list[T] = []
        self._told, self._patience_s = told, patience_s
        self._more = threading.Condition()

    def take(self, one: T) -> None:
        with self._more:
            self.taken.append(one)
            self._more.notify_all()

    def until(self, holds: Callable[[T], object], seconds: float | None = None, *, after: int | None = None) -> T:
        """The first one of which it holds: after so many, or from now on, the newest one among them."""
        seconds = self._patience_s if seconds is None else seconds
        ends = time.monotonic() + seconds
        with self._more:
            at = max(0, len(self.taken) - 1) if after is None else after
            while True:
                for one in self.taken[at:]:
                    if holds(one):
                        return one
                at = max(at, len(self.taken))
                if not self._more.wait(max(0.0, ends - time.monotonic())):
                    raise AssertionError(
                        f"not so in {seconds:g} s; last: {[self._told(one) for one in self.taken[-3:]]}"
                    )
