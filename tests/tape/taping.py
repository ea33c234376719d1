"""Tapes for tests: samples of a recording as a watching would record them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from apftop.live import observe
from apftop.records.raw import Sample
from apftop.records.state import State
from apftop.records.tape import Note
from apftop.tape.carry import Carry, Numbered, carried
from apftop.tape.file import Bounds, TapeFile
from apftop.tape.reading import Tape
from apftop.tape.segments import Segments
from tests.recording import SHIPPED, recordings


@dataclass(frozen=True)
class Seen:
    """A sample and the state after it."""

    sample: Sample
    state: State


def samples(number: int = 0) -> list[Sample]:
    """The samples of a recording of real servers that ships with the tests, in the order in which they came."""
    found = recordings(SHIPPED)[number].scrapes
    return sorted((one for scrape in found for one in scrape.samples()), key=lambda one: one.received or 0.0)


def read(tape: Tape) -> list[Sample]:
    """All samples of a tape."""
    numbers = range(len(tape.segments))
    return [one.what for number in numbers for one in tape.taken(number) if isinstance(one.what, Sample)]


class Recorder:
    """Records samples at times of one's own, as a recording does but in this thread; `seen` are those so far."""

    def __init__(
        self,
        path: Path,
        *,
        segment_s: float = 10.0,
        bounds: Bounds = Bounds(),  # noqa: B008  frozen
        state: State = State(),  # noqa: B008  frozen
    ) -> None:
        self._segments, self._file = Segments("a test", "0", segment_s), TapeFile(path, bounds)
        self._state = state
        self._carry: Carry = {}
        self.seen: list[Seen] = []

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def take(self, sample: Sample, now: float) -> None:
        """Record a sample that came then (Unix seconds)."""
        before, self._state = self._state, observe(self._state, sample)
        begins = self._segments.due(now) or self._file.full(now)
        carry = self._carry
        self._carry = carried(carry, Numbered(len(self.seen), sample), before, self._state)
        self.seen.append(Seen(sample, self._state))
        self._write(self._segments.sample(sample, now, before, carry, begins=begins), now, begins)

    def forget(self, name: str) -> None:
        """Leave out a server, as a watching does that asks it no more."""
        self._state = State({one: state for one, state in self._state.replicas.items() if one != name})

    def note(self, note: Note, now: float) -> None:
        """Record a note."""
        self._write(self._segments.note(note, now), now, False)

    def _write(self, pieces: Iterable[bytes], now: float, begins: bool) -> None:
        for piece in pieces:
            self._file.write(piece, now, begins=begins)
            begins = False


def record(
    path: Path,
    some: Iterable[Sample],
    *,
    segment_s: float = 10.0,
    bounds: Bounds = Bounds(),  # noqa: B008  frozen
    state: State = State(),  # noqa: B008  frozen
) -> list[Seen]:
    """Record samples, and give them with the states that they made."""
    with Recorder(path, segment_s=segment_s, bounds=bounds, state=state) as recorder:
        for sample in some:
            recorder.take(sample, sample.received or 0.0)
    return recorder.seen
