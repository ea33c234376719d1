"""Whether queues are served by fair shares and not first come, first served."""

from __future__ import annotations

from apftop.check.window import LevelWindow
from apftop.records.checks import Check


def overtaking(window: LevelWindow) -> Check | None:
    """Later ones of other queues overtake."""
    return None


def light_flows(window: LevelWindow) -> Check | None:
    """Light flows wait less than the heaviest."""
    return None
