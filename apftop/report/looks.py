"""What reports are of: looks at servers, at a bundle, or at a tape; one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from apftop.bundle import read_bundle
from apftop.classifying.saved import saved_requests
from apftop.derive.frame import frame
from apftop.logs.read import logs_of
from apftop.output import said_if_slow
from apftop.parse.body import pick
from apftop.parse.vocabulary import wanted_at_once
from apftop.records.classified import Classified
from apftop.records.frame import Frame
from apftop.records.logs import Logs
from apftop.records.parsed import ParseError
from apftop.report.asked import classified_in
from apftop.report.known import Known, checked_all, found_in, taken_in
from apftop.report.look import Look
from apftop.report.looking import Servers, first_look, next_look, notes, servers, unseen
from apftop.report.series import Span, span_of
from apftop.report.taped import looks_of, times_of
from apftop.tape.reading import is_tape, open_tape

BEFORE_S = 600.0
"""So long before a time of a tape its charts begin, where no other beginning is named (seconds)."""


def looks(path: Path | None, options: Mapping[str, Any], *, endless: bool = False) -> Iterator[Look]:
    """The looks that options ask for: the one of a bundle, those of a tape, or those at servers.

    Raises Trouble, Unreachable and UsageError.
    """
    if path is None:
        return _live(options, endless=endless)
    return looks_of(path, options) if is_tape(path) else iter([_bundle(path, options)])


def one_look(path: Path | None, options: Mapping[str, Any]) -> tuple[Look, Span | None]:
    """The look that one page is of, and of a tape the time that led to it: as named, else ten minutes."""
    if path is None or not is_tape(path):
        return next(looks(path, options)), None
    tape = open_tape(path)
    try:
        first, last, told = times_of(tape, options)
        if options["between"] is None:
            first = last - BEFORE_S
        with said_if_slow("still reading the tape; ctrl+c ends"):
            span = span_of(tape, first, last, options["interval"], options["request_timeout"])
            at = datetime.fromtimestamp(span.last, UTC).isoformat()
            look = next(looks_of(path, {**options, "at": at, "between": None}))
    finally:
        tape.close()
    # An hour that is on several days was said of the times that were written.
    return replace(look, notes=tuple(dict.fromkeys((*told, *look.notes)))), span


def _bundle(path: Path, options: Mapping[str, Any]) -> Look:
    families = wanted_at_once()
    bundle = read_bundle(path, lambda chunks, kind, encoding: pick(chunks, kind, encoding, families))
    known = taken_in(bundle.samples)
    seen, checks = frame(known.state, options["request_timeout"]), checked_all(known)
    times = bundle.times
    source = f"{path} ({times.source})" if times.source else str(path)
    logs = _logs(path, options)
    classified, unread, untold = _classified(path, known, seen)
    problems, told = (*bundle.problems, *unread), (*unseen(seen), *logs.problems, *untold)
    found = found_in(seen, checks, logs, times.t1)
    if not times.shown:
        return Look(seen, checks, found, source, None, None, times.interval_s, problems, told, logs, classified)
    t0, t1, interval_s = times.t0 or seen.t0, times.t1 or seen.t1, times.interval_s or _window(seen)
    return Look(seen, checks, found, source, t0, t1, interval_s, problems, told, logs, classified)


def _classified(
    path: Path, known: Known, seen: Frame
) -> tuple[tuple[Classified, ...] | None, tuple[str, ...], tuple[str, ...]]:
    """The requests that lie with a bundle, what of them cannot be read, and what else stands in the way."""
    try:
        asked = saved_requests(path)
    except ParseError as error:
        return None, (str(error),), ()
    if asked is None:
        return None, (), ()
    found, untold = classified_in(asked, known.state, seen)
    return found, (), untold


def _live(options: Mapping[str, Any], *, endless: bool) -> Iterator[Look]:
    logs = _logs(None, options)
    at = servers(options)
    samples, left_out = first_look(at, options["interval"])
    known = taken_in(samples)
    number = 1
    while True:
        yield _live_look(known, at, options, logs, (*logs.problems, *left_out))
        if not endless and number >= options["count"]:
            return
        number, left_out = number + 1, ()
        known = taken_in(next_look(at, options["interval"]), known)


def _live_look(known: Known, at: Servers, options: Mapping[str, Any], logs: Logs, left_out: tuple[str, ...]) -> Look:
    seen = frame(known.state, options["request_timeout"])
    interval = seen.t1 - seen.t0 if seen.t0 is not None and seen.t1 is not None else None
    checks = checked_all(known)
    told = (*notes(at, seen), *left_out)
    found = found_in(seen, checks, logs)
    return Look(seen, checks, found, at.source, seen.t0, seen.t1, interval, (), told, logs)


def _logs(path: Path | None, options: Mapping[str, Any]) -> Logs:
    with said_if_slow("still reading the logs; ctrl+c ends"):
        return logs_of(path, options["client_logs"], options["audit_logs"])


def _window(seen: Frame) -> float | None:
    return next((replica.window.seconds for replica in seen.replicas.values() if replica.window), None)
