"""What one-shot looks know: the samples so far, what their checks need of the earlier ones, and what is found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from apftop.check.band import EMPTY, Results, with_result
from apftop.check.checks import checks_now
from apftop.check.runs import jobs
from apftop.check.track import Tracks, followed
from apftop.findings.all import findings
from apftop.findings.scene import Scene
from apftop.live import observe
from apftop.records.checks import Checks
from apftop.records.findings import Findings
from apftop.records.frame import Frame
from apftop.records.logs import NO_LOGS, Logs
from apftop.records.raw import Sample
from apftop.records.state import State
from apftop.rules import rules
from apftop.simulating import run_jobs


@dataclass(frozen=True, slots=True)
class Known:
    """All samples taken in."""

    state: State
    tracks: Tracks


def taken_in(samples: Iterable[Sample], known: Known | None = None) -> Known:
    """What is known after more samples, in order."""
    state, tracks = (known.state, known.tracks) if known else (State(), {})
    for sample in samples:
        state = observe(state, sample)
        tracks = followed(tracks, state)
    return Known(state, tracks)


def checked_all(known: Known) -> Checks:
    """The checks of all servers, with simulations as far as there is time for them."""
    wanted = [job for name, track in known.tracks.items() for job in jobs(name, track)]
    results: dict[str, Results] = {}
    for one in run_jobs(wanted, rules().check.band.one_shot_s):
        results[one.replica] = with_result(results.get(one.replica, EMPTY), one, known.tracks[one.replica])
    return checks_now(known.tracks, known.state, results).checks


def found_in(seen: Frame, checks: Checks, logs: Logs = NO_LOGS, noted: float | None = None) -> Findings:
    """What is found at one look: what is usual there is known from the life of the servers alone.

    `noted` is when the taker says that it was taken (Unix seconds).
    """
    times = [age.time for replica in seen.replicas.values() for age in replica.samples.values()]
    known = [time for time in (noted, seen.t1, *times) if time is not None]
    return findings(Scene(seen, checks, logs=logs, now=max(known, default=None)))
