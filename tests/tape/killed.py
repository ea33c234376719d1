"""Recorders that are killed: `python -m tests.tape.killed COUNT FOLDER`, which says what was not as it should be.

All are forked from one process that has the samples and their states at hand, and records as `apftop record` does.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from apftop.live import observe
from apftop.recording import Recording
from apftop.records.raw import Sample
from apftop.records.state import State
from apftop.tape.file import Bounds, TapeFile
from apftop.tape.layout import HEAD, Kind
from apftop.tape.parts import older_parts
from apftop.tape.reading import open_tape
from tests.tape.taping import Seen, read, samples

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

MANY = 90
SHORT_WRITE = 200
SHORT_S = 50e-6
"""A system may write less than it was given, and take its time: what is killed then leaves a torn record."""

BOUNDS = (Bounds(), Bounds(), Bounds(most_bytes=8 * 60_000))


class Telling(TapeFile):
    """Writes a byte to a pipe for each sample that is written whole."""

    def __init__(self, path: Path, bounds: Bounds, pipe: int) -> None:
        super().__init__(path, bounds)
        self._pipe = pipe

    def write(self, piece: bytes, now: float, *, begins: bool) -> None:
        super().write(piece, now, begins=begins)
        if not begins and HEAD.unpack_from(piece)[2] == Kind.SAMPLE:
            os.write(self._pipe, b".")


def states(some: Sequence[Sample]) -> list[Seen]:
    state, found = State(), []
    for sample in some:
        state = observe(state, sample)
        found.append(Seen(sample, state))
    return found


def child(path: Path, bounds: Bounds, some: Sequence[Seen], pipe: int, *, torn: bool) -> None:
    """Record all of it, and wait to be killed."""
    if torn:
        whole = os.write

        def short(file: int, data: Buffer) -> int:
            time.sleep(SHORT_S)
            return whole(file, memoryview(data)[:SHORT_WRITE])

        os.write = short
    recording = Recording("a test", print, Telling(path, bounds, pipe))
    recording.start()
    before = State()
    for one in some:
        recording.sample(one.sample, before, one.state)
        before = one.state
    recording.finish(60.0)


def killed(path: Path, some: Sequence[Seen], chance: random.Random) -> int:
    """Let a recorder run, kill it at a random point; how many samples it had said to be written."""
    bounds = chance.choice(BOUNDS)
    told, tell = os.pipe()
    if not (pid := os.fork()):
        os.close(told)
        try:
            child(path, bounds, some, tell, torn=chance.random() < 0.5)
        finally:
            os._exit(1)
    os.close(tell)
    wanted = chance.randrange(len(some))
    done = 0
    while done < wanted and (more := os.read(told, wanted - done)):
        done += len(more)
    time.sleep(chance.random() * 0.003)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    while more := os.read(told, 1 << 16):
        done += len(more)
    os.close(told)
    return done


def wrong(folder: Path, first: Sequence[Seen], second: Sequence[Seen], chance: random.Random) -> str:
    """What was not as it should be with one recorder that is killed and one that continues its tape."""
    path = folder / "tape"
    done = killed(path, first, chance)
    whole = [one.sample for one in first]
    if not path.exists() and not older_parts(path):
        return "" if done == 0 else f"no tape with {done} samples"
    after = whole
    try:
        tape = open_tape(path)
    except Exception as error:
        if done:
            return f"{done} samples, and {error!r}"
    else:
        found = read(tape)
        if not done <= len(found) <= done + 1 or found != whole[: len(found)]:
            return f"{done} samples were written, {len(found)} are read"
        if len(tape.problems) > 1:
            return f"problems: {tape.problems}"
        after = found
        tape.close()
    record_more(path, second)
    found = read(open_tape(path))
    if done and found != [*after, *(one.sample for one in second)]:
        return f"after {len(after)} samples of one recorder and {len(second)} of another {len(found)} are read"
    return "" if found[-len(second) :] == [one.sample for one in second] else "the second recorder's are not read"


def record_more(path: Path, some: Sequence[Seen]) -> None:
    recording = Recording("a test", print, TapeFile(path))
    recording.start()
    before = State()
    for one in some:
        recording.sample(one.sample, before, one.state)
        before = one.state
    recording.close()
    recording.finish(60.0)


def main() -> None:
    count, folder = int(sys.argv[1]), Path(sys.argv[2])
    all_of_it = samples(1)
    first, second = states(all_of_it[:MANY]), states(all_of_it[MANY : MANY + 5])
    torn = 0
    for seed in range(count):
        own = folder / str(seed)
        own.mkdir()
        if found := wrong(own, first, second, random.Random(seed)):
            print(f"seed {seed}: {found}")
        torn += (own / "tape").exists() and bool(open_tape(own / "tape").problems)
        for one in own.iterdir():
            one.unlink()
    print(f"{count} recorders were killed, {torn} in the middle of a record")


if __name__ == "__main__":
    main()
