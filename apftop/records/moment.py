"""What the screen shows at one moment: the Frame, how it has come to be, and how polling goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from apftop.records.asking import Plan
from apftop.records.checks import Checks
from apftop.records.findings import Findings
from apftop.records.frame import Frame
from apftop.records.raw import Sample
from apftop.records.tape import Note

TREND_LENGTH = 60
"""So many points of a trend are kept."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The latest points of one level on one replica, oldest first; None where a value was not known.

    `waiting` are requests, `seats` are seats in use. `at` is when the last point was sampled (Unix seconds).
    """

    waiting: tuple[float | None, ...] = ()
    seats: tuple[float | None, ...] = ()
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Replayed:
    """Where a moment is on a tape: `at`, of `first` to `last` (Unix seconds, the recorder's clock).

    `speed` is how many seconds of the tape go by in one, 0 while it stands. `whole` is set once all is known that was
    known then: what was found depends on what came before.
    """

    at: float
    first: float
    last: float
    speed: float
    whole: bool


@dataclass(frozen=True, slots=True)
class Moment:
    """One Frame for the screen.

    `number` counts moments from 1. `plans` are by replica, `trends` by replica and level. `source` says in words where
    the samples come from, such as the kube context. `now` is when the newest sample came (Unix seconds, this machine's
    clock). `news` are lines about what happened to the polling as a whole, oldest first. `checks` lie beside the
    frame: what the numbers so far are worth, with simulations as far as they are done. `samples` are the answers that
    the frame stands on, in order of time: of each replica the last two usable ones of metrics and of
    dump_priority_levels, the last one of each other endpoint, and what an endpoint that fails now has said last.
    `findings` are what is found in the frame, and `since` when each was first seen without a gap (Unix seconds), by its
    key. `replayed` is set where it is not of now. `notes` are the marks and pulses of all that is recorded, in order of
    time, of which a live moment has those of the last minutes.
    """

    frame: Frame
    number: int
    source: str
    now: float
    plans: Mapping[str, Plan] = field(default_factory=dict)
    trends: Mapping[tuple[str, str], Trend] = field(default_factory=dict)
    news: tuple[str, ...] = ()
    checks: Checks = field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    findings: Findings = field(default_factory=Findings)
    since: Mapping[tuple[str, str], float] = field(default_factory=dict)
    replayed: Replayed | None = None
    notes: Note = field(default_factory=Note)
