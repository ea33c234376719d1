"""How many requests of each kind wait and execute on a simulated server, over all its levels."""

from __future__ import annotations

from typing import Literal

from apftop.demo.meters import KIND_RATIOS, SecondPeak, TimedRatio
from apftop.demo.request import Request

Phase = Literal["executing", "waiting"]
PHASES: tuple[Phase, ...] = ("executing", "waiting")
KINDS = ("mutating", "readOnly")


class Inflight:
    """Counts by phase and request kind; `most` is by how many each phase is divided, times are Unix nanoseconds."""

    def __init__(self, most: dict[Phase, int], now: int) -> None:
        keys = [(phase, kind) for phase in PHASES for kind in KINDS]
        self.peaks = {key: SecondPeak(now) for key in keys}
        self.ratios = {key: TimedRatio(KIND_RATIOS, now) for key in keys}
        for (phase, _), ratio in self.ratios.items():
            ratio.divide_by(most[phase], now)

    def change(self, phase: Phase, request: Request, by: int, now: int) -> None:
        """One more or fewer in a phase."""
        key = phase, request.kind
        peak = self.peaks[key]
        peak.add(by, now)
        self.ratios[key].set(peak.value, now)

    def age(self, factor: int, now: int) -> None:
        """As if all time so far had passed `factor` times."""
        for ratio in self.ratios.values():
            ratio.age(factor, now)
