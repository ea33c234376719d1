"""What is exported, moment by moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apftop.derive.frame import frame
from apftop.export.source import EVERY_S, Asked, Saved, Source
from apftop.played import moments
from apftop.present import utc
from apftop.records.checks import Checks
from apftop.records.findings import Findings
from apftop.records.frame import Frame
from apftop.records.tape import Note
from apftop.report.known import checked_all, found_in, taken_in
from apftop.report.taped import silent
from apftop.tape.reading import Tape


@dataclass(frozen=True, slots=True)
class Shot:
    """One moment: when (Unix seconds, None where nobody noted it), and what was known then."""

    at: float | None
    frame: Frame
    checks: Checks
    found: Findings


def shots(source: Source, asked: Asked, told: list[str]) -> Iterator[Shot]:
    """All wanted moments at which something was recorded; `told` is given a line for what is missing."""
    if isinstance(source, Tape):
        first, last = asked.span(source)
        every_s, timeout_s = asked.every_s or EVERY_S, asked.request_timeout_s
        gap: list[float] = []
        for moment in moments(source, first, last, every_s, request_timeout_s=timeout_s, tell=told.append):
            at = moment.replayed.at if moment.replayed else moment.now
            if silent(moment):
                gap.append(at)
                continue
            told += _told(gap)
            gap.clear()
            yield Shot(at, moment.frame, moment.checks, moment.findings)
        told += _told(gap)
    else:
        yield _shot(source, asked)


def _told(gap: Sequence[float]) -> tuple[str, ...]:
    """That moments in a row are left out."""
    if not gap:
        return ()
    when = f"at {utc(gap[0])}" if len(gap) == 1 else f"from {utc(gap[0])} to {utc(gap[-1])}"
    return (f"nothing was recorded {when}: there are no rows of that time",)


def _shot(saved: Saved, asked: Asked) -> Shot:
    known = taken_in(saved.samples)
    seen, checks = frame(known.state, asked.request_timeout_s), checked_all(known)
    at = seen.t1 if saved.at is None else saved.at
    return Shot(at, seen, checks, found_in(seen, checks, saved.logs, saved.at))


def notes(source: Source, asked: Asked) -> Note:
    """The marks and pulses of a tape within the wanted time."""
    if not isinstance(source, Tape):
        return Note()
    first, last = asked.span(source)
    found = source.notes()
    return Note(
        tuple(one for one in found.marks if first <= one.at <= last),
        tuple(one for one in found.pulses if first <= one.at <= last),
    )
