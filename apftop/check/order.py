"""The order within one queue."""

from __future__ import annotations

from apftop.check.window import LevelWindow
from apftop.records.checks import Check


def order(window: LevelWindow) -> Check | None:
    """Nobody overtakes within a queue."""
    return None
