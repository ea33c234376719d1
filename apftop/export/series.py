"""Points of series in the order of OpenMetrics, however many there are: sorted in pieces, and these merged."""

from __future__ import annotations

import heapq
import struct
from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import IO, NamedTuple, cast

import msgspec

from apftop.export.targets import spool
from apftop.tape.zstd import ZstdCompressor, ZstdDecompressor

HELD_BYTES = 64 << 20
"""So much text is held before it is laid aside."""

_LENGTH = struct.Struct("<I")
_WRITTEN, _READ = 1 << 18, 1 << 14


class Point(NamedTuple):
    """The lines of one group of one family at one time (Unix milliseconds).

    A group is what OpenMetrics wants together: all series with the same labels but `le`; `group` are these as text.
    """

    family: str
    group: str
    at_ms: int
    lines: str


class Points:
    """Points as they come in, and sorted by family, group and time out. To be used in a `with`."""

    def __init__(self, held_bytes: int = HELD_BYTES) -> None:
        self._most, self._size = held_bytes, 0
        self._held: list[Point] = []
        self._spools: list[IO[bytes]] = []
        self._stack = ExitStack()

    def __enter__(self) -> Points:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, at)

    def add(self, point: Point) -> None:
        """Take a point. Raises Trouble where there is no room for it."""
        self._held.append(point)
        # A point takes about so much more than its text.
        self._size += len(point.lines) + 200
        if self._size > self._most:
            self._lay_aside()

    def in_order(self) -> Iterator[Point]:
        """All points; of several of one group at one time the one that came first."""
        self._held.sort(key=_order)
        last = None
        for point in heapq.merge(*map(_read, self._spools), self._held, key=_order):
            if (key := _order(point)) != last:
                yield point
            last = key

    def _lay_aside(self) -> None:
        self._held.sort(key=_order)
        file = self._stack.enter_context(spool())
        packer = ZstdCompressor(1)
        block = bytearray()
        for point in self._held:
            data = msgspec.msgpack.encode(point)
            block += _LENGTH.pack(len(data)) + data
            if len(block) > _WRITTEN:
                file.write(packer.compress(bytes(block)))
                block.clear()
        file.write(packer.compress(bytes(block)) + packer.flush())
        self._spools.append(file)
        self._held, self._size = [], 0


def _order(point: Point) -> tuple[str, str, int]:
    return point.family, point.group, point.at_ms


def _read(file: IO[bytes]) -> Iterator[Point]:
    file.seek(0)
    stream, text = ZstdDecompressor(), b""
    while packed := file.read(_READ):
        text += stream.decompress(packed)
        at = 0
        while at + _LENGTH.size <= len(text):
            end = at + _LENGTH.size + cast("int", _LENGTH.unpack_from(text, at)[0])
            if end > len(text):
                break
            yield msgspec.msgpack.decode(text[at + _LENGTH.size : end], type=Point)
            at = end
        text = text[at:]
