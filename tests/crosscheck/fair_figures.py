"""What the laws of fairness say of simulated levels, fair and first come, first served."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from apftop.check.choices import choices
from apftop.check.fairness import light_flows, overtaking
from apftop.records.checks import Verdict
from apftop.rules import rules
from tests.crosscheck.simulated import Situation, windows


@dataclass(frozen=True)
class Told:
    """How many windows there were, in how many of them there were pairs enough, and the verdicts of both laws."""

    windows: int
    paired: int
    overtaking: Counter[Verdict]
    light_flows: Counter[Verdict]


def told(situations: Iterable[tuple[int, Situation]], *, fair: bool, count: int = 5) -> Told:
    """The verdicts over `count` windows of each situation, by its seed."""
    total = paired = 0
    orders: Counter[Verdict] = Counter()
    lights: Counter[Verdict] = Counter()
    for seed, situation in situations:
        for window in windows(situation, seed, fair=fair, count=count):
            order, light = overtaking(window), light_flows(window)
            assert order is not None
            assert light is not None
            total += 1
            paired += choices(window.instants).pairs >= rules().check.fairness.pairs
            orders[order.verdict] += 1
            lights[light.verdict] += 1
    return Told(total, paired, orders, lights)
