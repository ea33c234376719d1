"""What rows of a dump must keep to: seats, widths, ages."""

from __future__ import annotations

from apftop.check.window import LevelWindow
from apftop.records.checks import Check


def seats_within_limit(window: LevelWindow) -> Check | None:
    """Executing rows fit the limit."""
    return None


def seat_cap(window: LevelWindow) -> Check | None:
    """No request is wider than its level allows."""
    return None


def wait_limit(window: LevelWindow) -> Check | None:
    """Nobody waits beyond the limit."""
    return None
