"""What a tape is told of each moment: what has changed since the one before, and now and then how it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from apftop.apf.objects import FlowSchema, Meta, PriorityLevelConfiguration
from apftop.records.findings import SEVERITIES
from apftop.records.frame import Frame, Replica
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint
from apftop.records.tape import Mark, Note, Pulse

PULSE_S = 5.0
"""A pulse is of so many seconds at least: what a time line of a day can show."""

ANSWERS = (Endpoint.METRICS, Endpoint.LEVELS)
"""A server that answers neither of these is gone."""


@dataclass(frozen=True, slots=True)
class Noted:
    """What was noted so far: the last moment, and of the pulse to come its beginning and what was seen in it."""

    last: Moment | None = None
    since: float | None = None
    waiting: float | None = None
    refused_per_s: float | None = None
    severity: str = ""


def noted(before: Noted, now: Moment) -> tuple[Noted, Note]:
    """What there is to note of one more moment. Pure."""
    marks = () if before.last is None else tuple(_marks(before.last, now))
    seen = replace(
        before,
        last=now,
        since=now.now if before.since is None or now.now < before.since else before.since,
        waiting=_most(before.waiting, _sum(now.frame, "waiting")),
        refused_per_s=_most(before.refused_per_s, _sum(now.frame, "refused")),
        severity=_worst((before.severity, *(one.severity for one in now.findings.found))),
    )
    if seen.since is None or now.now - seen.since < PULSE_S:
        return seen, Note(marks)
    pulse = Pulse(now.now, seen.waiting, seen.refused_per_s, seen.severity)
    return Noted(now, now.now), Note(marks, (pulse,))


def _marks(before: Moment, now: Moment) -> Iterator[Mark]:
    at = now.now
    if at < before.now:
        yield Mark(at, "clock", f"this machine's clock was set back by {before.now - at:.1f} s")
    was, has = before.frame.replicas, now.frame.replicas
    yield from (Mark(at, "left", "is asked no more", name) for name in was if name not in has)
    for name, replica in has.items():
        if name not in was:
            yield Mark(at, "joined", "is asked from now on", name)
        else:
            yield from _of_replica(at, was[name], replica)
    yield from _of_objects(at, before.frame, now.frame)
    yield from (Mark(at, "found", one.title) for one in now.findings.found if one.key not in before.since)
    yield from (Mark(at, "gone", one.title) for one in before.findings.found if one.key not in now.since)


def _of_replica(at: float, before: Replica, now: Replica) -> Iterator[Mark]:
    if before.started is not None and now.started is not None and before.started != now.started:
        version = f", version {now.version}" if now.version != before.version else ""
        yield Mark(at, "restart", f"is another process now{version}", now.name)
    if _answers(before) and not _answers(now):
        yield Mark(at, "gap", "no longer answers", now.name)
    elif _answers(now) and not _answers(before) and before.samples:
        yield Mark(at, "back", "answers again", now.name)


def _answers(replica: Replica) -> bool:
    return any(not replica.samples[one].stale for one in ANSWERS if one in replica.samples)


def _of_objects(at: float, before: Frame, now: Frame) -> Iterator[Mark]:
    """Objects that were made, changed or deleted, once whichever server showed it first."""
    was, has = _objects(before), _objects(now)
    if not was or not has:
        return
    for key in sorted({*was, *has}):
        old, new = was.get(key), has.get(key)
        if old is None or new is None or _spec(old) != _spec(new):
            how = "was made" if old is None else "was deleted" if new is None else "was changed"
            yield Mark(at, "config", f"{key[0]} {key[1]} {how}")


Made = FlowSchema | PriorityLevelConfiguration


def _objects(frame: Frame) -> dict[tuple[str, str], Made]:
    """By kind and name."""
    found: dict[tuple[str, str], Made] = {}
    for replica in frame.servers:
        for level in replica.levels.values():
            if level.config is not None:
                found["PriorityLevelConfiguration", level.name] = level.config
        for schema in replica.schemas.values():
            if schema.config is not None:
                found["FlowSchema", schema.name] = schema.config
    return found


def _spec(one: Made) -> Made:
    return replace(one, meta=Meta(""), conditions=())


def _sum(frame: Frame, what: str) -> float | None:
    levels = [level for replica in frame.servers for level in replica.levels.values()]
    if what == "waiting":
        values = [level.waiting for level in levels]
    else:
        values = [None if level.pace is None else level.pace.rejected_per_s for level in levels]
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _most(one: float | None, other: float | None) -> float | None:
    return max((value for value in (one, other) if value is not None), default=None)


def _worst(severities: Iterable[str]) -> str:
    found = set(severities)
    return next((one for one in SEVERITIES if one in found), "")
