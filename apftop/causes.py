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

FRAMES_KEPT = 180
"""So many windows of metrics that are gone by: a quarter of an hour where they are read every five seconds."""

FLICKER = 1
"""A finding that is missing for so many moments has not gone."""

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Lasting:
    """Since when a finding has been there (Unix seconds), and for how many moments it has been missing now."""

    since: float
    missing: int = 0


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
    known = {one.key: Lasting(before[one.key].since if one.key in before else now) for one in found}
    gone = {
        key: replace(one, missing=one.missing + 1)
        for key, one in before.items()
        if key not in known and one.missing < FLICKER
    }
    return known | gone


def remembered(past: tuple[Frame, ...], frame: Frame) -> tuple[Frame, ...]:
    """Earlier frames with this one, if it is of new metrics: without requests, which only the latest one needs."""
    if past and _windows(past[-1]) == _windows(frame):
        return past
    return (*past, _bare(frame))[-FRAMES_KEPT:]


def _windows(frame: Frame) -> dict[str, float | None]:
    return {name: one.window.t1 if one.window else None for name, one in frame.replicas.items()}


def _bare(frame: Frame) -> Frame:
    return replace(frame, replicas={name: _light(one) for name, one in frame.replicas.items()})


def _light(replica: Replica) -> Replica:
    levels = {name: _without_requests(level) for name, level in replica.levels.items()}
    return replace(replica, levels=levels, schemas={}, flows=(), requests=None)


def _without_requests(level: Level) -> Level:
    return replace(level, inside=None, queues=None, waits=None)
