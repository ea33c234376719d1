"""A tape gone through without a screen: its moments one after another, as they were seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from apftop.course import Course, course_to
from apftop.deriving import Deriving
from apftop.records.moment import Moment, Replayed
from apftop.reel import Reel
from apftop.tape.reading import Tape


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

    `tell` is given a line for what cannot be derived.
    """
    reel = Reel(tape)
    course = course_to(reel, reel.place(first), Deriving(tape.about.source, request_timeout_s, tell))
    if course is None:
        return
    for at in _times(first, last, every_s):
        while (found := reel.following(course.place)) is not None and found[1].at <= at:
            course.forth()
        yield _shown(course, at)


def _times(first: float, last: float, every_s: float) -> Iterator[float]:
    number = 0
    while (at := first + number * every_s) < last:
        yield at
        number += 1
    yield last


def _shown(course: Course, at: float) -> Moment:
    reel = course.reel
    shown = course.deriving.show({}, tuple(reel.tape.problems))
    return replace(shown, replayed=Replayed(at, reel.first, reel.last, 0.0, whole=True))
