"""What the screen is given: how its source is made, and how what it shows is saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from apftop.records.moment import Moment
from apftop.records.raw import Sample
from apftop.records.source import Source

OpenSource = Callable[[Callable[[Moment], None]], Source]
"""Makes a source that delivers its moments to a function; there is no screen yet while it does."""

Save = Callable[[tuple[Sample, ...], Path], Path]
"""Writes samples as a bundle into a new folder, and returns what was written. May raise Trouble or OSError."""
