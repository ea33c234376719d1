"""Reports of a tape: as of a time, or of all times between two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from apftop.logs.read import logs_of
from apftop.played import moments
from apftop.records.logs import Logs
from apftop.records.moment import Moment
from apftop.report.look import Look
from apftop.report.looking import unseen
from apftop.tape.reading import open_tape
from apftop.tape.times import time_on


def looks_of(path: Path, options: Mapping[str, Any]) -> Iterator[Look]:
    """What was known at a time of the tape, its end by default; with `--between` every so many seconds of it.

    Raises Trouble for what is no tape, and no time on it.
    """
    tape = open_tape(path)
    first, last = tape.span
    if options["between"] is not None:
        first, last = (time_on(text, tape.span) for text in options["between"])
        if first > last:
            raise click.UsageError("--between has its earlier time first")
    else:
        first = last = last if options["at"] is None else time_on(options["at"], tape.span)
    logs = logs_of(None, options["client_logs"], options["audit_logs"])
    news: list[str] = []
    timeout_s = options["request_timeout"]
    for moment in moments(tape, first, last, options["interval"], request_timeout_s=timeout_s, tell=news.append):
        yield _look(moment, f"{path} ({tape.about.source})", tuple(tape.problems), tuple(news), logs)
    tape.close()


def _look(moment: Moment, source: str, problems: tuple[str, ...], news: tuple[str, ...], logs: Logs) -> Look:
    seen = moment.frame
    interval_s = seen.t1 - seen.t0 if seen.t0 is not None and seen.t1 is not None else None
    told = (*unseen(seen), *news, *logs.problems)
    return Look(seen, moment.checks, moment.findings, source, seen.t0, seen.t1, interval_s, problems, told, logs)
