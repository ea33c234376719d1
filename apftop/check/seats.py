"""The time that seats were taken, counted in several ways."""

from __future__ import annotations

from apftop.check.window import LevelWindow
from apftop.records.checks import Check


def executing_time(window: LevelWindow) -> Check | None:
    """Executing request-seconds."""
    return None


def seat_time(window: LevelWindow) -> Check | None:
    """Seat-seconds."""
    return None


def demand_time(window: LevelWindow) -> Check | None:
    """Demand = seats in use + waiting seats."""
    return None
