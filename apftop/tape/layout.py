"""How a tape lies on the disk (format 1).

A tape is a line of text that names the format, and segments of some minutes each. A segment is `SYNC` and records. A
record is a head (`HEAD`: bytes of the payload, CRC-32 of the rest of the head and the payload, kind, Unix seconds), and
its payload. A segment begins with its OPEN, and needs no other one to be read; none knows where it lies, so that they
can be cut out and put together.

All but OPEN is one stream of zstd a segment, flushed with each record: what was written whole can be read, whatever
became of what follows.

Later versions may add kinds of record, fields of what is in them, and values of fields, and keep the format's number. A
reader unpacks kinds that it does not know, as part of the stream, and passes over them; fields too, and what has values
that it does not know it leaves out and says so. Who cuts a tape copies bytes, so that none of it is lost. All else that
changes gets a new number, which older versions refuse.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple
from zlib import crc32

FORMAT = 1
FIRST_LINE = b"apftop tape %d\n"
SYNC = bytes.fromhex("a5f70b5e91c84d36b2e06d1f7a39c0d4")
HEAD = struct.Struct("<IIBd")
_CHECKED = struct.Struct("<Bd")
MOST_BYTES = 1 << 30
"""No record is longer: what claims to be is damage."""


Bytes = bytes | mmap.mmap


class Kind(IntEnum):
    """What is in a record: the segment's opening, bookkeeping and samples from before it, a sample, notes."""

    OPEN = 1
    BOOKS = 2
    CARRIED = 3
    SAMPLE = 4
    NOTE = 5


class Record(NamedTuple):
    """One record: its kind, perhaps none that is known, its time (Unix seconds), its payload as it is, and its end."""

    kind: int
    time: float
    payload: bytes
    end: int


def packed(kind: int, time: float, payload: bytes) -> bytes:
    """A record as bytes."""
    return HEAD.pack(len(payload), crc32(payload, crc32(_CHECKED.pack(kind, time))), kind, time) + payload


def records(data: Bytes, start: int) -> Iterator[Record]:
    """The records of the segment whose `SYNC` begins at `start`, as far as they are whole and undamaged."""
    at = start + len(SYNC)
    while (record := record_at(data, at)) is not None:
        yield record
        at = record.end


def record_at(data: Bytes, at: int) -> Record | None:
    """The record that begins there; None where there is none that is whole."""
    begin = at + HEAD.size
    if begin > len(data):
        return None
    size, crc, kind, time = HEAD.unpack_from(data, at)
    if size > MOST_BYTES or begin + size > len(data):
        return None
    payload = bytes(data[begin : begin + size])
    if crc32(payload, crc32(_CHECKED.pack(kind, time))) != crc:
        return None
    return Record(kind, time, payload, begin + size)
