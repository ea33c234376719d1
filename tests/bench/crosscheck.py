"""How sharp and how quiet the cross-check is, on recorded control planes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.bench.row import Row
from tests.crosscheck.figures import TOLD, healthy, shares
from tests.crosscheck.runs import runs

SHORT = ("metrics of another replica", "metrics one scrape old", "clock 2 s ahead", "hand 1 less", "limit halved")


def rows(*, short: bool, folders: tuple[Path, ...] = ()) -> Iterator[Row]:
    """Shares of windows that fire, by fault, and false alarms; on the folders' recordings, else on those at hand."""
    recorded = runs(*folders)
    found, about = healthy(recorded)
    of = f"{found.windows} windows of 10 s in {len(recorded)} recordings"
    yield Row(6, "false alarms of all laws", len(found.off), "windows", of, 0, "lower")
    yield Row(6, "intervals of a level with waiting requests", found.waiting_intervals, "intervals", of)
    for share in shares(recorded, about, SHORT if short else TOLD):
        told = f"{share.fired} of {share.windows} windows that can tell it"
        yield Row(6, f"flagged: {share.fault}", share.share, "of windows", told, share.least)
