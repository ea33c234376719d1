"""Segments in the making: what is taken in comes out as bytes that are whole after each piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from apftop.records.raw import Sample
from apftop.records.state import State
from apftop.records.tape import Mark, Note, Pulse
from apftop.tape.books import books
from apftop.tape.carry import Carry, in_order
from apftop.tape.layout import FORMAT, SYNC, Kind, packed
from apftop.tape.packing import Open, pack_note, pack_sample
from apftop.tape.zstd import ZstdCompressor, compressor

SEGMENT_S = 120.0
SEGMENT_BYTES = 16 << 20
"""A segment is no longer than this, nor holds more bytes before they are compressed than this or its opening."""


@dataclass
class Segments:
    """Makes the segments of one tape; `source` says in words whose it is, `tool` is the version of what records.

    `versions` of servers may be set at any time; the next segment has them.
    """

    source: str
    tool: str
    segment_s: float = SEGMENT_S
    segment_bytes: int = SEGMENT_BYTES
    versions: Mapping[str, str] = field(default_factory=dict)
    _stream: ZstdCompressor | None = None
    _began: float = 0.0
    _latest: float | None = None
    _raw: int = 0
    _opening: int = 0
    _written: int = 0
    _marks: list[Mark] = field(default_factory=list)
    _pulses: list[Pulse] = field(default_factory=list)

    def due(self, now: float) -> bool:
        """Whether the next sample begins a segment: by time (Unix seconds), bytes, or a clock that was set back."""
        if self._stream is None or self._raw - self._opening >= max(self.segment_bytes, self._opening):
            return True
        return not 0.0 <= now - self._began < self.segment_s

    def sample(
        self, sample: Sample, now: float, before: State, carry: Carry, *, begins: bool = False
    ) -> Iterator[bytes]:
        """The bytes of a sample; of those of a segment, which `begins` if not for `due`, the first is its opening.

        `before` is the state before the sample, which stands on `carry`. `now` is the recorder's clock (Unix seconds).
        """
        if begins or self.due(now):
            yield from self._open(now, before, carry)
        yield self._record(Kind.SAMPLE, now, pack_sample(sample))

    def note(self, note: Note, now: float) -> Iterator[bytes]:
        """The bytes of notes; none where no segment has begun, which then tells them as what was before it."""
        self._marks += note.marks
        self._pulses += note.pulses
        if self._stream is not None:
            yield self._record(Kind.NOTE, now, pack_note(note))

    def interrupted(self) -> None:
        """Begin anew with the next sample, for what came before it has not become part of this tape."""
        self._stream, self._written, self._latest = None, 0, None
        self._marks, self._pulses = [], []

    def _open(self, now: float, before: State, carry: Carry) -> Iterator[bytes]:
        about = Open(
            FORMAT,
            self.source,
            self.tool,
            self.versions,
            self._written,
            self._latest,
            tuple(self._marks),
            tuple(self._pulses),
        )
        self._marks, self._pulses = [], []
        self._stream, self._began, self._raw, self._written = compressor(), now, 0, 0
        opening = SYNC + packed(Kind.OPEN, now, msgspec.msgpack.encode(about))
        self._written += len(opening)
        yield opening
        yield self._record(Kind.BOOKS, now, books(before))
        for sample in in_order({key: some for key, some in carry.items() if key[0] in before.replicas}):
            yield self._record(Kind.CARRIED, now, pack_sample(sample))
        self._opening = self._raw

    def _record(self, kind: Kind, now: float, raw: bytes) -> bytes:
        stream = self._stream or compressor()
        self._stream = stream
        self._raw += len(raw)
        self._latest = now
        payload = b"".join(stream.compress(piece, mode=ZstdCompressor.FLUSH_BLOCK) for piece in _divided(raw))
        record = packed(kind, now, payload)
        self._written += len(record)
        return record


def _divided(raw: bytes) -> Iterator[bytes]:
    """It in pieces, so that no answer can pass for the beginning of a segment: what packs badly is packed as it is."""
    half = len(SYNC) // 2
    begin = 0
    while (at := raw.find(SYNC, begin)) >= 0:
        yield raw[begin : at + half]
        begin = at + half
    yield raw[begin:]
