"""Recording beside everything else: a thread that writes what was taken in to a tape, and to the ring in memory."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from apftop import __version__
from apftop.errors import Trouble
from apftop.records.raw import Sample
from apftop.records.state import State
from apftop.records.tape import Note
from apftop.tape.ring import Ring
from apftop.tape.segments import Segments

log = logging.getLogger("apftop")


class Sink(Protocol):
    """Where the records of a tape go."""

    def write(self, piece: bytes, now: float, *, begins: bool) -> None:
        """Append one record; raises Trouble where it cannot be written, after which nothing more is."""

    def close(self) -> None:
        """Make sure that it is all there."""


@dataclass(frozen=True, slots=True)
class _Sample:
    sample: Sample
    before: State
    after: State
    at: float


@dataclass(frozen=True, slots=True)
class _Note:
    note: Note
    versions: Mapping[str, str]
    at: float


class Recording:
    """Keeps the latest minutes in memory, and with a `sink` all of it. No method but `finish` waits.

    `tell` is given a line where the sink cannot be written on; what is in memory goes on.
    """

    def __init__(self, source: str, tell: Callable[[str], None], sink: Sink | None = None) -> None:
        self._tell, self._sink = tell, sink
        self._segments = Segments(source, __version__)
        self._ring = Ring()
        self._lock = threading.Lock()
        self._inbox: queue.SimpleQueue[_Sample | _Note | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="apftop-tape", daemon=True)
        self.failure = ""

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def sample(self, sample: Sample, before: State, after: State) -> None:
        """Record a sample, which has made of one state the other."""
        self._inbox.put(_Sample(sample, before, after, time.time()))

    def note(self, note: Note, versions: Mapping[str, str]) -> None:
        """Record marks and pulses; `versions` are those of the servers as far as they are known."""
        self._inbox.put(_Note(note, versions, time.time()))

    def ring(self) -> bytes:
        """The latest minutes as a tape."""
        with self._lock:
            return self._ring.tape()

    def close(self) -> None:
        """End once what came so far is written."""
        self._inbox.put(None)

    def finish(self, timeout_s: float) -> None:
        """After a close, wait until all is written, or for so long."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while (item := self._inbox.get()) is not None:
            try:
                self._take(item)
            except Exception as error:
                log.exception("cannot record")
                self._end(f"recording ended: {type(error).__name__}: see --debug")
        if self._sink is not None:
            self._sink.close()

    def _take(self, item: _Sample | _Note) -> None:
        if isinstance(item, _Sample):
            begins = self._segments.due(item.at)
            self._write(self._segments.sample(item.sample, item.at, item.before, item.after), item.at, begins)
        else:
            self._segments.versions = item.versions
            if item.note.marks or item.note.pulses:
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
        if self._sink is not None:
            self._sink.close()
            self._sink = None
            self.failure = why
            self._tell(why)
