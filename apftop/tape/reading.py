"""Tapes read: where their segments lie, the state at any moment of them, and what came after it."""

from __future__ import annotations

import mmap
import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from apftop.errors import Trouble, reason
from apftop.present import utc
from apftop.records.raw import Sample
from apftop.records.state import State
from apftop.records.tape import About, Mark, Note, Pulse
from apftop.tape.books import opened
from apftop.tape.file import parts_of
from apftop.tape.layout import FIRST_LINE, FORMAT, SYNC, Bytes, Kind, Record, record_at, records
from apftop.tape.packing import Open, unpack_note, unpack_sample
from apftop.tape.zstd import ZstdDecompressor, ZstdError

UNREADABLE = (msgspec.MsgspecError, struct.error, ZstdError, ValueError, EOFError)
ANY_FORMAT = FIRST_LINE.partition(b"%d")[0]


@dataclass(frozen=True, slots=True)
class Segment:
    """Where a segment lies: its part (the file), its first byte there, and what it says of itself.

    `began` is its first moment, `ended` its last one (Unix seconds, the recorder's clock).
    """

    part: int
    start: int
    began: float
    ended: float
    open: Open


@dataclass(frozen=True, slots=True)
class Taken:
    """One sample of a tape, or notes, and when it was taken in (Unix seconds, the recorder's clock)."""

    at: float
    what: Sample | Note


class Tape:
    """A tape, opened to be read; what is appended to it later is not seen. Close it after use.

    `name` is what it is called in words. `problems` are lines about damage, of which all the rest is read.
    """

    def __init__(self, parts: Sequence[Bytes], name: str) -> None:
        """Raises Trouble where nothing is on it."""
        self.name, self._parts = name, parts
        found: list[Segment] = []
        self.problems: list[str] = []
        for number, part in enumerate(parts):
            found += _segments(number, part)
        self.segments: Sequence[Segment] = tuple(found)
        if not found:
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
        return max(0, bisect_right(self.segments, time, key=lambda one: one.began) - 1)

    def opening(self, number: int) -> tuple[State, tuple[Sample, ...]]:
        """The state with which a segment begins, and the samples that it stands on; empty where that cannot be read."""
        carried: list[Sample] = []
        books = b""
        for kind, _, data in self._raw(number):
            if kind is Kind.BOOKS:
                books = data
            elif kind is Kind.CARRIED:
                carried.append(unpack_sample(data))
            else:
                break
        return (opened(books, carried), tuple(carried)) if books else (State(), ())

    def goes_on(self, number: int) -> bool:
        """Whether a segment goes on where the one before it ended: by one recorder, and without damage."""
        if not number:
            return False
        before, segment = self.segments[number - 1], self.segments[number]
        return bool(segment.open.before) and segment.open.before_ended == before.ended

    def taken(self, number: int) -> Iterator[Taken]:
        """The samples and notes of one segment, in the order in which they came."""
        for kind, at, data in self._raw(number):
            if kind is Kind.SAMPLE:
                yield Taken(at, unpack_sample(data))
            elif kind is Kind.NOTE:
                yield Taken(at, unpack_note(data))

    def cut(self, first: float, last: float) -> bytes:
        """The segments that have a time between two (Unix seconds), as a tape."""
        numbers = range(self.segment_at(first), self.segment_at(last) + 1)
        return b"".join((FIRST_LINE % FORMAT, *map(self._bytes, numbers)))

    def _bytes(self, number: int) -> bytes:
        segment = self.segments[number]
        data = self._parts[segment.part]
        return data[segment.start : max(record.end for record in records(data, segment.start))]

    def notes(self) -> Note:
        """All marks and pulses, in their order."""
        marks: list[Mark] = []
        pulses: list[Pulse] = []
        for number, segment in enumerate(self.segments):
            marks += segment.open.marks
            pulses += segment.open.pulses
            if number + 1 == len(self.segments) or not self.segments[number + 1].open.before:
                # The next one does not tell what was in this: it is of another recorder, or there is none.
                for kind, _, data in self._raw(number):
                    if kind is Kind.NOTE:
                        note = unpack_note(data)
                        marks += note.marks
                        pulses += note.pulses
        return Note(tuple(marks), tuple(pulses))

    def _raw(self, number: int) -> Iterator[tuple[Kind, float, bytes]]:
        """The records of a segment, unpacked, up to what is damaged."""
        segment = self.segments[number]
        data, stream, end = self._parts[segment.part], ZstdDecompressor(), segment.start
        for record in records(data, segment.start):
            end = record.end
            if record.kind is not Kind.OPEN:
                try:
                    yield record.kind, record.time, stream.decompress(record.payload)
                except UNREADABLE:
                    end -= 1
                    break
        if end < len(data) and data[end : end + len(SYNC)] != SYNC:
            self._damaged(number, end)

    def _damaged(self, number: int, at: int) -> None:
        """Say what is lost: the rest of a segment; at the end of a tape that is what was being written."""
        last = number + 1 == len(self.segments)
        until = "its end" if last else utc(self.segments[number + 1].began)
        line = f"{self.name}: damaged or cut off at byte {at}: nothing is known from there to {until}"
        if line not in self.problems:
            self.problems.append(line)


def is_tape(path: Path) -> bool:
    """Whether there is a tape of that name, of whatever format."""
    try:
        with path.open("rb") as file:
            return file.read(len(ANY_FORMAT)) == ANY_FORMAT
    except OSError:
        return False


def open_tape(path: Path) -> Tape:
    """The tape of that name with all its parts; raises Trouble where there is none that this version can read."""
    return Tape([_mapped(part) for part in parts_of(path)], str(path))


def _mapped(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as file:
            first = file.readline(64)
            if not first.startswith(ANY_FORMAT):
                raise Trouble("this is no tape of apftop", str(path))
            number = first[len(ANY_FORMAT) :].strip()
            if not number.isdigit() or int(number) > FORMAT:
                raise Trouble("this tape was made by a newer version", str(path), "update apftop to read it")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise Trouble(f"the tape cannot be read ({reason(error)})", str(path)) from error


def _segments(number: int, part: Bytes) -> list[Segment]:
    """The segments of a part: from the last one back, each by the length of the one before it, or looked for."""
    found: list[Segment] = []
    start = part.rfind(SYNC)
    while start >= 0:
        record = record_at(part, start + len(SYNC))
        about = _open(record)
        if record is not None and about is not None:
            told = found[-1].open.before_ended if found else None
            found.append(Segment(number, start, record.time, _last(part, start) if told is None else told, about))
        before = start - about.before if about is not None and about.before else -1
        if before < 0 or part[before : before + len(SYNC)] != SYNC:
            before = part.rfind(SYNC, 0, start)
        start = before
    return found[::-1]


def _open(record: Record | None) -> Open | None:
    if record is None or record.kind is not Kind.OPEN:
        return None
    try:
        return msgspec.msgpack.decode(record.payload, type=Open)
    except msgspec.MsgspecError:
        return None


def _last(part: Bytes, start: int) -> float:
    return max(record.time for record in records(part, start))
