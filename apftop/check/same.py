"""Whether metrics and dumps are of one server and one time."""

from __future__ import annotations

from apftop.check.point import Track
from apftop.check.window import LevelWindow
from apftop.records.checks import Check


def same_server(window: LevelWindow) -> Check | None:
    """Counter against the dump."""
    return None


def metrics_moment(track: Track) -> Check | None:
    """The moment of the metrics lies between question and answer."""
    return None
