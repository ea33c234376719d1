"""What is known from the samples so far and what is shown of it, step by step: live and in replay alike."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import reduce

from apftop.causes import causes
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
from apftop.records.memory import Memory
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint, Sample
from apftop.records.state import State
from apftop.remembering import Counted, History, counted, memory, recalled, tracked
from apftop.trends import Trends, trends

log = logging.getLogger("apftop")

COUNTED = (Endpoint.METRICS, Endpoint.LEVELS)
"""A look ends before one of these is answered again: what is remembered goes by looks, however often they are shown."""


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
    told = sorted(
        (one for some in samples.values() for one in some), key=lambda one: (came(one), one.replica, one.endpoint)
    )
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
    """Samples and simulated results in, moments out: what is shown depends on these alone, not on when it was shown.

    For one thread. `source` names in words where the samples come from; `request_timeout_s` is the servers' flag, if it
    was given. `tell` is given a line for what cannot be done: numbers are shown all the same, checked and explained or
    not.
    """

    def __init__(self, source: str, request_timeout_s: float | None, tell: Callable[[str], None]) -> None:
        self._source, self._request_timeout_s, self._tell = source, request_timeout_s, tell
        self.state = State()
        self._tracks: Tracks = {}
        self._results: Mapping[str, Results] = {}
        self._jobs: Mapping[str, Sequence[Job]] = {}
        self._checked = NONE_YET
        self._kept: Kept = {}
        self._history = History()
        self._counted: Counted = frozenset()
        self._told: Frame | None = None
        self.shown = moment(self.state, 0, source, {}, {}, (), {})
        self._derived = self.state, self.shown.frame
        self._after = self.state, self._history

    def anew(self) -> Deriving:
        """Another one that has heard of nothing yet."""
        return Deriving(self._source, self._request_timeout_s, self._tell)

    def copied(self) -> Deriving:
        """Another one that goes on from here by itself."""
        return copy(self)

    def resume(self, state: State, stands_on: Sequence[Sample], *, checks: bool = True) -> None:
        """Go on from a state that stands on these samples; without `checks` nothing will be checked."""
        self.state = state
        self._kept = reduce(keep, stands_on, {})
        self._tracks = followed({}, state) if checks else {}

    def take(self, sample: Sample, *, looks: bool = True) -> bool:
        """Take in a sample; False where it is so odd that it cannot be. Without `looks` nothing of it is remembered."""
        if looks and sample.endpoint in COUNTED:
            self._look(sample)
        try:
            self.state = observe(self.state, sample)
        except Exception as error:  # noqa: BLE001  one odd answer must not end the rest
            self.fail(f"read {sample.endpoint} of {sample.replica}", error)
            return False
        self._kept = keep(self._kept, sample)
        return True

    @property
    def jobs(self) -> list[Job]:
        """All that is to be simulated."""
        return [job for name in self._tracks for job in self._jobs.get(name, ())]

    def follow(self, sample: Sample) -> list[Job] | None:
        """Remember what checks need of a sample that was taken in; all that is to be simulated, if that has changed."""
        try:
            before, self._tracks = self._tracks, followed(self._tracks, self.state)
            moved = [name for name, track in self._tracks.items() if before.get(name) is not track]
            found = {name: jobs(name, self._tracks[name], self._results.get(name, EMPTY)) for name in moved}
            self._jobs = {**self._jobs, **found}
        except Exception as error:  # noqa: BLE001  numbers are shown, checked or not
            self.fail(f"follow {sample.endpoint} of {sample.replica}", error)
            return None
        return self.jobs if moved else None

    def simulated(self, result: Result) -> None:
        """Take in what was simulated."""
        if (track := self._tracks.get(result.replica)) is not None:
            its = with_result(self._results.get(result.replica, EMPTY), result, track)
            self._results = {**self._results, result.replica: its}

    def glimpse(self, news: tuple[str, ...]) -> Moment:
        """The next moment without what takes longer: checks, findings, trends."""
        self.shown = self._moment({}, news, {}, {})
        return self.shown

    def show(self, plans: Mapping[str, Plan], news: tuple[str, ...]) -> Moment:
        """The next moment; where it cannot be derived, the last frame again."""
        try:
            shown, history = self._whole(plans, news)
            self._after = self.state, history
        except Exception as error:  # noqa: BLE001  what cannot be shown now may be later
            self.fail("derive what to show", error)
            shown = replace(self.shown, number=self.shown.number + 1, plans=plans, news=news)
        self.shown = shown
        return shown

    def memory(self) -> Memory:
        """What the moments after this need of those before it; of frames gone by what no earlier memory has."""
        found = memory(self._history, self._tracks, self._counted, self._told)
        self._told = self._history.causes.past[-1] if self._history.causes.past else None
        return found

    def recall(self, memories: Sequence[Memory]) -> None:
        """Go on as the last of these memories says; the others are those before it, oldest first.

        What a memory says may make no sense here: then it is told, and what comes goes on without.
        """
        try:
            tracks, so_far = tracked(self._tracks, memories[-1]), counted(memories[-1])
            seen = frame(self.state, self._request_timeout_s, before=self._derived)
            history = recalled(memories, seen)
        except Exception as error:  # noqa: BLE001  the samples are shown all the same
            self.fail("use what was remembered", error)
            return
        self._tracks, self._counted, self._history = tracks, so_far, history
        self._derived, self._after = (self.state, seen), (State(), history)

    def forget(self, names: Collection[str]) -> None:
        """Leave out these servers."""
        self.state = State({name: one for name, one in self.state.replicas.items() if name not in names})
        self._kept = {key: samples for key, samples in self._kept.items() if key[0] not in names}
        self._tracks = {name: one for name, one in self._tracks.items() if name not in names}
        self._results = {name: one for name, one in self._results.items() if name not in names}
        self._counted = frozenset(key for key in self._counted if key[0] not in names)

    def fail(self, what: str, error: Exception) -> None:
        """Tell what cannot be done; the log has the rest."""
        log.exception("cannot %s", what)
        self._tell(f"cannot {what}: {type(error).__name__}: see --debug")

    def _look(self, sample: Sample) -> None:
        """Remember the look that ends before this sample, if one does."""
        key = sample.replica, sample.endpoint
        if key in self._counted:
            self._counted = frozenset()
            if self._after[0] is not self.state:
                self.show(self.shown.plans, self.shown.news)
            self._history = self._after[1]
        self._counted |= {key}

    def _whole(self, plans: Mapping[str, Plan], news: tuple[str, ...]) -> tuple[Moment, History]:
        """The moment with what is found in it, and what it leaves for later ones; without findings where they fail."""
        shown = self._moment(plans, news, self._history.trends, self._check())
        try:
            found = causes(self._history.causes, shown.frame, shown.checks, shown.now)
        except Exception as error:  # noqa: BLE001  numbers are shown, explained or not
            self.fail("find causes", error)
            return shown, History(shown.trends)
        return replace(shown, findings=found.found, since=found.since), History(shown.trends, found)

    def _moment(self, plans: Mapping[str, Plan], news: tuple[str, ...], before: Trends, checks: Checks) -> Moment:
        made = moment(
            self.state,
            self.shown.number + 1,
            self._source,
            plans,
            before,
            news,
            self._kept,
            self._request_timeout_s,
            self._derived,
            checks,
        )
        self._derived = self.state, made.frame
        return made

    def _check(self) -> Checks:
        """The checks of what is known now; without those of a moment that cannot be checked."""
        try:
            self._checked = checks_now(self._tracks, self.state, self._results, self._checked)
        except Exception as error:  # noqa: BLE001  numbers are shown, checked or not
            self.fail("check the numbers", error)
            self._checked = NONE_YET
        return self._checked.checks
