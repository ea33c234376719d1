"""Exact waits of the requests that dumps have shown."""

from __future__ import annotations

from apftop.check.window import LevelWindow
from apftop.records.checks import FlowWaits, Followed


def flow_waits(window: LevelWindow) -> tuple[FlowWaits, ...]:
    """By flow."""
    return ()


def following(window: LevelWindow) -> Followed | None:
    """From dump to dump."""
    return None
