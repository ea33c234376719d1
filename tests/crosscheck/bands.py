"""How well bands of runs hold what is observed, how wide they are, and what they catch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from apftop.apf.forecast import Trial
from apftop.check.band import Results, band_check, prediction, with_result
from apftop.check.load import seen_requests
from apftop.check.missing import Missing
from apftop.check.point import Point, Track
from apftop.check.runs import Step, interval, jobs, result
from apftop.check.window import LevelWindow, instant, level_window, window
from apftop.records.checks import Prediction, Verdict
from apftop.trials import run as try_out
from tests.check.synthetic import Shape, tracks
from tests.crosscheck.followed import follow
from tests.crosscheck.runs import Run

Followed = Iterable[tuple[str, Track]]
"""Tracks with their replicas, in order of time."""

ONE_RUN = 70.0
"""Seconds of a simulated level."""


@dataclass(frozen=True)
class Bands:
    """Bands over intervals in which something waited, and checks of windows.

    Of the `simulated` intervals the band alone, without its allowance, `covered` so many; `width_s` and `observed_s`
    are sums over them. `missing` says why others were not simulated. Of the `windows` that could be judged `false` ones
    were off; of those with a fault in the model, as many were caught as `caught` says, of how many.
    """

    name: str
    intervals: int = 0
    simulated: int = 0
    covered: int = 0
    width_s: float = 0.0
    observed_s: float = 0.0
    windows: int = 0
    false: int = 0
    caught: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)

    @property
    def coverage(self) -> float:
        return self.covered / self.simulated if self.simulated else 1.0

    @property
    def width(self) -> float:
        """Mean width over the mean observed wait."""
        return self.width_s / self.observed_s if self.observed_s else 0.0

    def share_caught(self, fault: str) -> float:
        caught, of = self.caught.get(fault, (0, 0))
        return caught / of if of else 1.0


def pooled(name: str, parts: Sequence[Bands]) -> Bands:
    """All of them as one."""
    caught: dict[str, tuple[int, int]] = {}
    missing: Counter[str] = Counter()
    for part in parts:
        missing.update(part.missing)
        for fault, (one, of) in part.caught.items():
            before = caught.get(fault, (0, 0))
            caught[fault] = before[0] + one, before[1] + of
    numbers = ("intervals", "simulated", "covered", "width_s", "observed_s", "windows", "false")
    sums = {name: sum(getattr(part, name) for part in parts) for name in numbers}
    return Bands(name, **sums, caught=caught, missing=missing)


def halved(trial: Trial) -> Trial:
    """A model with half of the seats."""
    move = trial.move and replace(trial.move, limit=max(1, trial.move.limit // 2))
    return replace(trial, seen=replace(trial.seen, limit=max(1, trial.seen.limit // 2)), move=move)


def slower(factor: float) -> Callable[[Trial], Trial]:
    """A model in which service takes so many times as long."""

    def fault(trial: Trial) -> Trial:
        return replace(trial, traffic=replace(trial.traffic, service=trial.traffic.service.stretched(factor)))

    return fault


FAULTS: Mapping[str, Callable[[Trial], Trial]] = {
    "limit halved": halved,
    "service x3": slower(3.0),
    "service x1.5": slower(1.5),
}


def recorded(run: Run, faults: Iterable[str] = FAULTS) -> Bands:
    """The bands of a recording."""
    return bands(run.name, ((step.replica, step.track) for step in follow(run)), faults)


def synthetic(shape: Shape, seeds: Iterable[int], faults: Iterable[str] = ()) -> Bands:
    """The bands of a simulated level, which no replica is."""
    parts = [bands(str(seed), ((str(seed), track) for track in tracks(shape, seed, ONE_RUN)), faults) for seed in seeds]
    return pooled(f"{shape}", parts)


def bands(name: str, followed: Followed, faults: Iterable[str] = FAULTS) -> Bands:
    """The band of every interval in which something waited, and the check of every window that ends with one."""
    models = ("", *faults)
    results: dict[tuple[str, str], Results] = defaultdict(dict)
    alone: list[Prediction] = []
    verdicts: dict[str, Counter[Verdict]] = {model: Counter() for model in models}
    missing: Counter[str] = Counter()
    last: dict[str, int] = {}
    for replica, track in followed:
        if len(track.points) < 2 or last.get(replica) == track.points[-1].number:
            continue
        last[replica] = track.points[-1].number
        missing.update(_missing(track))
        for job in jobs(replica, track):
            if not isinstance(job.task, Trial):
                continue
            for model in models:
                task = FAULTS[model](job.task) if model else job.task
                results[replica, model] = with_result(results[replica, model], result(job, try_out(task)), track)
                check = band_check(_window(job.level, window(track), track), results[replica, model])
                verdicts[model].update([check.verdict] if check else [])
            found = prediction(_window(job.level, track.points[-2:], track), results[replica, ""])
            alone += [found] if found else []
    judged = {model: (found["off"], found["off"] + found["ok"]) for model, found in verdicts.items()}
    false, windows = judged.pop("")
    return Bands(
        name,
        intervals=len(alone) + missing.total(),
        simulated=len(alone),
        covered=sum(one.mean_wait.low <= one.observed <= one.mean_wait.high for one in alone),
        width_s=sum(one.mean_wait.high - one.mean_wait.low for one in alone),
        observed_s=sum(one.observed for one in alone),
        windows=windows,
        false=false,
        caught=judged,
        missing=missing,
    )


def _window(level: str, points: tuple[Point, ...], track: Track) -> LevelWindow:
    found = level_window(level, points, track.born)
    assert found is not None
    return found


def _missing(track: Track) -> Iterator[str]:
    """Why intervals of levels with queues in which something waited are not simulated."""
    before, after = track.points[-2:]
    for name in before.levels.keys() & after.levels.keys() & after.live:
        first, last = (instant(name, point, track.born) for point in (before, after))
        step = Step(name, first, last, seen_requests(name, track.points))
        try:
            if step.waited:
                interval(step)
        except Missing as missing:
            yield str(missing)
