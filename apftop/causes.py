"""Findings from moment to moment: what is found now, since when, and by what levels were asked to do before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from apftop.baselines import baselines
from apftop.findings.all import findings
from apftop.findings.scene import Scene
from apftop.records.checks import Checks
from apftop.records.findings import Finding, Findings
from apftop.records.frame import Frame, Level, Replica

KEPT_S = 900.0
FRAMES_KEPT = 180
"""Windows of metrics that are gone by: so many, and where servers answer one after the other more, of these seconds."""

FLICKER_S = 12.0
"""A finding that is missing for so long has not gone: windows of metrics and dumps come more often, by default."""

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Lasting:
    """Since when a finding has been there, and when it was there last (Unix seconds)."""

    since: float
    last: float


@dataclass(frozen=True, slots=True)
class Causes:
    """What is found at one moment, and what the next one needs: earlier frames, oldest first, and how long it lasts."""

    found: Findings = field(default_factory=Findings)
    lasting: Mapping[Key, Lasting] = field(default_factory=dict)
    past: tuple[Frame, ...] = ()

    @property
    def since(self) -> Mapping[Key, float]:
        """When each finding was first seen without a gap (Unix seconds)."""
        return {one.key: self.lasting[one.key].since for one in self.found.found}


def causes(before: Causes, frame: Frame, checks: Checks, now: float) -> Causes:
    """What is found in a frame, after what was found before. `now` is when its newest sample came (Unix seconds)."""
    past = remembered(before.past, frame)
    found = findings(Scene(frame, checks, baselines((*past, frame)), now=now))
    return Causes(found, lasting(before.lasting, found.found, now), past)


def lasting(before: Mapping[Key, Lasting], found: tuple[Finding, ...], now: float) -> dict[Key, Lasting]:
    """Since when findings have been there: one that flickers has not begun anew."""
    still = {key: one for key, one in before.items() if now - one.last <= FLICKER_S}
    return still | {one.key: Lasting(still[one.key].since if one.key in still else now, now) for one in found}


def remembered(past: tuple[Frame, ...], frame: Frame) -> tuple[Frame, ...]:
    """Earlier frames with this one, if it is of new metrics: without requests, which only the latest one needs.

    Servers answer one after the other, so that there may be as many frames as windows of all of them.
    """
    if past and _windows(past[-1]) == _windows(frame):
        return past
    oldest = _newest(frame) - KEPT_S
    first = next((number for number, one in enumerate(past) if _newest(one) >= oldest), len(past))
    most = FRAMES_KEPT * max(1, len(frame.replicas))
    kept = past[max(0, min(first, len(past) + 1 - FRAMES_KEPT)) :]
    return (*kept, _bare(frame, past[-1].replicas if past else {}))[-most:]


def _newest(frame: Frame) -> float:
    return max((stamp for stamp in _windows(frame).values() if stamp is not None), default=0.0)


def _windows(frame: Frame) -> dict[str, float | None]:
    return {name: one.window.t1 if one.window else None for name, one in frame.replicas.items()}


def _bare(frame: Frame, before: Mapping[str, Replica]) -> Frame:
    """The frame without what is not needed of it later; servers that gave no new metrics are the same as before."""
    return replace(frame, replicas={name: _light(one, before.get(name)) for name, one in frame.replicas.items()})


def _light(replica: Replica, before: Replica | None) -> Replica:
    if before is not None and before.window == replica.window:
        return before
    levels = {name: _without_requests(level) for name, level in replica.levels.items()}
    return replace(replica, levels=levels, schemas={}, flows=(), requests=None)


def _without_requests(level: Level) -> Level:
    return replace(level, inside=None, queues=None, waits=None)
