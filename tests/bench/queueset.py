"""Row 7: the queue set, in requests (arrive, dispatch, finish) a CPU second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from apftop.apf.objects import Queuing
from apftop.apf.queueset import QueueSet
from apftop.apf.simulate import SimulatedRequest, Simulation
from tests.bench.row import Row
from tests.bench.streams import Stream, drive

REFERENCE_LOOP_S = (0.6, 0.8)
"""What the loop of `loop_seconds` took where the figures of the Go queue set were measured."""

GO_64_QUEUES = (35_000, 49_000)
GO_8_QUEUES = (94_000, 125_000)
STREAMS: tuple[tuple[str, Stream, tuple[int, int] | None], ...] = (
    ("64 queues, hand 6", Stream(Queuing(64, 6, 50), limit=20, requests=40_000), GO_64_QUEUES),
    ("8 queues, hand 4", Stream(Queuing(8, 4, 50), limit=20, requests=40_000), GO_8_QUEUES),
    (
        "128 queues, hand 6, 1,000 waiting, mixed widths",
        Stream(Queuing(128, 6, 50), limit=20, requests=40_000, load=1.0, widths=(1, 1, 1, 2, 4, 10), waiting=1000),
        None,
    ),
)


def loop_seconds() -> float:
    """CPU seconds of five million additions in a function: how fast this machine runs Python now."""
    start = time.process_time()
    total = 0
    for step in range(5_000_000):
        total += step
    return time.process_time() - start


def rows(*, short: bool) -> Iterator[Row]:
    """The streams, each against a third of the Go figure scaled by the loop, and once through the whole clock."""
    repeats = 1 if short else 3
    for what, stream, go in STREAMS:
        loop = min(loop_seconds() for _ in range(repeats))
        speed = max(_speed(stream, drive) for _ in range(repeats))
        if go is None:
            yield Row(7, what, speed, "requests/s")
            continue
        scaled = sum(go) / 2 * (sum(REFERENCE_LOOP_S) / 2 / loop)
        reference = f"Go, scaled: {scaled:,.0f}; loop {loop:.2f} s"
        yield Row(7, what, speed, "requests/s", reference, scaled / 3)
        clocked = max(_speed(stream, _simulate) for _ in range(repeats))
        yield Row(7, f"{what}, by the virtual clock", clocked, "requests/s", reference)


def _speed(stream: Stream, run: Callable[[QueueSet[SimulatedRequest], list[SimulatedRequest]], None]) -> float:
    """Requests that started, for each CPU second; refused ones do not count."""
    requests, level = list(stream.make()), stream.level()
    start = time.process_time()
    run(level, requests)
    seconds = time.process_time() - start
    return sum(request.state in ("executing", "done") for request in requests) / seconds


def _simulate(level: QueueSet[SimulatedRequest], requests: list[SimulatedRequest]) -> None:
    Simulation(level).run(requests)
