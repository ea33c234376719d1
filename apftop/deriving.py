"""What is known from the samples so far and what is shown of it, step by step: live and in replay alike."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from apftop.causes import Causes, causes
from apftop.check.band import EMPTY, Results, with_result
from apftop.check.checks import NONE_YET, checks_now
from apftop.check.runs import Job, Result, jobs
from apftop.check.track import Tracks, followed
from apftop.derive.frame import frame
from apftop.kept import Kept, came, keep
from apftop.live import observe
from apftop.records.asking import Plan
from apftop.records.checks import Checks
from apftop.records.frame import Frame
from apftop.records.moment import Moment
from apftop.records.raw import Sample
from apftop.records.state import State
from apftop.trends import Trends, trends

log = logging.getLogger("apftop")


def moment(
    state: State,
    number: int,
    source: str,
    plans: Mapping[str, Plan],
    before: Trends,
    news: tuple[str, ...],
    samples: Kept,
    request_timeout_s: float | None = None,
    derived: tuple[State, Frame] | None = None,
    checks: Checks | None = None,
) -> Moment:
    """The moment of what is known now, pure: wherever the samples come from.

    `before` are the trends up to now, `derived` an earlier state with its frame, which spares work. `checks` lie
    beside the frame.
    """
    seen = frame(state, request_timeout_s, before=derived)
    told = sorted((one for some in samples.values() for one in some), key=came)
    return Moment(
        frame=seen,
        number=number,
        source=source,
        now=max(map(came, told), default=0.0),
        plans=plans,
        trends=trends(before, seen),
        news=news,
        checks=checks or {},
        samples=tuple(told),
    )


class Deriving:
    """Samples and simulated results in, moments out. For one thread.

    `source` names in words where the samples come from; `request_timeout_s` is the servers' flag, if it was given.
    `tell` is given a line for what cannot be done: numbers are shown all the same, checked and explained or not.
    """

    def __init__(self, source: str, request_timeout_s: float | None, tell: Callable[[str], None]) -> None:
        self._source, self._request_timeout_s, self._tell = source, request_timeout_s, tell
        self.state = State()
        self._tracks: Tracks = {}
        self._results: dict[str, Results] = {}
        self._jobs: dict[str, list[Job]] = {}
        self._checked = NONE_YET
        self._kept: Kept = {}
        self._causes = Causes()
        self.shown = moment(self.state, 0, source, {}, {}, (), {})
        self._derived = self.state, self.shown.frame

    def resume(self, state: State, stands_on: Sequence[Sample]) -> None:
        """Go on from a state that stands on these samples."""
        self.state = state
        self._kept = reduce(keep, stands_on, {})
        self._tracks = followed({}, state)

    def take(self, sample: Sample) -> bool:
        """Take in a sample; False where it is so odd that it cannot be."""
        try:
            self.state = observe(self.state, sample)
        except Exception as error:  # noqa: BLE001  one odd answer must not end the rest
            self.fail(f"read {sample.endpoint} of {sample.replica}", error)
            return False
        self._kept = keep(self._kept, sample)
        return True

    def follow(self, sample: Sample) -> list[Job] | None:
        """Remember what checks need of a sample that was taken in; all that is to be simulated, if that has changed."""
        try:
            before, self._tracks = self._tracks, followed(self._tracks, self.state)
            moved = [name for name, track in self._tracks.items() if before.get(name) is not track]
            for name in moved:
                self._jobs[name] = jobs(name, self._tracks[name], self._results.get(name, EMPTY))
        except Exception as error:  # noqa: BLE001  numbers are shown, checked or not
            self.fail(f"follow {sample.endpoint} of {sample.replica}", error)
            return None
        return [job for name in self._tracks for job in self._jobs.get(name, ())] if moved else None

    def simulated(self, result: Result) -> None:
        """Take in what was simulated."""
        if (track := self._tracks.get(result.replica)) is not None:
            self._results[result.replica] = with_result(self._results.get(result.replica, EMPTY), result, track)

    def show(self, plans: Mapping[str, Plan], news: tuple[str, ...]) -> Moment:
        """The next moment; where it cannot be derived, the last frame again."""
        number = self.shown.number + 1
        try:
            shown = moment(
                self.state,
                number,
                self._source,
                plans,
                self.shown.trends,
                news,
                self._kept,
                self._request_timeout_s,
                self._derived,
                self._check(),
            )
            self._derived = self.state, shown.frame
            shown = self._find(shown)
        except Exception as error:  # noqa: BLE001  what cannot be shown now may be later
            self.fail("derive what to show", error)
            shown = replace(self.shown, number=number, plans=plans, news=news)
        self.shown = shown
        return shown

    def forget_others(self, names: Collection[str]) -> bool:
        """Leave out all servers but these; whether there were others."""
        if self.state.replicas.keys() <= set(names):
            return False
        self.state = State({name: one for name, one in self.state.replicas.items() if name in names})
        self._kept = {key: samples for key, samples in self._kept.items() if key[0] in names}
        self._tracks = {name: one for name, one in self._tracks.items() if name in names}
        self._results = {name: one for name, one in self._results.items() if name in names}
        return True

    def fail(self, what: str, error: Exception) -> None:
        """Tell what cannot be done; the log has the rest."""
        log.exception("cannot %s", what)
        self._tell(f"cannot {what}: {type(error).__name__}: see --debug")

    def _check(self) -> Checks:
        """The checks of what is known now; without those of a moment that cannot be checked."""
        try:
            self._checked = checks_now(self._tracks, self.state, dict(self._results), self._checked)
        except Exception as error:  # noqa: BLE001  numbers are shown, checked or not
            self.fail("check the numbers", error)
            self._checked = NONE_YET
        return self._checked.checks

    def _find(self, shown: Moment) -> Moment:
        """The moment with what is found in it; without findings where they fail."""
        try:
            self._causes = causes(self._causes, shown.frame, shown.checks, shown.now)
        except Exception as error:  # noqa: BLE001  numbers are shown, explained or not
            self.fail("find causes", error)
            self._causes = Causes()
        return replace(shown, findings=self._causes.found, since=self._causes.since)
