"""Runs of the model, and the process that does them beside this one: `main`, which needs nothing but the model."""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO

from apftop.apf.forecast import Band, Trial, outcomes
from apftop.apf.starts import Onward, start_bands

Task = Trial | Onward


@dataclass(frozen=True, slots=True)
class Answer:
    """Of a trial, the sum of waits (nanoseconds) and their number in each run; else when each request starts."""

    waits: tuple[tuple[int, int], ...] = ()
    starts: tuple[Band | None, ...] = ()


Reply = tuple[Answer | str, float]
"""What came of a task, or what went wrong; and the seconds of CPU that the process has taken since its last reply."""

NICE = 10
"""Whoever shows the results comes first."""


def run(task: Task) -> Answer:
    """What comes of a task: all of its runs, here and now."""
    if isinstance(task, Onward):
        return Answer(starts=start_bands(task))
    return Answer(waits=tuple((one.waited_ns, one.waits) for one in outcomes(task)))


def main() -> None:
    """Do the tasks that come over the standard input, one after the other, until it ends.

    It ends when the process at its other end does, however that comes about: then so does this one, at once.
    """
    if hasattr(os, "nice"):
        os.nice(NICE)
    tasks: SimpleQueue[Task] = SimpleQueue()
    Thread(target=_listen, args=(sys.stdin.buffer, tasks.put), daemon=True).start()
    spent = 0.0
    while True:
        answer = _answer(tasks.get())
        before, spent = spent, time.process_time()
        pickle.dump((answer, spent - before), sys.stdout.buffer)
        sys.stdout.buffer.flush()


def _listen(stream: BinaryIO, put: Callable[[Task], None]) -> None:
    while True:
        try:
            put(pickle.load(stream))  # noqa: S301  from the process that started this one
        except EOFError:
            os._exit(0)


def _answer(task: Task) -> Answer | str:
    try:
        return run(task)
    except Exception as error:  # noqa: BLE001  it is told, and the next task may go well
        return f"{type(error).__name__}: {error}"
