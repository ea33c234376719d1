"""Counters of one server against each other: what came, what was served, what was refused."""

from __future__ import annotations

from apftop.check.window import LevelWindow
from apftop.records.checks import Check


def arrivals(window: LevelWindow) -> Check | None:
    """D widths count = D dispatched + D rejected + D waiting."""
    return None


def served_waits(window: LevelWindow) -> Check | None:
    """D waits = D dispatched + D rejected in queue."""
    return None


def refusals(window: LevelWindow) -> Check | None:
    """D refused waits = D rejected on arrival."""
    return None


def enqueued(window: LevelWindow) -> Check | None:
    """D enqueued = D waits."""
    return None


def executed(window: LevelWindow) -> Check | None:
    """D execution count = D dispatched - D executing."""
    return None
