"""Row 24: a jump to any second of a tape: until its frame is shown, and until all is known that was known then."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from apftop.access import Access, server_name
from apftop.course import course_to
from apftop.demo.running import start_demo
from apftop.deriving import Deriving
from apftop.glimpse import glimpsed
from apftop.records.asking import Demand
from apftop.reel import Reel
from apftop.tape.file import TapeFile
from apftop.tape.reading import open_tape
from apftop.watching import Watching
from tests.bench.row import Row

RECORDED_S, SHORT_S = 240.0, 45.0
JUMPS, SHORT_JUMPS = 40, 10
SHOWN_MS, WHOLE_S = 100.0, 1.0


def rows(*, short: bool) -> Iterator[Row]:
    """Jumps to random seconds of the demo's rush: three replicas under load, recorded first."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tape"
        _record(path, SHORT_S if short else RECORDED_S)
        shown, whole = _jumps(path, SHORT_JUMPS if short else JUMPS)
    for measured, what, unit, target in ((shown, "shown", "ms", SHOWN_MS), (whole, "all known", "s", WHOLE_S)):
        spread = f"{min(measured):.3g} to {max(measured):.3g} {unit}, {len(measured)} jumps"
        yield Row(
            24,
            f"median of jumps on a tape of 3 replicas, {what}",
            statistics.median(measured),
            unit,
            spread,
            target,
            "lower",
        )


def _record(path: Path, seconds: float) -> None:
    demo = start_demo("rush", seed=5)
    ways = [Access(server_name(url), url) for url in demo.urls]
    watching = Watching(
        ways,
        discover=False,
        source="the demo",
        request_timeout_s=None,
        on_moment=lambda _: None,
        demand=Demand(2.0),
        sink=TapeFile(path),
    )
    watching.start()
    time.sleep(seconds)
    watching.stop()
    watching.finish(10.0)
    demo.stop()


def _jumps(path: Path, number: int) -> tuple[list[float], list[float]]:
    """Milliseconds until a frame is shown, and seconds until all is known: nothing is at hand from the jump before."""
    tape, chance = open_tape(path), random.Random(1)
    blank = Deriving("the demo", None, print)
    shown, whole = [], []
    for _ in range(number):
        at = chance.uniform(*tape.span)
        began = time.perf_counter()
        reel = Reel(tape)
        place = reel.place(at)
        glimpsed(reel, place, blank).glimpse(())
        shown.append(1e3 * (time.perf_counter() - began))
        course = course_to(reel, place, blank)
        if course is not None:
            course.deriving.show({}, ())
        whole.append(time.perf_counter() - began)
    tape.close()
    return shown, whole
