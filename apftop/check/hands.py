"""Queues that requests lie in against the hand of their flow."""

from __future__ import annotations

from apftop.check.window import LevelWindow
from apftop.records.checks import Check


def hand(window: LevelWindow) -> Check | None:
    """Each row lies in the hand of its flow."""
    return None


def whole_hand(window: LevelWindow) -> Check | None:
    """All of a hand is used."""
    return None
