"""What the next seconds of a level may look like: many runs from one dump, and the band that they span."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from apftop.apf.answers import answering
from apftop.apf.resume import SeenLevel, resume
from apftop.apf.simulate import SimulatedRequest, Simulation
from apftop.apf.traffic import Manner, Traffic

RUNS = 64
LOW, HIGH = 0.05, 0.95
MOST, LONGER = 0.8, 0.02
"""Something waited for longer than in most runs: than in so many of them, and by a share of the time counted."""

Spread = Manner | Literal["answers"]
"""How arrivals are spread, or that they come as others are answered."""

OPEN: tuple[Spread, ...] = ("batches", "even", "batches", "even", "batches", 0.0)
ANSWERED: tuple[Spread, ...] = ("batches", "answers", "batches", "answers", "even", 0.0)
"""How arrivals come in run after run, where 0.0 stands for a crowd of random size."""

MOST_TOGETHER = 0.5
"""Up to so many of the arrivals come together where clients stall."""


@dataclass(frozen=True, slots=True)
class LimitMove:
    """A current limit that is another one from some moment on, which lies between two."""

    limit: int
    earliest_ns: int
    latest_ns: int


@dataclass(frozen=True, slots=True)
class Trial:
    """What is run: a level from a dump on to `until_ns`, with arrivals drawn from `traffic`.

    What happens is counted from `counted_from_ns` on. All of `traffic` comes from then on, and `before` requests like
    it between the dump and then. `move` is how the current limit changes, at a moment drawn at random. `waiting_ns` is
    for how long something was seen waiting in the time counted, if known. With `answered` so many of the arrivals may
    have come each as another request was done, since clients seem to wait for their answers.
    """

    seen: SeenLevel
    traffic: Traffic
    counted_from_ns: int
    until_ns: int
    seed: int | str
    runs: int = RUNS
    before: int = 0
    move: LimitMove | None = None
    waiting_ns: int | None = None
    answered: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened in one run. Times in nanoseconds.

    `waits` counts requests that left their queue, served or timed out, as the wait histogram does, and `waited_ns` is
    the sum of what they waited. `waiting` is how many wait at the end, and `waiting_ns` for how long something waited.
    `starts` has for each request that was seen waiting when it started, from the moment of the dump; None where it did
    not.
    """

    waited_ns: int
    dispatched: int
    refused: int
    timed_out: int
    waiting: int
    waiting_ns: int
    starts: tuple[int | None, ...]

    @property
    def waits(self) -> int:
        return self.dispatched + self.timed_out

    @property
    def mean_wait(self) -> float | None:
        return self.waited_ns / self.waits if self.waits else None


@dataclass(frozen=True, slots=True)
class Band:
    """Where most of the runs lie: the 5th percentile, the median and the 95th."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """Bands over an interval. Waits in nanoseconds; None where no run had any.

    `mean_wait` is that of the requests which left their queue in the interval, served or timed out, as the wait
    histogram counts them; `waiting` is how many wait at the end. `starts` has for each request that was seen waiting
    when it starts, from the moment of the dump; None where it did not start in most of the runs.
    """

    mean_wait: Band | None
    dispatched: Band
    refused: Band
    timed_out: Band
    waiting: Band
    starts: tuple[Band | None, ...]


def generators(seed: int | str, runs: int = RUNS) -> Iterator[random.Random]:
    """One independent source of randomness for each run; the same seed gives the same runs."""
    for run in range(runs):
        yield random.Random(f"{seed}/{run}")  # noqa: S311 - a simulation, no secret


def band(values: Sequence[float]) -> Band:
    """The band of some values, at least one: nearest ranks, no interpolation."""
    ordered = sorted(values)
    last = len(ordered) - 1
    return Band(ordered[round(LOW * last)], ordered[round(0.5 * last)], ordered[round(HIGH * last)])


def band_of_most(moments: Sequence[int | None]) -> Band | None:
    """The band of those that came to pass; None where most did not."""
    happened = [moment for moment in moments if moment is not None]
    return band(happened) if 2 * len(happened) > len(moments) else None


def started(request: SimulatedRequest) -> bool:
    """Whether a request has been dispatched, whatever became of it since."""
    return request.state in ("executing", "lingering", "done")


def forecast(
    seen: SeenLevel, traffic: Traffic, until_ns: int, *, counted_from_ns: int | None = None, seed: int, runs: int = RUNS
) -> Forecast:
    """Run a level forward from a dump to `until_ns` many times, with arrivals drawn from `traffic`.

    What happens is counted from `counted_from_ns` on, or from the moment of the dump; until then nothing comes.
    """
    start = seen.at_ns if counted_from_ns is None else counted_from_ns
    found = outcomes(Trial(seen, traffic, start, until_ns, seed, runs))
    waits = [one.mean_wait for one in found if one.mean_wait is not None]
    return Forecast(
        mean_wait=band(waits) if waits else None,
        dispatched=band([one.dispatched for one in found]),
        refused=band([one.refused for one in found]),
        timed_out=band([one.timed_out for one in found]),
        waiting=band([one.waiting for one in found]),
        starts=tuple(band_of_most(moments) for moments in zip(*(one.starts for one in found), strict=True)),
    )


def outcomes(trial: Trial) -> list[Outcome]:
    """As many runs of a trial as it says.

    Nobody knows how clients send: in half of the runs arrivals come in batches as dumps have shown them, in a third
    evenly or as others are answered, and in a sixth up to half of them come together, as when clients stall. Where
    something waited for longer than in most runs, arrivals were burstier than that. Then as many runs follow in which
    any share of them comes together, and those are taken in which something waited about as long: the nearest quarter,
    each twice.
    """
    manners = ANSWERED if trial.answered else OPEN
    plain = [
        _run(trial, rng, manners[at % len(manners)] or rng.random() * MOST_TOGETHER)
        for at, rng in enumerate(generators(trial.seed, trial.runs))
    ]
    seen_ns = trial.waiting_ns
    span = trial.until_ns - trial.counted_from_ns
    if seen_ns is None or seen_ns <= _rank([one.waiting_ns for one in plain], MOST) + LONGER * span:
        return plain
    crowded = [_run(trial, rng, rng.random()) for rng in generators(f"{trial.seed}/crowd", trial.runs)]
    nearest = sorted((*plain, *crowded), key=lambda one: abs(one.waiting_ns - seen_ns))[: max(1, trial.runs // 2)]
    found = (nearest * 2)[: trial.runs]
    random.Random(f"{trial.seed}/order").shuffle(found)  # noqa: S311 - a simulation, no secret
    return found


def _run(trial: Trial, rng: random.Random, manner: Spread) -> Outcome:
    seen, traffic, start_ns, until_ns = trial.seen, trial.traffic, trial.counted_from_ns, trial.until_ns
    level, inside = resume(seen, traffic.service, rng, traffic.wait_limit_ns)
    seen_waiting = [request for request in inside if request.state == "waiting"]
    bare = replace(traffic, known=(), quiet_ns=0)
    arrivals = replace(bare, known=traffic.known, count=trial.before).draw(rng, seen.at_ns, start_ns)
    in_turn: list[SimulatedRequest] = []
    if manner == "answers":
        in_turn = replace(bare, count=trial.answered).draw(rng, start_ns, until_ns, "even")
        arrivals += replace(bare, count=traffic.count - trial.answered).draw(rng, start_ns, until_ns, "even")
        simulation = answering(level, in_turn, start_ns, rng)
    else:
        arrivals += traffic.draw(rng, start_ns, until_ns, manner)
        simulation = Simulation(level)
    for request in inside:
        simulation.go_on(request)
    if (move := trial.move) is not None:
        moment = rng.randint(move.earliest_ns, move.latest_ns)
        simulation.change_at(moment, lambda now: level.set_limit(now, move.limit))
    simulation.run(arrivals, until_ns)
    if in_turn:
        came = (one for one in in_turn if one.state != "new")
        arrivals = sorted((*arrivals, *came), key=lambda one: one.arrive_ns)
    served, left, refused = 0, 0, 0
    waited = 0
    for request in (*inside, *arrivals):
        if request.state == "refused" and request.arrive_ns > start_ns:
            refused += 1
        elif request.state == "gone" and request.end_ns is not None and request.end_ns > start_ns:
            left += 1
            waited += request.end_ns - request.arrive_ns
        elif started(request) and request.start_ns > start_ns:
            served += 1
            waited += request.start_ns - request.arrive_ns
    return Outcome(
        waited_ns=waited,
        dispatched=served,
        refused=refused,
        timed_out=left,
        waiting=level.waiting,
        waiting_ns=_waiting_ns((*seen_waiting, *arrivals), start_ns, until_ns),
        starts=tuple(request.start_ns - seen.at_ns if started(request) else None for request in seen_waiting),
    )


def _waiting_ns(requests: Iterable[SimulatedRequest], start_ns: int, until_ns: int) -> int:
    """For how long any of the requests waited; they are in order of arrival, but for those that wait at the start."""
    total, covered = 0, start_ns
    for request in requests:
        if request.state == "refused":
            continue
        until = request.start_ns if started(request) else request.end_ns or until_ns
        if until > covered:
            total += until - max(covered, request.arrive_ns)
            covered = until
    return total


def _rank(values: Sequence[int], share: float) -> int:
    return sorted(values)[round(share * (len(values) - 1))]
