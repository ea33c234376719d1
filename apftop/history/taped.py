"""Answers out of a store as a tape in memory, so that they are gone through as any other one."""

from __future__ import annotations

from collections.abc import Iterable

from apftop import __version__
from apftop.live import observe
from apftop.records.raw import Sample
from apftop.records.state import State
from apftop.tape.carry import Carry, Numbered, carried
from apftop.tape.found import FIRST
from apftop.tape.reading import Tape
from apftop.tape.segments import Segments


def taped(samples: Iterable[Sample], source: str) -> Tape:
    """A tape of samples in order of their times, of which there is one at least; `source` says whose they are."""
    segments, state = Segments(source, __version__), State()
    carry: Carry = {}
    pieces = [FIRST]
    for number, sample in enumerate(samples):
        after = observe(state, sample)
        pieces += segments.sample(sample, sample.received or 0.0, state, carry)
        carry = carried(carry, Numbered(number, sample), state, after)
        state = after
    return Tape([b"".join(pieces)], source)
