"""Simulation in a process of its own: what it gives, what it takes, and that it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from apftop.apf.estimate import WorkEstimate
from apftop.apf.forecast import Trial
from apftop.apf.objects import Queuing
from apftop.apf.resume import SeenLevel, SeenQueue
from apftop.apf.service_times import ServiceTimes
from apftop.apf.traffic import Sample, Traffic
from apftop.check.runs import Job, Result, result
from apftop.simulating import PROGRAM, Simulating, run_jobs
from apftop.trials import run

SECOND = 10**9
LONG_S = 30.0
QUEUING = Queuing(8, 3, 10)
TRIAL = Trial(
    seen=SeenLevel(0, QUEUING, 4, 0, [SeenQueue(0, 0)] * QUEUING.queues, []),
    traffic=Traffic(60, [Sample(WorkEstimate(), 7)], ServiceTimes((SECOND // 10, SECOND), (10, 2, 0))),
    counted_from_ns=0,
    until_ns=2 * SECOND,
    seed="one",
    runs=8,
)


def job(number: int, at: float = 0.0, seed: str = "one") -> Job:
    return Job("kas-1", "load", "waits", number, at, replace(TRIAL, seed=seed))


class Results:
    """What came of jobs, and what was told."""

    def __init__(self) -> None:
        self.found: list[Result] = []
        self.told: list[str] = []
        self._more = threading.Condition()

    def take(self, one: Result | str) -> None:
        with self._more:
            (self.told if isinstance(one, str) else self.found).append(one)  # type: ignore[arg-type]
            self._more.notify_all()

    def until(self, holds: Callable[[], object]) -> None:
        with self._more:
            assert self._more.wait_for(holds, LONG_S), (self.found, self.told)


@pytest.fixture
def running() -> Iterator[tuple[Simulating, Results]]:
    results = Results()
    simulating = Simulating(results.take, results.take)
    yield simulating, results
    simulating.stop()


def children() -> list[int]:
    """The processes that simulate, by their command line."""
    found = subprocess.run(["pgrep", "-P", str(os.getpid()), "-f", "apftop.trials"], capture_output=True, text=True)
    return [int(line) for line in found.stdout.split()]


def test_the_process_comes_to_what_comes_here(running: tuple[Simulating, Results]) -> None:
    simulating, results = running
    simulating.want([job(1)])
    results.until(lambda: results.found)

    assert results.found == [result(job(1), run(TRIAL))]
    assert results.found[0].waits and len(results.found[0].waits) == TRIAL.runs


def test_a_job_is_done_once_the_newest_first_and_what_is_wanted_no_more_is_left(
    running: tuple[Simulating, Results],
) -> None:
    simulating, results = running
    simulating.want([job(1, at=1.0), job(3, at=3.0), job(2, at=2.0)])
    results.until(lambda: results.found)
    simulating.want([job(3, at=3.0), job(4, at=4.0)])
    results.until(lambda: any(one.number == 4 for one in results.found))
    time.sleep(0.3)

    numbers = [one.number for one in results.found]
    assert numbers[0] == 3 and numbers.count(3) == 1 and 1 not in numbers


def test_a_process_that_dies_is_started_anew_and_in_the_end_given_up(running: tuple[Simulating, Results]) -> None:
    simulating, results = running
    for life in range(1, 4):
        simulating.want([job(2 * life)])
        results.until(lambda: len(results.found) == life)  # noqa: B023  it is called at once
        for child in children():
            os.kill(child, signal.SIGKILL)
        # What is asked of a dead process may be what it died of, and is not asked again.
        simulating.want([job(2 * life + 1)])
        results.until(lambda: len(results.told) == life)  # noqa: B023  likewise

    assert [one.number for one in results.found] == [2, 4, 6]
    assert ["no more" in line for line in results.told] == [False, False, True]


def test_a_job_that_cannot_be_done_is_told_and_the_next_one_done(running: tuple[Simulating, Results]) -> None:
    simulating, results = running
    bad = replace(job(1, at=2.0), task=replace(TRIAL, seen=replace(TRIAL.seen, queues=[])))
    simulating.want([bad, job(2, at=1.0)])
    results.until(lambda: results.found)

    assert [one.number for one in results.found] == [2]
    assert results.told == ["cannot simulate load of kas-1: ValueError: 0 queues were seen of 8"]


def test_a_stop_ends_the_process_and_waits_for_nothing(running: tuple[Simulating, Results]) -> None:
    simulating, results = running
    simulating.want([job(1)])
    results.until(lambda: results.found)
    assert children()
    simulating.want([replace(job(2), task=replace(TRIAL, runs=100_000))])
    time.sleep(0.2)

    began = time.monotonic()
    simulating.stop()
    assert time.monotonic() - began < 0.5
    ends = time.monotonic() + LONG_S
    while children() and time.monotonic() < ends:
        time.sleep(0.05)
    assert not children()


def test_the_process_ends_with_its_parent_however_that_ends() -> None:
    code = (
        "import subprocess, sys, time\n"
        f"one = subprocess.Popen({list(PROGRAM)!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "print(one.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()

    ends = time.monotonic() + LONG_S
    while alive(child) and time.monotonic() < ends:
        time.sleep(0.05)
    assert not alive(child)


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_it_needs_nothing_but_the_model() -> None:
    code = "import sys, apftop.trials; print(*sorted(name for name in sys.modules if name.startswith('apftop.')))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert all(name.startswith(("apftop.apf", "apftop.trials")) for name in run.stdout.split())


def test_one_shot_looks_do_the_newest_within_their_time() -> None:
    wanted = [job(number, at=float(number), seed=str(number)) for number in range(1, 4)]

    assert [one.number for one in run_jobs(wanted, LONG_S)] == [3, 2, 1]
    assert run_jobs(wanted, 0.0) == []
