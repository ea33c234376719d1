"""Where the segments of a tape lie: found without reading what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from apftop.tape.layout import FIRST_LINE, FORMAT, SYNC, Bytes, Kind, record_at, records
from apftop.tape.packing import Open, unpack_open

FIRST = FIRST_LINE % FORMAT


@dataclass(frozen=True, slots=True)
class Segment:
    """Where a segment lies: its part (the file), its first byte there, and what it says of itself.

    `end` is where the next one should begin. `began` is its first moment, `ended` its last one (Unix seconds, the
    recorder's clock).
    """

    part: int
    start: int
    end: int
    began: float
    ended: float
    open: Open


def segments_of(number: int, part: Bytes) -> list[Segment]:
    """The segments of a part: from the last one back, each by the length of the one before it, or looked for."""
    found: list[Segment] = []
    start = part.rfind(SYNC)
    while start >= 0:
        before = -1
        record = record_at(part, start + len(SYNC))
        about = unpacked(record.payload) if record is not None and record.kind == Kind.OPEN else None
        if record is not None and about is not None:
            after = found[-1] if found else None
            if after is not None and after.open.before_ended is not None and start + after.open.before == after.start:
                end, ended = after.start, after.open.before_ended
            else:
                end, ended = _extent(part, start)
            found.append(Segment(number, start, end, record.time, ended, about))
            before = start - about.before if about.before else -1
        if before < 0 or part[before : before + len(SYNC)] != SYNC:
            before = part.rfind(SYNC, 0, start)
        start = before
    return found[::-1]


def unpacked(opening: bytes) -> Open | None:
    """What an opening says; None for what is none."""
    try:
        return unpack_open(opening)
    except msgspec.MsgspecError:
        return None


def follows(before: Segment, after: Segment) -> bool:
    """Whether one recorder wrote these one after the other, with nothing between them."""
    if not after.open.before or after.open.before_ended != before.ended:
        return False
    beside = after.start == before.end if after.part == before.part else after.start == len(FIRST)
    return beside and before.end - before.start == after.open.before


def holes(number: int, part: Bytes, segments: Sequence[Segment]) -> Iterator[tuple[int, int]]:
    """From where to where nothing of a part can be read, as far as its segments show that by where they lie."""
    ends = [len(FIRST), *(one.end for one in segments if one.part == number)]
    starts = [*(one.start for one in segments if one.part == number), len(part)]
    return ((end, start) for end, start in zip(ends, starts, strict=True) if end < start)


def _extent(part: Bytes, start: int) -> tuple[int, float]:
    """Where the whole records of a segment end, and its last moment (Unix seconds)."""
    end, ended = start, 0.0
    for record in records(part, start):
        end, ended = record.end, max(ended, record.time)
    return end, ended
