"""Row 15: from a key to its paint, while 60 MB arrive from one server and another one hangs."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tests.bench.row import Row
from tests.ui.latency import burdened, latencies, quantile

CALM = (sys.executable, "-m", "tests.ui.program", "calm")


def rows(*, short: bool) -> Iterator[Row]:
    """The 99th percentile of some hundred keys, beside that of a screen with nothing to do."""
    rounds = 20 if short else 40
    calm_ms = 1000 * quantile(latencies(CALM, "3 of 3 replicas", rounds), 0.99)
    with burdened() as argv:
        loaded_ms = 1000 * quantile(latencies(argv, "workload-low", rounds), 0.99)
    what = "p99 from key to paint, 60 MB arriving, a server hanging"
    yield Row(15, what, loaded_ms, "ms", f"with nothing to do: {calm_ms:.0f} ms", 100, "lower")
