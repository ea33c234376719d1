"""What a level is asked to do: how many requests, how wide, for how long."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Load:
    """Over `seconds`: arrivals a second, mean width in seats, mean execution time in seconds (None without any)."""

    seconds: float
    arrivals_per_s: float
    width: float | None
    execution_s: float | None

    @property
    def demand(self) -> float | None:
        """Seats that such a load takes on average: arrivals x width x execution time (1.26 to 1.37)."""
        if self.width is None or self.execution_s is None:
            return None
        return self.arrivals_per_s * self.width * self.execution_s


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the load of a level usually is, and where that is known from, in words."""

    load: Load
    source: str
