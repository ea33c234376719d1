"""The thread that records: what a slow or full disk makes of it."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from apftop.errors import Trouble
from apftop.live import observe
from apftop.recording import MOST_WAITING_BYTES, Recording
from apftop.records.raw import Sample
from apftop.records.state import State
from apftop.records.tape import Mark, Note
from apftop.tape.file import Bounds, TapeFile
from apftop.tape.reading import Tape, open_tape
from tests.tape.killed import states
from tests.tape.taping import read, samples


class Full:
    """A disk that has room for so many records."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.closed = 0

    def write(self, piece: bytes, now: float, *, begins: bool) -> None:
        self.room -= 1
        if self.room < 0:
            raise Trouble("the tape cannot be written on (no space left on device)", "tape")

    def full(self, now: float) -> bool:
        return False

    def close(self) -> None:
        self.closed += 1


class Slow(TapeFile):
    """A disk on which nothing is written until it is let."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.let = threading.Event()

    def write(self, piece: bytes, now: float, *, begins: bool) -> None:
        self.let.wait()
        super().write(piece, now, begins=begins)


def recorded(recording: Recording, some: list[Sample], state: State = State()) -> State:  # noqa: B008  frozen
    for sample in some:
        after = observe(state, sample)
        recording.sample(sample, state, after)
        state = after
    return state


def test_a_full_disk_ends_the_tape_with_one_line_and_the_ring_goes_on() -> None:
    told: list[str] = []
    disk, some = Full(7), samples()
    recording = Recording("a test", told.append, disk)
    recording.start()

    recorded(recording, some)
    recording.close()
    recording.finish(60.0)

    assert told == [recording.failure] == ["the tape cannot be written on (no space left on device): tape"]
    assert disk.closed == 1
    assert recording.ended
    assert read(Tape([recording.ring()], "ring")) == some


def test_a_disk_that_is_too_slow_costs_samples_which_is_told_and_marked(tmp_path: Path) -> None:
    told: list[str] = []
    disk = Slow(tmp_path / "tape")
    recording = Recording("a test", told.append, disk)
    recording.start()
    some = samples(1)
    size = sum(len(one.body) for one in some)
    times = MOST_WAITING_BYTES // size + 2
    flood = [one for _ in range(times) for one in some]

    seen = states(flood)
    for before, one in zip([State(), *(each.state for each in seen)], seen, strict=False):
        recording.sample(one.sample, before, one.state)
    recording.note(Note((Mark(1.0, "config", "something changed"),)), {})
    assert len(told) == 1
    assert "too slow" in told[0]
    disk.let.set()
    while recording._done_bytes < recording._put_bytes:
        time.sleep(0.01)
    recorded(recording, some[:5], seen[-1].state)
    recording.close()
    recording.finish(60.0)

    tape = open_tape(tmp_path / "tape")
    found = read(tape)
    lost = len(flood) + 5 - len(found)
    assert 0 < lost < len(flood) - len(some)
    assert found == flood[: len(flood) - lost] + some[:5]
    assert next(one.text for one in tape.notes().marks if one.kind == "recording").startswith(f"{lost} samples of ")
    assert not tape.goes_on(len(tape.segments) - 1)
    assert tape.opening(len(tape.segments) - 1)[0] == seen[-1].state
    assert not tape.problems
    assert recording.failure == ""


def test_what_was_lost_at_the_end_is_marked_too(tmp_path: Path) -> None:
    disk = Slow(tmp_path / "tape")
    recording = Recording("a test", lambda line: None, disk)
    recording.start()
    (sample, *_) = samples(1)
    large = Sample("0", sample.endpoint, b"x" * (MOST_WAITING_BYTES // 2 + 1), 200)
    for _ in range(3):
        recording.sample(large, State(), State())
    recording.close()
    disk.let.set()
    recording.finish(60.0)

    tape = open_tape(tmp_path / "tape")
    assert read(tape) == [large]
    assert [one.text.partition(" ")[0] for one in tape.notes().marks] == ["2"]


def test_an_answer_larger_than_all_that_may_wait_is_recorded(tmp_path: Path) -> None:
    recording = Recording("a test", print, TapeFile(tmp_path / "tape", Bounds(most_bytes=10_000_000)))
    recording.start()
    large = Sample("0", samples()[0].endpoint, b"x" * (MOST_WAITING_BYTES + 1), 200)
    recording.sample(large, State(), State())
    recording.close()
    recording.finish(60.0)

    assert read(open_tape(tmp_path / "tape")) == [large]


def test_a_sink_that_fails_in_an_odd_way_ends_the_tape_and_not_the_ring() -> None:
    class Odd(Full):
        def write(self, piece: bytes, now: float, *, begins: bool) -> None:
            self.room -= 1
            if self.room == 0:
                raise RuntimeError

    told: list[str] = []
    recording = Recording("a test", told.append, Odd(6))
    recording.start()
    recorded(recording, samples()[:20])
    recording.close()
    recording.finish(60.0)

    assert told == ["recording ended: RuntimeError: see --debug"]
    tape = Tape([recording.ring()], "ring")
    assert read(tape)[-14:] == samples()[6:20]
    assert not tape.problems


def test_a_memory_and_forgotten_servers_are_recorded_without_marks(tmp_path: Path) -> None:
    recording = Recording("a test", print, TapeFile(tmp_path / "tape"))
    recording.start()
    recorded(recording, samples()[:3])
    recording.note(Note(forgotten=("0",)), {})
    recording.note(Note(), {})
    recording.close()
    recording.finish(60.0)

    tape = open_tape(tmp_path / "tape")
    assert [one.what for one in tape.taken(0) if isinstance(one.what, Note)] == [Note(forgotten=("0",))]
