"""Samples looked at as a watching does it, and recorded, without a clock: what comes of them is always the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from apftop.deriving import Deriving
from apftop.noting import Noted, noted
from apftop.records.moment import Moment
from apftop.records.raw import Sample
from apftop.records.tape import Mark, Note
from apftop.tape.carry import Carry, Numbered, carried
from apftop.tape.file import TapeFile
from apftop.tape.segments import Segments
from tests.replay.seeing import Lived
from tests.tape.taping import samples


@dataclass(frozen=True)
class Forgotten:
    """Servers that are asked no more."""

    names: tuple[str, ...]


def live(
    path: Path,
    events: Iterable[Sample | Forgotten],
    *,
    segment_s: float = 10.0,
    every: int = 3,
    memory_s: float = 7.0,
    deriving: Deriving | None = None,
) -> list[Lived]:
    """The moments after each `every` of these, which are recorded with their notes and memories."""
    file, segments = TapeFile(path), Segments("a test", "0", segment_s)
    deriving = deriving or Deriving("a test", None, print)
    carry: Carry = {}
    so_far, records, found, remembered, now = Noted(), 0, list[Lived](), 0.0, 0.0
    for number, one in enumerate(events, 1):
        forgotten: tuple[str, ...] = ()
        if isinstance(one, Forgotten):
            forgotten = one.names
            deriving.forget(one.names)
        else:
            now = one.received or 0.0
            before, taken = deriving.state, deriving.take(one)
            begins = segments.due(now)
            for piece in segments.sample(one, now, before, carry, begins=begins):
                file.write(piece, now, begins=begins)
                begins = False
            carry = carried(carry, Numbered(records, one), before, deriving.state)
            records += 1
            if taken:
                deriving.follow(one)
        if number % every and not forgotten:
            continue
        shown = deriving.show({}, ())
        so_far, note = noted(so_far, shown, forgotten)
        if abs(now - remembered) >= memory_s:
            remembered = now
            note = replace(note, memory=deriving.memory())
        if note != Note():
            records += 1
            for piece in segments.note(note, now):
                file.write(piece, now, begins=False)
        found.append(Lived(records, shown))
    file.close()
    return found


def later(some: Sequence[Sample], seconds: float) -> list[Sample]:
    """The same answers at another time."""
    return [
        replace(one, sent=(one.sent or 0.0) + seconds, received=(one.received or 0.0) + seconds, origin="")
        for one in some
    ]


def interrupted_for(path: Path, seconds: float) -> Path:
    """A tape of a few seconds, and of the same ones so much later."""
    some = samples()[:60]
    live(path, later(some, 0.0))
    live(path, later(some, seconds))
    return path


def notes(moments: Sequence[Moment]) -> Iterator[Note]:
    """What is noted of moments one after another."""
    so_far = Noted()
    for one in moments:
        so_far, note = noted(so_far, one)
        yield note


def marks(moments: Sequence[Moment]) -> list[Mark]:
    """The marks of moments one after another."""
    return [mark for note in notes(moments) for mark in note.marks]
