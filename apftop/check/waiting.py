"""The time that requests have waited, counted in two ways."""

from __future__ import annotations

from apftop.check.window import LevelWindow
from apftop.records.checks import Check


def waiting_time(window: LevelWindow) -> Check | None:
    """I_N = D wait sum + B2 - B1."""
    return None


def little_s(window: LevelWindow) -> float | None:
    """The mean wait that the time spent waiting makes necessary, in seconds."""
    return None
