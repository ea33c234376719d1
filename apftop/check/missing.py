"""What a law cannot do without: each number, or a word for it where it is not known."""

from __future__ import annotations

import math
from typing import TypeVar

from apftop.records.parsed import Histogram

T = TypeVar("T")


class Missing(Exception):
    """A law cannot be held against a window; the text says what would be needed."""


def needed(value: T | None, what: str) -> T:
    """The value; raises Missing where it is None."""
    if value is None:
        raise Missing(what)
    return value


def summed(histogram: Histogram | None, what: str) -> Histogram:
    """A histogram whose sum is a number; raises Missing otherwise. Up to 1.27 a limit of 0 spoils sums over time."""
    found = needed(histogram, what)
    if not math.isfinite(found.sum):
        raise Missing(f"{what}: its sum is no number")
    return found
