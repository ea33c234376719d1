"""Row 6, fairness: fair shares told from first come, first served, on simulated levels."""

from __future__ import annotations

from collections.abc import Iterator

from tests.bench.row import Row
from tests.crosscheck.fair_figures import Told, told
from tests.crosscheck.simulated import Situation
from tests.crosscheck.situations import KINDS, like_recordings, situation

SEEDS = 11


def rows(*, short: bool) -> Iterator[Row]:
    """Verdicts on fair levels and on others: in many situations, and in those that recordings have."""
    seeds = range(1 if short else SEEDS)
    many = [(seed, situation(kind, seed)) for kind in KINDS for seed in seeds]
    alike = [(seed, like_recordings(seed)) for seed in range(2 if short else 4 * SEEDS)]
    yield from _rows(f"in {len(KINDS)} kinds of situations", many)
    yield from _rows("in situations like the recorded ones", alike)


def _rows(where: str, situations: list[tuple[int, Situation]]) -> Iterator[Row]:
    fair, fifo = told(situations, fair=True), told(situations, fair=False)
    false = fair.overtaking["off"] + fair.light_flows["off"]
    yield Row(6, f"fair levels called unfair {where}", false, "windows", _of(fair), 0, "lower")
    judged = fifo.overtaking["off"] + fifo.overtaking["ok"]
    caught = fifo.overtaking["off"] / judged if judged else 0.0
    yield Row(6, f"FIFO caught {where}", caught, "of windows", f"{judged} windows that are judged", 1.0)
    share = fifo.overtaking["off"] / fifo.paired if fifo.paired else 0.0
    yield Row(6, f"FIFO caught, of all with 30 pairs, {where}", share, "of windows", _of(fifo))


def _of(found: Told) -> str:
    return f"of {found.windows} windows {found.paired} with 30 pairs"
