"""Tapes read: the state at any moment of them, and what came after it."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from apftop.errors import Trouble, reason
from apftop.live import fold
from apftop.present import utc
from apftop.records.raw import Sample
from apftop.records.state import State
from apftop.records.tape import About, Mark, Note, Pulse
from apftop.tape.books import opened
from apftop.tape.found import FIRST, Segment, follows, holes, segments_of
from apftop.tape.layout import FIRST_LINE, FORMAT, MOST_BYTES, Bytes, Kind, records
from apftop.tape.packing import unpack_note, unpack_sample
from apftop.tape.parts import older_parts, parts_of
from apftop.tape.zstd import ZstdDecompressor, ZstdError

__all__ = ["Segment", "Taken", "Tape", "is_tape", "open_tape"]

T = TypeVar("T")
UNREADABLE = (msgspec.MsgspecError, struct.error, ValueError)
ANY_FORMAT = FIRST_LINE.partition(b"%d")[0]
NO_TAPE = "name a file that `apftop record` has written; `apftop report` shows a bundle"
TRIES = 5
"""A recorder may begin another part while its tape is being opened: not so often."""


Needed = Callable[[Sequence[Sample]], Sequence[Sample]]


@dataclass(frozen=True, slots=True)
class Taken:
    """One sample of a tape, or notes, and when it was taken in (Unix seconds, the recorder's clock)."""

    at: float
    what: Sample | Note


class Tape:
    """A tape, opened to be read; what is appended to it later is not seen. Close it after use.

    `name` is what it is called in words. `problems` are lines about damage, of which all the rest is read; what is only
    in a segment is told once that was read.
    """

    def __init__(self, parts: Sequence[Bytes], name: str, problems: Sequence[str] = ()) -> None:
        """Raises Trouble where nothing is on it."""
        self.name, self._parts = name, parts
        self.problems = list(problems)
        self.segments: Sequence[Segment] = tuple(
            one for number, part in enumerate(parts) for one in segments_of(number, part)
        )
        for number, part in enumerate(parts):
            for begin, end in holes(number, part, self.segments):
                self._lost(number, begin, end)
        if not self.segments:
            raise Trouble("nothing was recorded on this tape", name)

    @property
    def about(self) -> About:
        """Whose tape it is, as its last segment says."""
        return self.segments[-1].open.about

    @property
    def span(self) -> tuple[float, float]:
        """Its first and its last moment (Unix seconds, the recorder's clock)."""
        return self.segments[0].began, self.segments[-1].ended

    def close(self) -> None:
        """Let the files go."""
        for part in self._parts:
            if isinstance(part, mmap.mmap):
                part.close()

    def segment_at(self, time: float) -> int:
        """The number of the last segment that begins at or before a time, the first one for earlier times."""
        # Not bisected: where the clock was set back, they are not in its order.
        return next(
            (number for number in reversed(range(len(self.segments))) if self.segments[number].began <= time), 0
        )

    def opening(self, number: int, needed: Needed = tuple) -> tuple[State, tuple[Sample, ...]]:
        """The state with which a segment begins, and the samples that it stands on; empty where that cannot be read.

        Of the samples only those that are `needed` are read, and have content in the state.
        """
        carried: list[Sample] = []
        books = b""
        for kind, _, data in self._raw(number):
            if kind == Kind.BOOKS:
                books = data
            elif kind == Kind.CARRIED:
                carried += self._known(unpack_sample, data, number)
            elif kind in (Kind.SAMPLE, Kind.NOTE):
                break
        if not books:
            return State(), ()
        carried = list(needed(carried))
        try:
            return opened(books, carried), tuple(carried)
        except UNREADABLE:
            self._tell(f"the counts before {utc(self.segments[number].began)} cannot be read: they begin anew there")
            return fold(carried), tuple(carried)

    def goes_on(self, number: int) -> bool:
        """Whether a segment goes on where the one before it ended: by one recorder, and without damage."""
        if not number or not follows(self.segments[number - 1], self.segments[number]):
            return False
        before = self.segments[number - 1]
        ends = [record.end for record in records(self._parts[before.part], before.start)]
        return ends[-1] == before.end

    def taken(self, number: int) -> Iterator[Taken]:
        """The samples and notes of one segment, in the order in which they came."""
        for kind, at, data in self._raw(number):
            if kind == Kind.SAMPLE:
                for sample in self._known(unpack_sample, data, number):
                    yield Taken(at, sample)
            elif kind == Kind.NOTE:
                for note in self._known(unpack_note, data, number):
                    yield Taken(at, note)

    def cut(self, first: float, last: float) -> bytes:
        """The segments that have a time between two (Unix seconds), as a tape."""
        numbers = range(self.segment_at(first), self.segment_at(last) + 1)
        return b"".join((FIRST, *map(self._bytes, numbers)))

    def notes(self) -> Note:
        """All marks and pulses, in their order."""
        marks: list[Mark] = []
        pulses: list[Pulse] = []
        for number, segment in enumerate(self.segments):
            marks += segment.open.marks
            pulses += segment.open.pulses
            if number + 1 == len(self.segments) or not follows(segment, self.segments[number + 1]):
                # The next one does not tell what was in this: it is of another recorder, or there is none.
                for one in self.taken(number):
                    if isinstance(one.what, Note):
                        marks += one.what.marks
                        pulses += one.what.pulses
        return Note(tuple(marks), tuple(pulses))

    def _bytes(self, number: int) -> bytes:
        segment = self.segments[number]
        return self._parts[segment.part][segment.start : segment.end]

    def _known(self, unpack: Callable[[bytes], T], data: bytes, number: int) -> list[T]:
        """What was packed, or nothing where a later version made it."""
        try:
            return [unpack(data)]
        except UNREADABLE:
            self._newer(number)
            return []

    def _raw(self, number: int) -> Iterator[tuple[int, float, bytes]]:
        """The records of a segment, unpacked, up to what is damaged."""
        segment = self.segments[number]
        data, stream, end = self._parts[segment.part], ZstdDecompressor(), segment.start
        for record in records(data, segment.start):
            if record.kind != Kind.OPEN:
                try:
                    raw = stream.decompress(record.payload, MOST_BYTES)
                except (ZstdError, EOFError):
                    break
                if not stream.needs_input:
                    # No recorder writes so much at once.
                    break
                yield record.kind, record.time, raw
            end = record.end
        if end < segment.end:
            self._lost(segment.part, end, segment.end)

    def _lost(self, part: int, begin: int, end: int) -> None:
        """Say what cannot be read, by what lies around it."""
        if part + 1 == len(self._parts) and end == len(self._parts[part]):
            self._tell(f"cut off or damaged from byte {begin} to its end: what was recorded there is lost")
            return
        after = next((one for one in self.segments if (one.part, one.start) >= (part, end)), None)
        until = "" if after is None else f", up to {utc(after.began)}"
        self._tell(f"damaged or cut off from byte {begin} to {end}{until}: what was recorded there is lost")

    def _newer(self, number: int) -> None:
        self._tell(f"what a later version recorded after {utc(self.segments[number].began)} is left out in part")

    def _tell(self, line: str) -> None:
        line = f"{self.name}: {line}"
        if line not in self.problems:
            self.problems.append(line)


def is_tape(path: Path) -> bool:
    """Whether there is a tape of that name, of whatever format; its newest part may be missing or empty."""
    path = path.resolve() if path.is_symlink() else path
    try:
        if path.is_dir():
            return False
        there = path.exists() and path.stat().st_size > 0
        return any(_begins(part) for part in ([path] if there else older_parts(path)))
    except OSError:
        return False


def _begins(part: Path) -> bool:
    if not part.is_file():
        return False
    with part.open("rb") as file:
        return file.read(len(ANY_FORMAT)) == ANY_FORMAT


def open_tape(path: Path) -> Tape:
    """The tape of that name with all its parts; raises Trouble where there is none that this version can read."""
    path = path.resolve() if path.is_symlink() else path
    try:
        for _ in range(TRIES):
            names = parts_of(path)
            problems: list[str] = []
            parts = [part for name in names for part in _mapped(name, problems, alone=len(names) == 1)]
            if parts_of(path) == names:
                break
    except OSError as error:
        raise Trouble(f"the tape cannot be read ({reason(error)})", str(path)) from error
    return Tape(parts, str(path), problems)


def _mapped(path: Path, problems: list[str], *, alone: bool) -> list[mmap.mmap]:
    """A part; none, and a problem, where it cannot be read and is not all that there is."""
    try:
        return [_map(path)] if path.stat().st_size or alone else []
    except (OSError, Trouble) as error:
        trouble = (
            error if isinstance(error, Trouble) else Trouble(f"the tape cannot be read ({reason(error)})", str(path))
        )
        if alone:
            raise trouble from error
        problems.append(str(trouble))
        return []


def _map(path: Path) -> mmap.mmap:
    if not path.is_file() and path.exists():
        raise Trouble("this is no tape", str(path), NO_TAPE)
    with path.open("rb") as file:
        first = file.readline(64)
        if not first.startswith(ANY_FORMAT) and not (first and ANY_FORMAT.startswith(first)):
            raise Trouble("this is no tape", str(path), NO_TAPE)
        number = first[len(ANY_FORMAT) :].strip()
        if not (number or b"0").isdigit():
            raise Trouble("this is no tape", str(path), NO_TAPE)
        if int(number or 0) > FORMAT:
            raise Trouble("this tape was made by a newer version", str(path), "update apftop to read it")
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
