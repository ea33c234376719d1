"""Simulation beside everything else: one process, within its share of a core, that ends with this one."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from apftop.check.runs import Job, Key, Result, result
from apftop.rules import rules
from apftop.trials import Answer, Reply, run

PROGRAM = (sys.executable, "-P", "-c", "from apftop.trials import main; main()")
"""It imports nothing from where the user happens to be."""

LEAST_REST_S = 0.01


class Simulating:
    """Does jobs, the newest first; no method waits.

    Each result goes to `deliver`, and what goes wrong, in a line, to `tell`: both in a thread of this object. The
    process is started with the first job.
    """

    def __init__(self, deliver: Callable[[Result], None], tell: Callable[[str], None]) -> None:
        self._deliver, self._tell = deliver, tell
        self._jobs: list[Job] = []
        self._tried: set[tuple[str, Key]] = set()
        self._stirred = threading.Condition()
        self._stopped = False
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self._thread: threading.Thread | None = None

    def want(self, jobs: Sequence[Job]) -> None:
        """Do these jobs and no others but for the one that is being done; the latest wish counts."""
        with self._stirred:
            if self._stopped:
                return
            wanted = {(job.replica, job.key) for job in jobs}
            self._tried &= wanted
            self._jobs = [job for job in _newest(jobs) if (job.replica, job.key) not in self._tried]
            if self._jobs and self._thread is None:
                self._thread = threading.Thread(target=self._run, name="apftop-simulating", daemon=True)
                self._thread.start()
            self._stirred.notify()

    def stop(self) -> None:
        """End, and the process with it."""
        with self._stirred:
            self._stopped = True
            self._jobs = []
            if self._process is not None:
                self._process.kill()
            self._stirred.notify()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            try:
                answer, spent_s = self._done(job)
            except (OSError, EOFError, pickle.UnpicklingError):
                if not self._died():
                    return
                continue
            if isinstance(answer, Answer):
                self._deliver(result(job, answer))
            else:
                self._tell(f"cannot simulate {job.level} of {job.replica}: {answer}")
            self._rest(spent_s * (1 / rules().check.band.core_share - 1))

    def _next(self) -> Job | None:
        """The next job, once there is one; None for the end."""
        with self._stirred:
            while not self._jobs and not self._stopped:
                self._stirred.wait()
            if self._stopped:
                return None
            job = self._jobs.pop(0)
            self._tried.add((job.replica, job.key))
            return job

    def _done(self, job: Job) -> Reply:
        process = self._started()
        if process.stdin is None or process.stdout is None:
            raise EOFError
        pickle.dump(job.task, process.stdin)
        process.stdin.flush()
        reply: Reply = pickle.load(process.stdout)  # noqa: S301  from the process that this one started
        return reply

    def _started(self) -> subprocess.Popen[bytes]:
        with self._stirred:
            if self._stopped:
                raise EOFError
            if self._process is None:
                self._starts += 1
                self._process = subprocess.Popen(
                    PROGRAM,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    # A key of the terminal that ends this program would end that one with a traceback.
                    start_new_session=True,
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                )
            return self._process

    def _died(self) -> bool:
        """Tell that the process died; whether another one is to be started."""
        with self._stirred:
            if self._stopped:
                return False
            if self._process is not None:
                self._process.kill()
                self._process.wait()
                self._process = None
            again = self._starts < rules().check.band.most_starts
        self._tell(f"the process that simulates ended{'' if again else ' again: waits are predicted no more'}")
        return again

    def _rest(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        with self._stirred:
            while not self._stopped and (left := ends - time.monotonic()) > LEAST_REST_S:
                self._stirred.wait(left)


def run_jobs(jobs: Iterable[Job], seconds: float) -> list[Result]:
    """The results of jobs, done here and now, the newest first; those that there is no time for are left out."""
    ends = time.monotonic() + seconds
    found = []
    for job in _newest(jobs):
        if time.monotonic() >= ends:
            break
        found.append(result(job, run(job.task)))
    return found


def _newest(jobs: Iterable[Job]) -> list[Job]:
    """The newest first; of one moment the waits before the starts."""
    return sorted(jobs, key=lambda job: (-job.at, job.kind == "starts", job.replica, job.level))
