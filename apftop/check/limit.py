"""What the limit allows, and what it must not leave idle."""

from __future__ import annotations

from apftop.check.window import LevelWindow
from apftop.records.checks import Check


def over_limit(window: LevelWindow) -> Check | None:
    """No time above the limit."""
    return None


def work_conservation(window: LevelWindow) -> Check | None:
    """Nobody waits while seats are free."""
    return None
