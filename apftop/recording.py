"""Recording beside everything else: a thread that writes what was taken in to a tape, and to the ring in memory."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from apftop import __version__
from apftop.errors import Trouble
from apftop.records.raw import Sample
from apftop.records.state import State
from apftop.records.tape import Mark, Note
from apftop.tape.carry import Carry, Numbered, carried
from apftop.tape.ring import Ring
from apftop.tape.segments import Segments

log = logging.getLogger("apftop")

MOST_WAITING_BYTES = 32 << 20
"""So much may wait for a slow disk; what is more is left out and marked. Three servers say that much in a minute."""


class Sink(Protocol):
    """Where the records of a tape go."""

    def write(self, piece: bytes, now: float, *, begins: bool) -> None:
        """Append one record; raises Trouble where it cannot be written, after which nothing more is."""

    def full(self, now: float) -> bool:
        """Whether a segment should begin with the next record, whose time this is (Unix seconds)."""

    def close(self) -> None:
        """Make sure that it is all there; raises Trouble where that is not known."""


@dataclass(frozen=True, slots=True)
class _Lost:
    """So many samples in a row, and when the first and the last came (Unix seconds)."""

    count: int
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class _Sample:
    sample: Sample
    before: State
    carry: Carry
    lost: _Lost | None
    at: float


@dataclass(frozen=True, slots=True)
class _Note:
    note: Note
    versions: Mapping[str, str]
    at: float


class Recording:
    """Keeps the latest minutes in memory, and with a `sink` all of it. No method but `finish` waits.

    `tell` is given a line where the sink cannot be written on, which is `failure` then; what is in memory goes on.
    `answered` are the servers of which there is a good answer.
    """

    def __init__(self, source: str, tell: Callable[[str], None], sink: Sink | None = None) -> None:
        self._tell, self._sink = tell, sink
        self._segments = Segments(source, __version__)
        self._ring = Ring()
        self._lock = threading.Lock()
        self._inbox: queue.SimpleQueue[_Sample | _Note | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="apftop-tape", daemon=True)
        self._carry: Carry = {}
        self._taken = 0
        self._put_bytes, self._done_bytes = 0, 0
        self._lost: _Lost | None = None
        self.answered: frozenset[str] = frozenset()
        self.failure = ""

    @property
    def ended(self) -> bool:
        """Whether all is written that came before it was closed."""
        return not self._thread.is_alive()

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def sample(self, sample: Sample, before: State, after: State) -> None:
        """Record a sample, which has made of one state the other."""
        now, carry = time.time(), self._carry
        self._carry = carried(carry, Numbered(self._taken, sample), before, after)
        self._taken += 1
        if sample.ok and sample.status is not None and sample.replica not in self.answered:
            self.answered |= {sample.replica}
        # Each counter has one thread that writes it.
        waiting = self._put_bytes - self._done_bytes
        # Half of it has to be written before more is kept: each gap costs a segment's opening.
        most = MOST_WAITING_BYTES if self._lost is None else MOST_WAITING_BYTES // 2
        if waiting and waiting + len(sample.body) > most:
            self._lose(now)
            return
        self._put_bytes += len(sample.body)
        self._inbox.put(_Sample(sample, before, carry, self._lost, now))
        self._lost = None

    def note(self, note: Note, versions: Mapping[str, str]) -> None:
        """Record marks and pulses; `versions` are those of the servers as far as they are known."""
        if self._lost is not None:
            # What is to be begun from would not be there.
            note = replace(note, memory=None)
        self._inbox.put(_Note(note, versions, time.time()))

    def ring(self) -> bytes:
        """The latest minutes as a tape."""
        with self._lock:
            return self._ring.tape()

    def close(self) -> None:
        """End once what came so far is written."""
        if self._lost is not None:
            self._inbox.put(_Note(Note((_mark(self._lost),)), {}, time.time()))
        self._inbox.put(None)

    def finish(self, timeout_s: float) -> None:
        """After a close, wait until all is written, or for so long."""
        self._thread.join(timeout_s)

    def _lose(self, now: float) -> None:
        was = self._lost
        if was is None:
            self._tell("the disk is too slow for the tape: samples are left out, which is marked on it")
        self._lost = _Lost(1, now, now) if was is None else _Lost(was.count + 1, was.first, now)

    def _run(self) -> None:
        while (item := self._inbox.get()) is not None:
            try:
                self._take(item)
            except Exception as error:
                log.exception("cannot record")
                self._segments.interrupted()
                self._end(f"recording ended: {type(error).__name__}: see --debug")
            if isinstance(item, _Sample):
                self._done_bytes += len(item.sample.body)
        self._close()

    def _take(self, item: _Sample | _Note) -> None:
        if isinstance(item, _Sample):
            if item.lost is not None:
                self._segments.interrupted()
            begins = self._segments.due(item.at) or (self._sink is not None and self._sink.full(item.at))
            self._write(
                self._segments.sample(item.sample, item.at, item.before, item.carry, begins=begins), item.at, begins
            )
            if item.lost is not None:
                self._write(self._segments.note(Note((_mark(item.lost),)), item.at), item.at, False)
        else:
            self._segments.versions = item.versions or self._segments.versions
            if item.note != Note():
                self._write(self._segments.note(item.note, item.at), item.at, False)

    def _write(self, pieces: Iterable[bytes], now: float, begins: bool) -> None:
        for piece in pieces:
            with self._lock:
                self._ring.write(piece, now, begins=begins)
            if self._sink is not None:
                try:
                    self._sink.write(piece, now, begins=begins)
                except Trouble as error:
                    self._end(str(error))
            begins = False

    def _end(self, why: str) -> None:
        """Write to the sink no more."""
        if self._sink is not None and not self.failure:
            self.failure = why
            self._tell(why)
        self._close()

    def _close(self) -> None:
        sink, self._sink = self._sink, None
        if sink is None:
            return
        try:
            sink.close()
        except Trouble as error:
            if not self.failure:
                self.failure = str(error)
                self._tell(self.failure)


def _mark(lost: _Lost) -> Mark:
    text = f"{lost.count} samples of {lost.last - lost.first:.0f} s are not on this tape: the disk was too slow"
    return Mark(lost.first, "recording", text)
