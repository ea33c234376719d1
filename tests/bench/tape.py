"""Rows 17 and 18: what a day of three servers takes on a tape, and how long any second of it takes to find."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from apftop.tape.reading import open_tape
from tests.bench.row import Row
from tests.tape.day import DAY_S, asked, minute, write_day
from tests.tape.taping import samples

LOOKS = 30
TARGET_MS = 33.0
"""A third of what a jump to any second may take until it is shown."""


def rows(*, short: bool) -> Iterator[Row]:
    """From the recording of 1.37.2 under load: asked at default intervals, and for the second row all of it twice.

    That are as many samples as two minutes have.
    """
    one = minute(asked())
    what = "a day of three servers on a tape, under the recorded load"
    yield Row(
        17, what, one.bytes_of_a_day / 1e6, "MB", f"packing takes {one.ms_a_sample:.2f} ms a sample", 200, "lower"
    )
    with tempfile.TemporaryDirectory(prefix="apftop-tape-") as folder:
        path = Path(folder) / "day"
        write_day(path, minute([*samples(1), *samples(1)]), DAY_S / 8 if short else DAY_S)
        began = time.process_time()
        tape = open_tape(path)
        opened = 1000 * (time.process_time() - began)
        chance, took = random.Random(1), []
        for _ in range(LOOKS):
            at = chance.uniform(*tape.span)
            began = time.process_time()
            list(tape.taken(tape.segment_at(at)))
            took.append(1000 * (time.process_time() - began))
        size = f"{path.stat().st_size / 1e6:.0f} MB in {len(tape.segments)} segments"
        tape.close()
    yield Row(18, "to open the tape of a day", opened, "ms of CPU", size, TARGET_MS, "lower")
    what = "to find any second of it and read the samples around it"
    yield Row(18, what, median(took), "ms of CPU", f"worst {max(took):.0f} ms", TARGET_MS, "lower")
