"""What a tape is told of each moment: what has changed since the one before, and now and then how it was."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from apftop.causes import FLICKER_S, Key
from apftop.changes import Objects, changes
from apftop.records.findings import Finding, worst
from apftop.records.frame import Frame, Level, Replica
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint
from apftop.records.tape import Mark, MarkKind, Note, Pulse, most

MOST_KEPT = 1000
"""So many marks and pulses at most are told of the last minutes."""

PULSE_S = 5.0
"""A pulse is of so many seconds at least: what a time line of a day can show."""

ANSWERS = (Endpoint.METRICS, Endpoint.LEVELS)
"""A server that answers neither of these is gone."""

SAME_START_S = 1.0
"""When a process started is told in whole seconds by one source and more exactly by another."""


FIRST_S = 15.0
"""So long after a recorder began servers are found and answer for the first time: none of them joins or leaves."""


@dataclass(frozen=True, slots=True)
class Server:
    """What was told last of a server: its version, its start (Unix seconds), and whether it answers or ever did."""

    version: str | None = None
    started: float | None = None
    answers: bool = False
    answered: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A finding, and when it was there last (Unix seconds)."""

    finding: Finding
    last: float


@dataclass(frozen=True, slots=True)
class Noted:
    """What was noted so far, from `began` to `at`, and of the pulse to come its beginning and what was seen in it."""

    began: float | None = None
    at: float | None = None
    servers: Mapping[str, Server] = field(default_factory=dict)
    objects: Objects = field(default_factory=Objects)
    found: Mapping[Key, Found] = field(default_factory=dict)
    since: float | None = None
    waiting: float | None = None
    refused_per_s: float | None = None
    severity: str = ""


def noted(before: Noted, now: Moment, forgotten: Collection[str] = ()) -> tuple[Noted, Note]:
    """What there is to note of one more moment, before which some servers were forgotten. Pure."""
    if not now.now:
        return before, Note(forgotten=tuple(forgotten))
    servers = _servers(before.servers, now.frame, forgotten)
    objects, lines = changes(before.objects, now.frame)
    found = _lasting(before.found, now)
    marks = (
        *_of_recorder(before.at, now.now),
        *(_of_asked(now.now, before.servers, servers) if _settled(before.began, now.now) else ()),
        *_of_answers(now.now, before.servers, servers),
        *(Mark(now.now, "config", line) for line in lines),
        *_of_findings(now.now, before.found, found),
    )
    seen = replace(
        before,
        began=now.now if before.began is None else before.began,
        at=now.now,
        servers=servers,
        objects=objects,
        found=found,
        since=now.now if before.since is None or now.now < before.since else before.since,
        waiting=most((before.waiting, _sum(now.frame, _waiting))),
        refused_per_s=most((before.refused_per_s, _sum(now.frame, _refused))),
        severity=worst((before.severity, *(one.severity for one in now.findings.found))) or "",
    )
    if seen.since is None or now.now - seen.since < PULSE_S:
        return seen, Note(marks, forgotten=tuple(forgotten))
    pulse = Pulse(now.now, seen.waiting, seen.refused_per_s, seen.severity)
    return Noted(seen.began, now.now, servers, objects, found, now.now), Note(marks, (pulse,), tuple(forgotten))


def lately(before: Note, now: Note, since: float) -> Note:
    """The marks and pulses from a time on (Unix seconds), with those of one more note, the latest ones."""
    marks, pulses = (*before.marks, *now.marks), (*before.pulses, *now.pulses)
    return Note(
        tuple(one for one in marks if one.at >= since)[-MOST_KEPT:],
        tuple(one for one in pulses if one.at >= since)[-MOST_KEPT:],
    )


def _of_recorder(before: float | None, now: float) -> Iterator[Mark]:
    if before is None:
        yield Mark(now, "recording", "recording began")
    elif now < before:
        yield Mark(now, "clock", f"this machine's clock was set back by {before - now:.1f} s")


def _servers(before: Mapping[str, Server], frame: Frame, forgotten: Collection[str]) -> dict[str, Server]:
    """All servers; of one that does not tell something now, what it told last."""
    found = {name: one for name, one in before.items() if name not in forgotten}
    return found | {name: _server(found.get(name, Server()), one) for name, one in frame.replicas.items()}


def _server(before: Server, now: Replica) -> Server:
    answers = any(not now.samples[one].stale for one in ANSWERS if one in now.samples)
    return Server(
        now.version or before.version,
        now.started if now.started is not None else before.started,
        answers,
        answers or before.answered,
    )


def _settled(began: float | None, now: float) -> bool:
    return began is not None and not 0 <= now - began < FIRST_S


def _of_asked(at: float, before: Mapping[str, Server], now: Mapping[str, Server]) -> Iterator[Mark]:
    yield from _together(at, "left", [name for name in before if name not in now], "no longer asked")
    yield from _together(at, "joined", [name for name in now if name not in before], "asked from now on")


def _of_answers(at: float, before: Mapping[str, Server], now: Mapping[str, Server]) -> Iterator[Mark]:
    both = {name: (before[name], one) for name, one in now.items() if name in before}
    for name, (was, one) in both.items():
        yield from _of_process(at, name, was, one)
    gone = [name for name, (was, one) in both.items() if was.answers and not one.answers]
    yield from _together(at, "gap", gone, "no answer any more")
    # Who has answered for the first time has not come back.
    back = [name for name, (was, one) in both.items() if one.answers and not was.answers and was.answered]
    yield from _together(at, "back", back, "answers again")


def _together(at: float, kind: MarkKind, names: Sequence[str], text: str) -> Iterator[Mark]:
    """One mark for what happens to several servers at one moment."""
    if len(names) == 1:
        yield Mark(at, kind, text, names[0])
    elif names:
        yield Mark(at, kind, f"{text}: {', '.join(names)}")


def _of_process(at: float, name: str, before: Server, now: Server) -> Iterator[Mark]:
    upgrade = f"version {before.version} -> {now.version}" if before.version and before.version != now.version else ""
    if before.started is not None and now.started is not None and abs(now.started - before.started) >= SAME_START_S:
        yield Mark(at, "restart", f"another process{', ' if upgrade else ''}{upgrade}", name)
    elif upgrade:
        yield Mark(at, "version", upgrade, name)


def _lasting(before: Mapping[Key, Found], now: Moment) -> dict[Key, Found]:
    """What is found now, and what was a moment ago: what flickers has not gone."""
    still = {key: one for key, one in before.items() if 0 <= now.now - one.last <= FLICKER_S}
    return still | {one.key: Found(one, now.now) for one in now.findings.found}


def _of_findings(at: float, before: Mapping[Key, Found], now: Mapping[Key, Found]) -> Iterator[Mark]:
    yield from (_of_finding(at, "found", one.finding) for key, one in now.items() if key not in before)
    yield from (_of_finding(min(at, one.last), "gone", one.finding) for key, one in before.items() if key not in now)


def _of_finding(at: float, kind: MarkKind, one: Finding) -> Mark:
    replica = one.replicas[0] if len(one.replicas) == 1 else ""
    return Mark(at, kind, one.title, replica, one.code, one.subject, one.severity)


def _sum(frame: Frame, what: Callable[[Replica, Level], float | None]) -> float | None:
    values = [what(replica, level) for replica in frame.servers for level in replica.levels.values()]
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _waiting(replica: Replica, level: Level) -> float | None:
    return level.waiting if _told(replica, level.waiting_from) else None


def _refused(replica: Replica, level: Level) -> float | None:
    source = Endpoint.METRICS if level.recent is None else Endpoint.LEVELS
    return level.pace.rejected_per_s if level.pace is not None and _told(replica, source) else None


def _told(replica: Replica, source: str) -> bool:
    """Whether a server still answers where a number comes from: its last one is not how it is now."""
    age = replica.samples.get(source)
    return age is None or not age.stale
