"""Current limits, shared out anew by the demand that the server reports."""

from __future__ import annotations

from apftop.check.point import Point
from apftop.records.checks import Check


def current_limits(points: tuple[Point, ...]) -> dict[str, tuple[Check, ...]]:
    """Current limits by level."""
    return {}
