"""What one-shot looks know: the samples so far, and what their checks need of the earlier ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from apftop.check.checks import Checked, checks_now
from apftop.check.track import Tracks, followed
from apftop.live import observe
from apftop.records.checks import Checks
from apftop.records.raw import Sample
from apftop.records.state import State


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
    """The checks of all servers."""
    return checks_now(known.tracks, known.state, Checked({}, {})).checks
