"""A tape gone through without a screen: its moments one after another, as they were seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from apftop.deriving import Deriving
from apftop.records.moment import Moment, Replayed
from apftop.records.raw import Sample
from apftop.records.tape import Note
from apftop.tape.reading import Taken, Tape

WARM_SEGMENTS = 1
"""So many segments before the first moment are gone through, for what was found then and since when."""


WARM_EVERY_S = 2.0
"""While that is done a moment is derived for each so many seconds of the tape."""


def take(deriving: Deriving, one: Taken) -> bool:
    """Take in what was taken in then; whether it was a sample that could be."""
    if isinstance(one.what, Note):
        if left := {mark.replica for mark in one.what.marks if mark.kind == "left"}:
            deriving.forget_others([name for name in deriving.state.replicas if name not in left])
        return False
    return deriving.take(one.what)


def first_warm(tape: Tape, number: int) -> int:
    """The segment to begin with so that all is known in another one that was known then."""
    start = number
    while start > number - WARM_SEGMENTS and tape.goes_on(start):
        start -= 1
    return start


def moments(
    tape: Tape,
    first: float,
    last: float,
    every_s: float,
    *,
    request_timeout_s: float | None = None,
    tell: Callable[[str], None],
) -> Iterator[Moment]:
    """The moments of a tape from a time on, so many seconds apart, and that of the last time (Unix seconds).

    Moments before the first one are derived too, as far as what was found depends on them. `tell` is given a line for
    what cannot be derived.
    """
    begin = first_warm(tape, tape.segment_at(first))
    deriving = Deriving(tape.about.source, request_timeout_s, tell)
    times = _times(tape.segments[begin].began, first, last, every_s)
    due, wanted = next(times)
    for number in range(begin, tape.segment_at(last) + 1):
        if number == begin or not tape.goes_on(number):
            deriving = Deriving(tape.about.source, request_timeout_s, tell)
            deriving.resume(*tape.opening(number))
        for one in tape.taken(number):
            while one.at > due:
                shown = _shown(deriving, tape, due)
                if wanted:
                    yield shown
                if due >= last:
                    return
                due, wanted = next(times)
            if take(deriving, one) and isinstance(one.what, Sample):
                deriving.follow(one.what)
    # What came last counts for all later times.
    yield _shown(deriving, tape, last)


def _times(begin: float, first: float, last: float, every_s: float) -> Iterator[tuple[float, bool]]:
    """When moments are derived, and which of them are wanted; the last one comes last."""
    at = begin + WARM_EVERY_S
    while at < first:
        yield at, False
        at += WARM_EVERY_S
    at = first
    while at < last:
        yield at, True
        at += every_s
    yield last, True


def _shown(deriving: Deriving, tape: Tape, at: float) -> Moment:
    start, end = tape.span
    return replace(deriving.show({}, tuple(tape.problems)), replayed=Replayed(at, start, end, 0.0, whole=True))
