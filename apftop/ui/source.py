"""What the screen is given: where moments come from, and how what it shows is saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from apftop.records.asking import Demand
from apftop.records.moment import Moment
from apftop.records.raw import Sample


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


class Player(Source, Protocol):
    """A source of what was: it goes to any of it, forth and back. Times are Unix seconds by the recorder's clock."""

    def go(self, at: float) -> None:
        """Show it as of a time."""

    def step(self, looks: int) -> None:
        """Show it so many looks later, or earlier; it stands still then."""

    def play(self, speed: float) -> None:
        """Let so many seconds of it go by in one; 0 to stand still."""


OpenSource = Callable[[Callable[[Moment], None]], Source]
"""Makes a source that delivers its moments to a function; there is no screen yet while it does."""

Save = Callable[[tuple[Sample, ...], Path], Path]
"""Writes samples as a bundle into a new folder, and returns what was written. May raise Trouble or OSError."""
