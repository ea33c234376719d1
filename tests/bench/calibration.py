"""Whether bands of runs hold what real and simulated levels do, how wide they are, and what they catch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from apftop.apf.objects import Queuing
from tests.bench.row import Row
from tests.check.synthetic import Shape
from tests.crosscheck.bands import Bands, pooled, recorded, synthetic
from tests.crosscheck.runs import runs

TELLING = 10
"""A recording with fewer simulated intervals says nothing on its own."""

SHAPES = (
    Shape(),
    Shape(stall_s=0.0),
    Shape(crowd=13, light=8),
    Shape(crowd=14, light=10, burst=20),
    Shape(limit=24, crowd=20, final=4),
    Shape(limit=6, crowd=16, service_s=0.8, every_s=5.0),
    Shape(limit=8, crowd=24, service_s=0.1, every_s=2.0),
    Shape(lag_s=0.5),
    Shape(queuing=Queuing(1, 1, 60)),
    Shape(limit=6, crowd=40, wait_limit_s=1.0),
)
"""Loads that come together, or do not; wide requests; slow and fast service; late metrics; one queue; time-outs."""

SEEDS = 3


def rows(*, short: bool, folders: tuple[Path, ...] = ()) -> Iterator[Row]:
    """Figures of the folders' recordings, else of those at hand, and of simulated levels."""
    parts = [part for run in runs(*folders) if (part := recorded(run)).simulated]
    yield from _rows("recorded", pooled("recorded", parts), [part for part in parts if part.simulated >= TELLING])
    seeds = range(1 if short else SEEDS)
    made = pooled("simulated", [synthetic(shape, seeds) for shape in SHAPES])
    of = f"{made.windows} windows of {len(SHAPES)} simulated levels, {len(seeds)} seeds"
    yield Row(6, "band, simulated: false alarms", made.false / max(1, made.windows), "of windows", of, 0.01, "lower")
    yield Row(6, "band, simulated: raw coverage", made.coverage, "of intervals", f"{made.simulated} intervals", 0.88)
    yield Row(6, "band, simulated: raw coverage, not too wide", made.coverage, "of intervals", "", 0.97, "lower")


def _rows(name: str, all_of: Bands, each: Sequence[Bands]) -> Iterator[Row]:
    of = f"{all_of.simulated} intervals"
    yield Row(6, f"band, {name}: raw coverage", all_of.coverage, "of intervals", of, 0.85)
    yield Row(6, f"band, {name}: width over mean wait", all_of.width, "", of, 1.6, "lower")
    if each:
        least, widest = min(each, key=lambda one: one.coverage), max(each, key=lambda one: one.width)
        falsest = max(each, key=lambda one: one.false)
        yield Row(6, f"band, {name}: least coverage of a run", least.coverage, "of intervals", least.name, 0.75)
        yield Row(6, f"band, {name}: greatest width of a run", widest.width, "", widest.name, 2.0, "lower")
        yield Row(6, f"band, {name}: most false windows of a run", falsest.false, "windows", falsest.name, 1, "lower")
    for fault, least_share in (("limit halved", 0.95), ("service x3", 0.95), ("service x1.5", 0.70)):
        caught, windows = all_of.caught.get(fault, (0, 0))
        told = f"{caught} of {windows} windows"
        yield Row(6, f"band, {name}: caught, {fault}", all_of.share_caught(fault), "of windows", told, least_share)
