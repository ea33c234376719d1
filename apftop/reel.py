"""A tape as it is gone through: its places, and what lies beside them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from apftop.records.memory import Memory
from apftop.records.raw import Sample
from apftop.records.tape import Note
from apftop.tape.reading import Taken, Tape

SEGMENTS_KEPT = 3

TOGETHER_S = 0.05
"""Samples that came so close to one another are of one look."""


class Place(NamedTuple):
    """Behind so many samples and notes of a segment."""

    segment: int
    number: int


@dataclass(frozen=True, slots=True)
class _Beside:
    """What a segment tells beside its samples: memories, and when its last sample or note came."""

    memories: tuple[tuple[Place, Memory], ...]
    ended: float


class Reel:
    """A tape, of which the segments that were read last are at hand."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self._taken: OrderedDict[int, tuple[Taken, ...]] = OrderedDict()
        self._told: dict[int, _Beside] = {}

    @property
    def first(self) -> float:
        """The earliest time on the tape (Unix seconds, the recorder's clock)."""
        return min(one.began for one in self.tape.segments)

    @property
    def last(self) -> float:
        """The latest one."""
        return max(one.ended for one in self.tape.segments)

    def taken(self, segment: int) -> tuple[Taken, ...]:
        """The samples and notes of a segment."""
        if segment not in self._taken:
            self._taken[segment] = tuple(self.tape.taken(segment))
            while len(self._taken) > SEGMENTS_KEPT:
                self._taken.popitem(last=False)
        self._taken.move_to_end(segment)
        return self._taken[segment]

    def memories(self, segment: int) -> tuple[tuple[Place, Memory], ...]:
        """The memories in a segment, each with the place behind it."""
        return self._beside(segment).memories

    def goes_on(self, segment: int) -> bool:
        """Whether a segment goes on where the one before it ended: by one recorder, and nothing between is lost."""
        told = self.tape.segments[segment].open.before_ended
        return self.tape.goes_on(segment) and self._beside(segment - 1).ended == told

    def _beside(self, segment: int) -> _Beside:
        if segment not in self._told:
            # Not to be kept at hand for this.
            taken = self._taken.get(segment) or tuple(self.tape.taken(segment))
            memories = tuple(
                (Place(segment, number), one.what.memory)
                for number, one in enumerate(taken, 1)
                if isinstance(one.what, Note) and one.what.memory is not None
            )
            self._told[segment] = _Beside(memories, taken[-1].at if taken else self.tape.segments[segment].began)
        return self._told[segment]

    def place(self, at: float) -> Place:
        """Behind the last sample that came by a time; where the clock was set back, the later one of two."""
        segments = self.tape.segments
        segment = next((number for number in reversed(range(len(segments))) if segments[number].began <= at), 0)
        taken = self.taken(segment)
        return Place(segment, next((number for number in range(len(taken), 0, -1) if taken[number - 1].at <= at), 0))

    def at(self, place: Place) -> float:
        """When what is right before a place came; at the beginning of a segment, when that began."""
        taken = self.taken(place.segment)
        return taken[place.number - 1].at if place.number else self.tape.segments[place.segment].began

    def ends_look(self, place: Place) -> bool:
        """Whether no other sample came together with the one that is right before a place."""
        at, following = self.at(place), self.following(place)
        while following is not None and isinstance(following[1].what, Note):
            following = self.following(following[0])
        return following is None or following[1].at - at > TOGETHER_S

    def following(self, place: Place) -> tuple[Place, Taken] | None:
        """What comes next, and the place behind it; None at the end."""
        segment, index = place
        while index >= len(self.taken(segment)):
            segment, index = segment + 1, 0
            if segment >= len(self.tape.segments):
                return None
        return Place(segment, index + 1), self.taken(segment)[index]

    def before(self, place: Place) -> Iterator[tuple[Place, Taken]]:
        """What came before a place, the latest first, each with the place behind it."""
        for segment in range(place.segment, -1, -1):
            taken = self.taken(segment)
            for index in range(place.number if segment == place.segment else len(taken), 0, -1):
                yield Place(segment, index), taken[index - 1]

    def later(self, place: Place, looks: int) -> Place:
        """Behind the last answer of a look so many looks later."""
        while looks and (found := self.following(place)) is not None:
            place = found[0]
            if isinstance(found[1].what, Sample) and self.ends_look(place):
                looks -= 1
        return place

    def earlier(self, place: Place, looks: int) -> Place:
        """Behind the last answer of a look so many looks earlier."""
        looks += 1
        found = place
        for found, one in self.before(place):
            if isinstance(one.what, Sample) and (looks := looks - self.ends_look(found)) <= 0:
                break
        return found
