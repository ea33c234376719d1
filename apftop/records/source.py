"""Where moments come from: now, or what was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from apftop.records.asking import Demand
from apftop.records.moment import Moment


class Source(Protocol):
    """Where moments come from. None of this may wait for a server."""

    def start(self) -> None:
        """Begin to deliver moments, from any thread."""

    def want(self, demand: Demand) -> None:
        """The latest demand counts."""

    def stop(self) -> None:
        """Deliver no more; returns at once, whatever hangs."""

    def recorded(self) -> bytes:
        """What was seen lately as a tape; empty where there is nothing yet."""

    def rewound(self, on_moment: Callable[[Moment], None]) -> Player | None:
        """What was seen lately, as it was last, to be started; None where there is nothing yet.

        A source that is a player itself is its own, and delivers as before.
        """

    def history(self, on_moment: Callable[[Moment], None]) -> Player | None:
        """What was before, to be started; None where nobody has kept it. May raise Trouble."""


class Player(Source, Protocol):
    """A source of what was: it goes to any of it, forth and back. Times are Unix seconds by the recorder's clock."""

    def go(self, at: float) -> None:
        """Show it as of a time."""

    def step(self, looks: int) -> None:
        """Show it so many looks later, or earlier; it stands still then."""

    def play(self, speed: float) -> None:
        """Let so many seconds of it go by in one; 0 to stand still."""
