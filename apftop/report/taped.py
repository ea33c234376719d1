"""Reports of a tape: as of a time, or of all times between two."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from apftop.errors import Trouble
from apftop.logs.read import logs_of
from apftop.played import moments
from apftop.present import span, utc
from apftop.records.logs import Logs
from apftop.records.moment import Moment
from apftop.report.look import Look
from apftop.report.looking import unseen
from apftop.tape.reading import Tape, open_tape
from apftop.tape.times import time_on

SLACK_S = 1.0
"""Whole seconds are what people read off and write."""

SILENT_S = 15.0
SILENT_TIMES = 3.0
"""Nothing was recorded where nothing came for so long, and for so many times as long as the longest pause before."""

DAY_S = 86400.0
_CLOCK = re.compile(r"\s*[0-9]{1,2}:[0-9]{2}(:[0-9.]+)?\s*")


def looks_of(path: Path, options: Mapping[str, Any]) -> Iterator[Look]:
    """What was known at a time of the tape, its end by default; with `--between` every so many seconds of it.

    Raises Trouble for what is no tape, and no time on it.
    """
    tape = open_tape(path)
    try:
        first, last, notes = times_of(tape, options)
        logs = logs_of(None, options["client_logs"], options["audit_logs"])
        news: list[str] = []
        timeout_s = options["request_timeout"]
        for moment in moments(tape, first, last, options["interval"], request_timeout_s=timeout_s, tell=news.append):
            told = (*notes, *told_silence(moment), *news)
            yield _look(moment, f"{path} ({tape.about.source})", tuple(tape.problems), told, logs)
    finally:
        tape.close()


def times_of(tape: Tape, options: Mapping[str, Any]) -> tuple[float, float, tuple[str, ...]]:
    """From when to when (Unix seconds), and what is to be said of that. Raises Trouble for times not on the tape."""
    start, end = tape.span
    if options["between"] is not None:
        texts = options["between"]
        first, last = (time_on(text, tape.span) for text in texts)
        if first > last:
            raise click.UsageError("--between has its earlier time first")
        if last < start - SLACK_S or first > end + SLACK_S:
            raise _outside(tape, f"between {utc(first)} and {utc(last)}")
        cut = () if first >= start - SLACK_S and last <= end + SLACK_S else (f"the tape is of {_span(tape)}",)
        return max(first, start), min(last, end), (*_days(tape, texts, (first, last)), *cut)
    if options["at"] is None:
        return end, end, ()
    at = time_on(options["at"], tape.span)
    if not start - SLACK_S <= at <= end + SLACK_S:
        raise _outside(tape, f"at {utc(at)}")
    at, days = min(max(at, start), end), _days(tape, [options["at"]], [at])
    return at, at, days


def _outside(tape: Tape, when: str) -> Trouble:
    return Trouble(f"nothing was recorded {when}", tape.name, f"the tape is of {_span(tape)}")


def _span(tape: Tape) -> str:
    start, end = tape.span
    return f"{utc(start)} to {utc(end)}"


def _days(tape: Tape, texts: Sequence[str], times: Sequence[float]) -> tuple[str, ...]:
    """Which day is meant by an hour that is on the tape more than once."""
    return tuple(
        f"{text.strip()} is on this tape on several days, {utc(at)} the last of them: write the date for another"
        for text, at in zip(texts, times, strict=True)
        if _CLOCK.fullmatch(text) and at - DAY_S >= tape.span[0]
    )


def silent(moment: Moment) -> bool:
    """Whether nothing was recorded at the time of a moment of a tape: what is known is older."""
    came = sorted(one.received for one in moment.samples if one.received is not None)
    pause = max((later - one for one, later in pairwise(came[-10:])), default=0.0)
    return not came or _at(moment) - moment.now > max(SILENT_S, SILENT_TIMES * pause)


def told_silence(moment: Moment) -> Iterator[str]:
    """That nothing was recorded at the time of a moment, and how old is what is known."""
    at, known = _at(moment), moment.now
    if not moment.samples:
        yield f"nothing is known at {utc(at)}: no answer was recorded before"
    elif silent(moment):
        yield f"nothing was recorded at {utc(at)}: this is what was known {span(at - known)} before, at {utc(known)}"


def _at(moment: Moment) -> float:
    return moment.replayed.at if moment.replayed else moment.now


def _look(moment: Moment, source: str, problems: tuple[str, ...], notes: tuple[str, ...], logs: Logs) -> Look:
    seen = moment.frame
    interval_s = seen.t1 - seen.t0 if seen.t0 is not None and seen.t1 is not None else None
    told = (*unseen(seen), *notes, *logs.problems)
    return Look(seen, moment.checks, moment.findings, source, seen.t0, seen.t1, interval_s, problems, told, logs)
