"""A tape gone through: what is known at each place of it, whichever way one has come there."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

from apftop.deriving import Deriving
from apftop.records.memory import Memory
from apftop.records.tape import Note
from apftop.reel import Place, Reel
from apftop.remembering import needed_from

MOST_BEFORE_S = 900.0
"""Where a tape has no memory, what came so long before a place may count; what was found then is no older."""

CLOSE_S = 10.0
"""Going on from another place is quicker than from a memory where it is no farther off."""

COURSES_KEPT = 24
"""So many places of the last ones that were gone through are kept with all that is known there."""

BESIDE_S = 5.0
"""Answers were taken in by so long after they came; dumps count beside metrics that came so long after them."""


@dataclass
class Course:
    """What is known at a place. It is `settled` once it is all that was known then, however long before that began."""

    reel: Reel
    deriving: Deriving
    place: Place
    settled: bool

    def copied(self) -> Course:
        """Another one that goes on from here by itself."""
        found = copy(self)
        found.deriving = self.deriving.copied()
        return found

    def forth(self, *, looks: bool = True, checks: bool = True) -> bool:
        """Take in what comes next; False at the end.

        Without `looks` nothing is remembered of it for later moments, without `checks` nor for checks.
        """
        found = self.reel.following(self.place)
        if found is None:
            return False
        place, one = found
        if place.segment != self.place.segment and not self.reel.goes_on(place.segment):
            self.resume(place.segment)
        self.place = place
        if isinstance(one.what, Note):
            self.deriving.forget(one.what.forgotten)
            if one.what.memory is not None and not self.settled and looks:
                self.recall()
        elif self.deriving.take(one.what, looks=looks) and checks:
            self.deriving.follow(one.what)
        return True

    def resume(self, segment: int) -> None:
        """Begin again with the state that a segment begins with."""
        opening = self.reel.tape.opening(segment)
        self.deriving = self.deriving.anew()
        self.deriving.resume(*opening)
        # Who has heard of no server yet has forgotten none.
        self.settled = not opening[0].replicas and not self.reel.tape.goes_on(segment)

    def recall(self) -> None:
        """Know what the last memory knows, which is here."""
        self.deriving.recall(_memories(self.reel, self.place))
        self.settled = True


class Passed:
    """The places of the last ones that were gone through at which a look ends, with all that is known there."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Place, Course] = OrderedDict()

    def nearest(self, place: Place) -> Course | None:
        """What is known at the last of them before a place, or at it."""
        return max((one for one in self._kept.values() if one.place <= place), key=lambda one: one.place, default=None)

    def keep(self, course: Course) -> None:
        """Keep what is known at a place, if a look ends there."""
        if not course.reel.ends_look(course.place):
            return
        if course.place not in self._kept:
            self._kept[course.place] = course.copied()
        self._kept.move_to_end(course.place)
        while len(self._kept) > COURSES_KEPT:
            self._kept.popitem(last=False)


def beginning(reel: Reel, segment: int, deriving: Deriving) -> Course:
    """At the beginning of a segment, with the state that it begins with; `deriving` gives its settings alone."""
    course = Course(reel, deriving, Place(segment, 0), False)
    course.resume(segment)
    return course


def course_to(
    reel: Reel,
    place: Place,
    deriving: Deriving,
    nearest: Course | None = None,
    *,
    left: Callable[[], bool] = bool,
    passed: Callable[[Course], object] = bool,
) -> Course | None:
    """All that was known at a place; `left` is asked on the way whether to give up, and then it is None.

    It begins with the last memory before the place, or with `nearest`, an earlier place, where that is no farther off.
    What is known on the way is told to `passed`, which may copy it.
    """
    memory = _last_memory(reel, place)
    if nearest is not None and (
        memory is None or nearest.place >= memory[0] or 0 <= reel.at(place) - reel.at(nearest.place) <= CLOSE_S
    ):
        course = nearest.copied()
    else:
        course = beginning(reel, _begin(reel, place, memory), deriving)
        if memory is not None and not _remember(course, *memory, left):
            return None
    while course.place < place:
        if left() or not course.forth():
            return None
        passed(course)
    return course


def _remember(course: Course, place: Place, its: Memory, left: Callable[[], bool]) -> bool:
    """Go to the place of a memory, and know what it knows; False to give up."""
    since = needed_from(its)
    while course.place < place:
        following = course.reel.following(course.place)
        beside = since is not None and following is not None and following[1].at >= since - BESIDE_S
        if left() or not course.forth(looks=False, checks=beside):
            return False
    course.recall()
    return True


def _last_memory(reel: Reel, place: Place) -> tuple[Place, Memory] | None:
    """The last memory before a place, and the place behind it."""
    for segment in range(place.segment, -1, -1):
        found = [one for one in reel.memories(segment) if one[0] <= place]
        if found:
            return found[-1]
        if not reel.goes_on(segment) or _began_s(reel, place) - reel.tape.segments[segment].began > MOST_BEFORE_S:
            break
    return None


def _memories(reel: Reel, place: Place) -> list[Memory]:
    """The last memory before a place, and before it those that have the rest of its past; oldest first."""
    found: list[Memory] = []
    for segment in range(place.segment, -1, -1):
        found += [one for behind, one in reversed(reel.memories(segment)) if behind <= place]
        enough = bool(found) and sum(len(one.past) for one in found) >= found[0].kept
        if enough or not reel.goes_on(segment):
            break
    return found[::-1]


def _begin(reel: Reel, place: Place, memory: tuple[Place, Memory] | None) -> int:
    """The segment to begin with, so that all is known at a place that was known then."""
    if memory is None:
        segment, limit = place.segment, _began_s(reel, place) - MOST_BEFORE_S
    else:
        since = needed_from(memory[1])
        segment, limit = memory[0].segment, float("inf") if since is None else since - BESIDE_S
    while reel.tape.segments[segment].began > limit and reel.goes_on(segment):
        segment -= 1
    return segment


def _began_s(reel: Reel, place: Place) -> float:
    return reel.tape.segments[place.segment].began
