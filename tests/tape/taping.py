"""Tapes for tests: samples of a recording as a watching would record them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from apftop.live import observe
from apftop.records.raw import Sample
from apftop.records.state import State
from apftop.tape.file import Bounds, TapeFile
from apftop.tape.segments import Segments
from tests.recording import recordings


@dataclass(frozen=True)
class Seen:
    """A sample and the state after it."""

    sample: Sample
    state: State


def samples(number: int = 0) -> list[Sample]:
    """The samples of a recording of real servers, in the order in which they came."""
    found = recordings()[number].scrapes
    return sorted((one for scrape in found for one in scrape.samples()), key=lambda one: one.received or 0.0)


def record(
    path: Path,
    some: Iterable[Sample],
    *,
    segment_s: float = 10.0,
    bounds: Bounds = Bounds(),  # noqa: B008  frozen
    state: State = State(),  # noqa: B008  frozen
) -> list[Seen]:
    """Record samples, and give them with the states that they made."""
    segments, file = Segments("a test", "0", segment_s), TapeFile(path, bounds)
    seen: list[Seen] = []
    for sample in some:
        now = sample.received or 0.0
        after = observe(state, sample)
        begins = segments.due(now)
        for piece in segments.sample(sample, now, state, after):
            file.write(piece, now, begins=begins)
            begins = False
        state = after
        seen.append(Seen(sample, state))
    file.close()
    return seen
