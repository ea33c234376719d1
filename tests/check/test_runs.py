"""What is simulated: which intervals of which levels, from what, and always alike."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache

import pytest

from apftop.apf.forecast import Trial
from apftop.apf.starts import Onward
from apftop.check.missing import Missing
from apftop.check.point import Track
from apftop.check.runs import Job, Step, interval, jobs, result
from apftop.check.window import instant
from apftop.trials import run
from tests.check.build import LEVEL
from tests.check.synthetic import Shape, tracks


@cache
def busy() -> Track:
    """A level in the middle of a load, with requests that wait in its last dump."""
    return next(track for track in tracks(Shape(), 3) if len(track.points) > 2 and waiting(track))


def waiting(track: Track) -> int:
    return sum(not row.executing for row in track.points[-1].rows(LEVEL) or ())


def by_kind(track: Track) -> dict[str, Job]:
    return {job.kind: job for job in jobs("kas-1", track)}


def test_the_last_interval_and_what_waits_now_are_simulated_once() -> None:
    found = by_kind(busy())

    assert found.keys() == {"waits", "starts"}
    assert {job.number for job in found.values()} == {busy().points[-1].number}
    assert jobs("kas-1", busy(), {job.key for job in found.values()}) == []


def test_an_interval_is_run_from_the_dump_at_its_begin_with_the_arrivals_that_were_counted() -> None:
    task = by_kind(busy())["waits"].task
    before, after = busy().points[-2:]
    assert isinstance(task, Trial)

    assert task.seen.at_ns == round((before.clock.dump_time or 0.0) * 1e9)
    assert len(task.seen.requests) == len(before.rows(LEVEL) or ())
    rise = after.levels[LEVEL].dispatched + (after.levels[LEVEL].waiting or 0)
    rise -= before.levels[LEVEL].dispatched + (before.levels[LEVEL].waiting or 0)
    rejected = after.levels[LEVEL].rejected_total - before.levels[LEVEL].rejected_total
    assert task.traffic.count == pytest.approx(rise + rejected, abs=2)


def test_the_same_moments_give_the_same_results_and_jobs_travel() -> None:
    job = by_kind(busy())["waits"]
    job = replace(job, task=replace(job.task, runs=4))
    there = pickle.loads(pickle.dumps(job))

    assert result(job, run(job.task)) == result(there, run(there.task))
    assert len(result(job, run(job.task)).waits) == 4


def test_each_request_that_waits_has_a_start() -> None:
    job = by_kind(busy())["starts"]
    assert isinstance(job.task, Onward)
    found = result(job, run(replace(job.task, runs=4)))

    assert len(found.starts) == waiting(busy()) == len(job.waiting)
    bands = [start.after_s for start in found.starts.values() if start.after_s is not None]
    assert bands and all(0 <= band.low <= band.middle <= band.high for band in bands)


def test_without_a_dump_at_its_begin_an_interval_is_not_simulated_and_it_is_said_why() -> None:
    *older, first, last = busy().points
    blind = replace(first, requests=None)
    before, after = (instant(LEVEL, point, busy().born) for point in (blind, last))
    step = Step(LEVEL, before, after, ())

    assert "waits" not in by_kind(replace(busy(), points=(*older, blind, last)))
    with pytest.raises(Missing, match="dump of requests"):
        interval(step)


def test_nothing_is_simulated_where_nothing_waited() -> None:
    quiet = next(track for track in tracks(Shape(crowd=2, light=1, limit=10), 1) if len(track.points) > 2)

    assert jobs("kas-1", quiet) == []
    assert jobs("kas-1", Track(quiet.points[:1], quiet.born)) == []
