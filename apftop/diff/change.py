"""What a comparison is made of: one value before and after, and what can be said of the two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Section = Literal["verdict", "findings", "config", "servers", "limits", "load", "waits", "clients", "checks"]
SECTIONS: tuple[Section, ...] = (
    "verdict",
    "findings",
    "config",
    "servers",
    "limits",
    "load",
    "waits",
    "clients",
    "checks",
)
"""What a reader acts on first, first."""

How = Literal["changed", "added", "removed", "within", "unknown", "equal"]
BEYOND: frozenset[How] = frozenset({"changed", "added", "removed"})
"""What is more than noise."""

Interval = tuple[float, float | None]
Value = str | float | tuple[str, ...] | Interval | None
"""A word, a number, a set of words, an interval (None is open at the top), or None."""


@dataclass(frozen=True, slots=True)
class Change:
    """One value on the sides A (`old`) and B (`new`).

    `replica`, `level` and `name` say what it is of, empty where it is of none; `name` is an object, a flow, a finding
    or a law. A number is in `unit`, and its `difference` is B minus A; `bound` is how much of that chance alone makes.
    `how` is `within` where the two differ by no more than can be told, and `unknown` where one of the sides does not
    know: `note` says why. In `config`, None is a field that is not set; elsewhere it is unknown.
    """

    section: Section
    field: str
    how: How
    old: Value = None
    new: Value = None
    replica: str = ""
    level: str = ""
    name: str = ""
    difference: float | None = None
    bound: float | None = None
    unit: str = ""
    note: str = ""

    @property
    def beyond(self) -> bool:
        """Whether it is more than noise."""
        return self.how in BEYOND

    @property
    def where(self) -> str:
        """What it is of, in its own names."""
        return " / ".join(filter(None, (self.replica, self.level, self.name)))


def ordered(changes: Iterator[Change]) -> tuple[Change, ...]:
    """By section, in each what is beyond noise first, the largest first."""
    return tuple(sorted(changes, key=_rank))


def _rank(change: Change) -> tuple[int, int, float, str, str, str]:
    place = ("changed", "added", "removed", "unknown", "within", "equal").index(change.how)
    return (
        SECTIONS.index(change.section),
        min(place, 2) if not change.beyond else 0,
        -_size(change),
        change.where,
        change.field,
        str(change.old),
    )


def _size(change: Change) -> float:
    """How far beyond chance it is, else how large for what changed."""
    if (
        change.difference is None
        or not isinstance(change.old, (int, float))
        or not isinstance(change.new, (int, float))
    ):
        return 0.0
    if change.bound is not None:
        return abs(change.difference) / (change.bound or 1.0)
    return abs(change.difference) / (max(abs(change.old), abs(change.new)) or 1.0)
