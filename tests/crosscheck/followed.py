"""A run, followed as live polling follows it: after each round what is remembered, and what checks make of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from apftop.check.checks import checked
from apftop.check.point import Track
from apftop.check.track import followed
from apftop.check.window import LevelWindow, level_window, window
from apftop.live import observe
from apftop.records.checks import Check, ReplicaChecks
from apftop.records.state import State
from apftop.rules import rules
from tests.crosscheck.runs import Run


@dataclass(frozen=True)
class Step:
    """One round of one replica: what is remembered after it, and the checks."""

    run: str
    replica: str
    t: float
    track: Track
    checks: ReplicaChecks

    @property
    def whole(self) -> bool:
        """Whether the window is as long as it should be."""
        points = window(self.track)
        first, last = points[0].metrics.time, points[-1].metrics.time
        return first is not None and last is not None and last - first >= rules().check.window_s

    def level(self, name: str) -> LevelWindow | None:
        return level_window(name, window(self.track), self.track.born)

    def all(self) -> Iterator[tuple[str, Check]]:
        """All checks with the level that they are about; of the whole server it is empty."""
        yield from (("", check) for check in self.checks.checks)
        for name, level in self.checks.levels.items():
            yield from ((name, check) for check in level.checks)

    def off(self) -> set[tuple[str, str]]:
        """The level and law of those that are off."""
        return {(name, check.law) for name, check in self.all() if check.verdict == "off"}


def follow(run: Run) -> Iterator[Step]:
    """The steps of a run, in order of time."""
    state, tracks = State(), dict[str, Track]()
    for one in run.rounds:
        for sample in one.samples:
            state = observe(state, sample)
            tracks = followed(tracks, state)
        if track := tracks.get(one.replica):
            yield Step(run.name, one.replica, one.t, track, checked(track))
