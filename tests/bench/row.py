"""One measured figure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A figure with what it is held against; `target` None means that it is shown without one.

    `better` says which side of the target is the good one.
    """

    number: int
    what: str
    figure: float
    unit: str
    reference: str = ""
    target: float | None = None
    better: str = "higher"

    @property
    def met(self) -> bool | None:
        if self.target is None:
            return None
        return self.figure >= self.target if self.better == "higher" else self.figure <= self.target
