"""From a key to the paint that it causes, measured at the other end of the terminal."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.ui.terminal import Pty

SIZE = (120, 40)
# What each key paints that was not there before.
KEYS: tuple[tuple[bytes, bytes], ...] = (
    (b"+", rb"every 5 s"),
    (b"2", rb"schemas, each"),
    (b"-", rb"every 2 s"),
    (b"6", rb"replicas  "),
    (b"1", rb"levels, each"),
)
FLOOD = (sys.executable, "-m", "tests.ui.program", "flood")


def latencies(argv: Sequence[str], ready: str, rounds: int) -> list[float]:
    """Seconds from each key press to the arrival of what it paints, sorted, once the screen shows `ready`."""
    found = []
    with Pty(argv, SIZE) as terminal:
        terminal.wait_for(ready)
        for key, painted in KEYS * rounds:
            since, began = len(terminal.output), time.monotonic()
            terminal.send(key)
            while not re.search(painted, terminal.output[since:]):
                assert time.monotonic() - began < 10, f"{key!r} painted nothing: {terminal.output[since:]!r}"
                terminal.read(1)
            found.append(time.monotonic() - began)
            # Keys come at all phases of the paints that go on meanwhile.
            until = time.monotonic() + 0.03 + 0.007 * (len(found) % 11)
            while (left := until - time.monotonic()) > 0:
                terminal.read(left)
    return sorted(found)


def quantile(found: Sequence[float], share: float) -> float:
    """That of the sorted latencies below which this share of them lies."""
    return found[min(len(found) - 1, int(len(found) * share))]


@contextmanager
def burdened() -> Iterator[tuple[str, ...]]:
    """The screen's command line for three servers: one lively, one whose metrics are 60 MB, and one that hangs."""
    with subprocess.Popen((sys.executable, "-m", "tests.ui.burden"), stdout=subprocess.PIPE, text=True) as servers:
        try:
            assert servers.stdout is not None
            urls = servers.stdout.readline().split()
            yield (sys.executable, "-m", "apftop", *(part for url in urls for part in ("--server", url)))
        finally:
            servers.terminate()
