"""Static limits out of the objects and the server's seats."""

from __future__ import annotations

from apftop.check.point import Point
from apftop.records.checks import Check


def nominal(points: tuple[Point, ...]) -> dict[str, tuple[Check, ...]]:
    """Nominal, lower and upper limits by level."""
    return {}
