"""Reports of what a Prometheus has kept: as of a time, or of all times between two."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import click

from apftop.cli_options import prometheus_store
from apftop.errors import Trouble
from apftop.history.opened import Opened, Scraped
from apftop.history.taped import taped
from apftop.logs.read import logs_of
from apftop.output import said_if_slow
from apftop.played import moments
from apftop.records.logs import Logs
from apftop.records.moment import Moment
from apftop.report.look import Look
from apftop.report.series import Span, span_of
from apftop.tape.reading import Tape
from apftop.tape.times import time_on

DAY_S = 86400.0
"""Hours without a date are those of the last day, and `-10m` is before now."""


def kept_looks(options: Mapping[str, Any]) -> Iterator[tuple[Look, Span | None]]:
    """What was known at a time, now by default; with `--between` every so many seconds, or as one page with charts.

    Raises Trouble for what the store does not answer and what is no time, and UsageError.
    """
    first, last = _span(options)
    store = prometheus_store(options)
    if store is None:
        raise click.UsageError("name the store with --prometheus")
    logs = logs_of(None, options["client_logs"], options["audit_logs"])
    opened = Opened(store, options["selector"])
    try:
        with said_if_slow(f"still waiting for {opened.source}; ctrl+c ends"):
            single = options["between"] is None
            every_s = options["interval"]
            scraped = opened.at(last, every_s) if single else opened.between(first, last, every_s)
    finally:
        opened.close()
    if not scraped.read.samples:
        raise Trouble("it has no scrape of that time", opened.source, "name another time with --at")
    tape = taped(scraped.read.samples, opened.source)
    if not single and options["output"] in ("html", "md"):
        span = span_of(tape, first, last, every_s, options["request_timeout"])
        yield from ((look, span) for look in _looks(tape, scraped, last, last, options, logs))
    else:
        yield from ((look, None) for look in _looks(tape, scraped, first, last, options, logs))


def _span(options: Mapping[str, Any]) -> tuple[float, float]:
    now = time.time()
    day = now - DAY_S, now
    if options["between"] is None:
        at = now if options["at"] is None else time_on(options["at"], day)
        return at, at
    first, last = (time_on(text, day) for text in options["between"])
    if first > last:
        raise click.UsageError("--between has its earlier time first")
    return first, last


def _looks(
    tape: Tape, scraped: Scraped, first: float, last: float, options: Mapping[str, Any], logs: Logs
) -> Iterator[Look]:
    news: list[str] = []
    timeout_s = options["request_timeout"]
    # What holds for all looks is said with the first.
    notes = (*scraped.notes, *logs.problems)
    for one in moments(tape, first, last, options["interval"], request_timeout_s=timeout_s, tell=news.append):
        yield _look(one, tape, (*notes, *news), logs)
        notes = ()


def _look(moment: Moment, tape: Tape, told: tuple[str, ...], logs: Logs) -> Look:
    seen = moment.frame
    interval_s = seen.t1 - seen.t0 if seen.t0 is not None and seen.t1 is not None else None
    problems = tuple(tape.problems)
    return Look(
        seen, moment.checks, moment.findings, tape.about.source, seen.t0, seen.t1, interval_s, problems, told, logs
    )
