"""What is seen live and recorded at once, and what a replay shows of it: held against each other."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from apftop.access import Access
from apftop.check.band import LAW
from apftop.course import course_to
from apftop.deriving import Deriving
from apftop.records.asking import Demand
from apftop.records.checks import Check, Checks, LevelChecks
from apftop.records.moment import Moment, Replayed
from apftop.records.raw import Endpoint, Sample
from apftop.records.state import State
from apftop.records.tape import Note
from apftop.reel import Place, Reel
from apftop.replaying import Replaying
from apftop.tape.file import Bounds, TapeFile
from apftop.tape.reading import Tape
from apftop.watching import Watching
from tests.gathering import PATIENCE_S, Gathered


@dataclass(frozen=True)
class Lived:
    """A moment as it was seen, after so many samples and notes."""

    records: int
    moment: Moment


@dataclass
class Seeing:
    """A watching that is recorded, and the moments that it gave."""

    watching: Watching
    gathered: Gathered[Lived] = field(default_factory=lambda: Gathered(lambda one: one.moment.number))

    @property
    def lived(self) -> list[Lived]:
        """The moments so far."""
        return self.gathered.taken

    def until(self, holds: Callable[[Moment], object]) -> Moment:
        """The first moment from now on of which something holds."""
        return self.gathered.until(lambda one: holds(one.moment)).moment


@contextmanager
def seeing(
    ways: Sequence[Access],
    path: Path,
    demand: Demand = Demand(1.0),  # noqa: B008  frozen
    *,
    discover: bool = False,
    bounds: Bounds = Bounds(),  # noqa: B008  frozen
) -> Iterator[Seeing]:
    """Watch and record during the block; after it all is on the tape."""
    records = 0

    def take(moment: Moment) -> None:
        seen.gathered.take(Lived(records, moment))

    watching = Watching(
        ways,
        discover=discover,
        source="a test",
        request_timeout_s=None,
        on_moment=take,
        demand=demand,
        sink=TapeFile(path, bounds),
    )
    recording = watching.recording
    write_sample, write_note = recording.sample, recording.note

    def sample(one: Sample, before: State, after: State) -> None:
        nonlocal records
        records += 1
        write_sample(one, before, after)

    def note(one: Note, versions: Mapping[str, str]) -> None:
        nonlocal records
        records += one != Note()
        write_note(one, versions)

    vars(recording).update(sample=sample, note=note)
    seen = Seeing(watching)
    watching.start()
    try:
        yield seen
    finally:
        watching.stop()
        watching.finish(PATIENCE_S)


def places(reel: Reel) -> list[Place]:
    """The places of a tape, behind each of its samples and notes, in order."""
    numbers = range(len(reel.tape.segments))
    return [Place(segment, number + 1) for segment in numbers for number in range(len(reel.taken(segment)))]


def at_place(reel: Reel, place: Place) -> Moment:
    """The moment at a place, come to by the shortest way."""
    course = course_to(reel, place, Deriving("a test", None, print))
    assert course is not None
    return course.deriving.show({}, ())


def all_through(reel: Reel, wanted: Sequence[Place]) -> list[Moment]:
    """The moments at places, gone through from the beginning of the tape."""
    course = course_to(reel, Place(0, 0), Deriving("a test", None, print))
    assert course is not None
    found = []
    for place in wanted:
        while course.place < place:
            assert course.forth()
        found.append(course.deriving.copied().show({}, ()))
    return found


def differences(one: Moment, other: Moment) -> list[str]:
    """What of two moments is not alike; but for number, plans, news, and what is simulated.

    Of samples that were overtaken while they waited for the screen it keeps them as it would have kept them later.
    """
    named = {
        "frame": (one.frame, other.frame),
        "checks": (_told(one.checks), _told(other.checks)),
        "findings": (one.findings, other.findings),
        "since": (one.since, other.since),
        "trends": (one.trends, other.trends),
        "now": (one.now, other.now),
        "samples": (_read(one), _read(other)),
    }
    return [name for name, (mine, its) in named.items() if mine != its]


def _read(moment: Moment) -> list[Sample]:
    return [one for one in moment.samples if one.endpoint is not Endpoint.DISCOVERY]


def _told(checks: Checks) -> dict[str, object]:
    return {
        name: (one.checks, {level: _unsimulated(its) for level, its in one.levels.items()})
        for name, one in checks.items()
    }


def _unsimulated(one: LevelChecks) -> LevelChecks:
    return replace(one, checks=tuple(filter(_counted, one.checks)), prediction=None, starts={})


def _counted(check: Check) -> bool:
    return check.law != LAW


class Shown:
    """A replay, and what it shows."""

    def __init__(self, tape: Tape) -> None:
        self._moments: queue.SimpleQueue[Moment] = queue.SimpleQueue()
        self.replaying = Replaying(tape, on_moment=self._moments.put)
        self.replaying.start()

    def whole(self, holds: Callable[[Replayed], bool] = lambda _: True) -> Moment:
        """The next whole moment whose position holds."""
        ends = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends:
            found = self._moments.get(timeout=PATIENCE_S)
            if found.replayed is not None and found.replayed.whole and holds(found.replayed):
                return found
        raise AssertionError("nothing is shown")
