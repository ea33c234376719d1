"""`apftop report`: where the samples come from, how often, and what is printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from apftop.bundle import read_bundle
from apftop.classifying.saved import saved_requests
from apftop.cli_options import asks_servers
from apftop.derive.frame import frame
from apftop.errors import UNREAD
from apftop.logs.read import logs_of
from apftop.output import complain, said_if_slow, write
from apftop.parse.body import pick
from apftop.parse.vocabulary import wanted_at_once
from apftop.present import json_text
from apftop.records.classified import Classified
from apftop.records.frame import Frame
from apftop.records.logs import Logs
from apftop.records.parsed import ParseError
from apftop.report.asked import classified_in
from apftop.report.causes import reaches
from apftop.report.document import document, taken_of
from apftop.report.known import Known, checked_all, found_in, taken_in
from apftop.report.look import Look
from apftop.report.looking import Servers, first_look, next_look, notes, servers, unseen
from apftop.report.markdown import markdown
from apftop.report.taped import looks_of
from apftop.report.text import server_text, taken, text
from apftop.tape.reading import is_tape

FOUND = 1
"""The exit code when something as bad as `--fail-on` was found."""


def report(path: Path | None, options: Mapping[str, Any], *, count_given: bool) -> int:
    """Print the report, or reports.

    The exit code is 3 when something that was there could not be read, else 1 when anything as bad as `--fail-on` was
    found in any of them.
    """
    taped = path is not None and is_tape(path)
    if not taped and (options["at"] or options["between"]):
        raise click.UsageError("--at and --between are times of a tape in PATH")
    if path is not None and (options["batch"] or count_given or asks_servers(options)):
        raise click.UsageError("-b, -n and options that say which server to ask are for live looks: leave out PATH")
    if path is None:
        looks = _live(options, endless=options["batch"] and not count_given)
    else:
        looks = looks_of(path, options) if taped else iter([_bundle(path, options)])
    unread = failed = False
    for look in looks:
        _show(look, options["output"], lines=options["batch"] or options["count"] > 1 or options["between"])
        unread = unread or _unread(look)
        failed = failed or (options["fail_on"] is not None and reaches(look.found, options["fail_on"]))
    return UNREAD if unread else FOUND if failed else 0


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
    found, notes = classified_in(asked, known.state, seen)
    return found, (), notes


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


def _show(look: Look, output: str, *, lines: bool) -> None:
    if output == "json":
        when = taken_of(look.t0, look.t1, look.interval_s)
        told = (*look.problems, *look.notes)
        made = document(look.frame, look.source, when, told, look.checks, look.found, look.logs, look.classified)
        write(json_text(json.dumps(made, ensure_ascii=False, allow_nan=False, indent=None if lines else 2)))
        complain(_problems(look))
    elif output == "md":
        complain((*look.problems, *look.notes))
        when_text = taken(look.t0, look.t1, look.interval_s)
        servers_text = server_text(look.frame, look.checks)
        write(markdown(look.found, look.source, when_text, servers_text, look.classified or ()))
    else:
        complain((*look.problems, *look.notes))
        classified = look.classified or ()
        write(text(look.frame, look.source, look.t0, look.t1, look.interval_s, look.checks, look.found, classified))


def _problems(look: Look) -> list[str]:
    found = [f"{name}: {one}" for name, replica in look.frame.replicas.items() for one in replica.problems]
    return [*look.problems, *look.notes, *found]


def _unread(look: Look) -> bool:
    """Whether an endpoint that was asked, or a file that is there, gave nothing."""
    return bool(look.problems) or any(replica.failed for replica in look.frame.replicas.values())
