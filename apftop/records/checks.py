"""What checks say: how far the numbers of a server agree with each other, and with what APF would do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Verdict = Literal["ok", "off", "unknown"]
WORST_FIRST: tuple[Verdict, ...] = ("off", "ok", "unknown")


@dataclass(frozen=True, slots=True)
class Check:
    """One law or identity, held against one server or one of its levels.

    `law` is its code in `check/laws.toml`, which has its title and what it says. The `observed` value is held against
    the `expected` one, which is an interval (both ends alike where the law is exact; an end None is open), and may lie
    outside of it by `tolerance`; all three are in `unit`, and None where nothing was compared. `seconds` is the length
    of the window, None for a law about one moment, and `about` what of the level it is about, in words: a flow, a
    queue. Where it is unknown `missing` says what would be needed; where it is off `reason` says what that means.
    """

    law: str
    verdict: Verdict
    observed: float | None = None
    expected: tuple[float | None, float | None] | None = None
    tolerance: float | None = None
    unit: str = ""
    seconds: float | None = None
    about: str = ""
    missing: str = ""
    reason: str = ""


class RequestKey(NamedTuple):
    """One waiting request, from dump to dump: when it came to its level (Unix ns, server's clock), schema, and user."""

    arrive_ns: int
    schema: str
    user: str


@dataclass(frozen=True, slots=True)
class Span:
    """Where nine of ten runs lie, from the 5th to the 95th percentile, with the median; seconds."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the model makes of a load on given seats: could it give such waits? No more than that.

    `mean_wait` is the band of the mean wait over the window of `seconds` (which ends `at`, Unix seconds of this
    machine's clock), from `runs` runs over each of `intervals` intervals, each begun anew from its own dump; `observed`
    is the mean wait of the same intervals as counted, and `low` and `high` are the band with its allowance.
    """

    mean_wait: Span
    observed: float
    low: float
    high: float
    runs: int
    intervals: int
    seconds: float
    at: float

    @property
    def inside(self) -> bool:
        return self.low <= self.observed <= self.high


@dataclass(frozen=True, slots=True)
class Start:
    """When a waiting request is to be served, in seconds after the dump that showed it; None for most likely never.

    `by` is where the runs end: a request without a band has not started by then in most of them.
    """

    after_s: Span | None
    by_s: float
    runs: int


@dataclass(frozen=True, slots=True)
class FlowWaits:
    """Exact waits of one flow's requests that were seen executing in the dumps of the window; seconds.

    They are a sample: requests that started and ended between two dumps are not in it. `waiting` is how many of the
    flow wait in the last dump, `mean_age_s` how long they have on average.
    """

    schema: str
    flow: str
    count: int
    mean_s: float | None
    max_s: float | None
    waiting: int
    mean_age_s: float | None


@dataclass(frozen=True, slots=True)
class Followed:
    """What became of the requests that waited in the dump before the last: by the last one.

    `gone` ones may have been served or not: nothing is known of them.
    """

    waited: int
    executing: int
    still_waiting: int
    gone: int


@dataclass(frozen=True, slots=True)
class LevelChecks:
    """All that was checked on one level of one server; the checks that are off come first.

    `observed_wait_s` is the mean wait over the window as the histogram has it, time-outs among them, and `little_s`
    what it must be by the time that requests have waited; None where unknown.
    """

    checks: tuple[Check, ...] = ()
    observed_wait_s: float | None = None
    little_s: float | None = None
    prediction: Prediction | None = None
    starts: Mapping[RequestKey, Start] = field(default_factory=dict)
    flows: tuple[FlowWaits, ...] = ()
    followed: Followed | None = None

    @property
    def verdict(self) -> Verdict:
        return verdict(self.checks)


@dataclass(frozen=True, slots=True)
class ReplicaChecks:
    """The checks of one server: those of the whole, and those of its levels by name."""

    checks: tuple[Check, ...] = ()
    levels: Mapping[str, LevelChecks] = field(default_factory=dict)

    def start(self, level: str, key: RequestKey) -> Start | None:
        """When a request that waits in a level is to start; None where that was not simulated."""
        found = self.levels.get(level)
        return None if found is None else found.starts.get(key)

    @property
    def verdict(self) -> Verdict:
        """Of the whole server: its own checks and those of all levels."""
        return verdict((*self.checks, *(one for level in self.levels.values() for one in level.checks)))


Checks = Mapping[str, ReplicaChecks]
"""By replica."""


def verdict(checks: tuple[Check, ...]) -> Verdict:
    """Off where any check is, ok where any is and none is off, else unknown."""
    if any(check.verdict == "off" for check in checks):
        return "off"
    return "ok" if any(check.verdict == "ok" for check in checks) else "unknown"
