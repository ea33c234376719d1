"""What the condition of an alert says of one server, level or schema; and how the counts of a window are told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from apftop.findings.scene import Scene
from apftop.records.frame import Level
from apftop.records.measures import Window
from apftop.rules import rules

W_S = 300.0
"""The window of the library's rates, in seconds."""


@dataclass(frozen=True, slots=True)
class Said:
    """One answer: whether a condition holds, and what of; None cannot be told."""

    condition: bool | None
    replica: str = ""
    level: str = ""
    schema: str = ""

    @property
    def subject(self) -> str:
        """The narrowest that it is about."""
        return self.schema or self.level or self.replica or "cluster"


Rule = Callable[[Scene], Iterator[Said]]


def often(window: Window, count: float, more_than: float) -> bool:
    """Whether more would come in five minutes, at this rate; too few in the window at hand are no rate."""
    return count >= rules().findings.alerts.least and window.per_s(count) * W_S > more_than


def full(level: Level, share: float) -> bool | None:
    """Whether all seats were in use for more than a share of the window."""
    used = level.utilization
    return None if used is None or used.gt_99 is None or used.lifetime else used.gt_99 > share


def over(level: Level, share: float) -> bool | None:
    """Whether more seats than the current limit were in use for more than a share of the window."""
    used = level.utilization
    return None if used is None or used.gt_1 is None or used.lifetime else used.gt_1 > share


def all_of(*parts: bool | None) -> bool | None:
    """False where one is, else None where one is unknown."""
    return False if False in parts else None if None in parts else True


def add(values: Iterable[float | None]) -> float | None:
    """The sum; None where a term is unknown or there is none."""
    found = list(values)
    known = [one for one in found if one is not None]
    return sum(known) if known and len(known) == len(found) else None
