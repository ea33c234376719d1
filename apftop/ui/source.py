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


OpenSource = Callable[[Callable[[Moment], None]], Source]
"""Makes a source that delivers its moments to a function; there is no screen yet while it does."""

Save = Callable[[tuple[Sample, ...], Path], Path]
"""Writes samples as a bundle into a new folder, and returns what was written. May raise Trouble or OSError."""
