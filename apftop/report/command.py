"""`apftop report`: where the samples come from, how often, and what is printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from apftop.bundle import read_bundle
from apftop.cli_options import asks_servers
from apftop.derive.frame import frame
from apftop.errors import UNREAD
from apftop.output import complain, write
from apftop.parse.body import pick
from apftop.parse.vocabulary import wanted
from apftop.present import json_text
from apftop.records.checks import Checks
from apftop.records.frame import Frame
from apftop.report.document import document, taken_of
from apftop.report.known import Known, checked_all, taken_in
from apftop.report.looking import Servers, first_look, next_look, notes, servers, unseen
from apftop.report.text import text


@dataclass(frozen=True, slots=True)
class Look:
    """One Frame and how it came about. `notes` say what it cannot show, though nothing went wrong."""

    frame: Frame
    checks: Checks
    source: str
    t0: float | None
    t1: float | None
    interval_s: float | None
    problems: tuple[str, ...]
    notes: tuple[str, ...]


def report(path: Path | None, options: Mapping[str, Any], *, count_given: bool) -> int:
    """Print the report, or reports; the exit code is 3 when something that was there could not be read."""
    if path is not None and (options["batch"] or count_given or asks_servers(options)):
        raise click.UsageError("-b, -n and options that say which server to ask are for live looks: leave out PATH")
    looks = (
        iter([_bundle(path, options)])
        if path is not None
        else _live(options, endless=options["batch"] and not count_given)
    )
    unread = False
    for look in looks:
        _show(look, options["output"], lines=options["batch"] or options["count"] > 1)
        unread = unread or _unread(look)
    return UNREAD if unread else 0


def _bundle(path: Path, options: Mapping[str, Any]) -> Look:
    families = wanted()
    bundle = read_bundle(path, lambda chunks, kind, encoding: pick(chunks, kind, encoding, families))
    known = taken_in(bundle.samples)
    seen, checks = frame(known.state, options["request_timeout"]), checked_all(known)
    times = bundle.times
    source = f"{path} ({times.source})" if times.source else str(path)
    if not times.shown:
        return Look(seen, checks, source, None, None, times.interval_s, bundle.problems, unseen(seen))
    t0, t1 = times.t0 or seen.t0, times.t1 or seen.t1
    return Look(seen, checks, source, t0, t1, times.interval_s or _window(seen), bundle.problems, unseen(seen))


def _live(options: Mapping[str, Any], *, endless: bool) -> Iterator[Look]:
    at = servers(options)
    samples, left_out = first_look(at, options["interval"])
    known = taken_in(samples)
    number = 1
    while True:
        yield _live_look(known, at, options, left_out)
        if not endless and number >= options["count"]:
            return
        number, left_out = number + 1, ()
        known = taken_in(next_look(at, options["interval"]), known)


def _live_look(known: Known, at: Servers, options: Mapping[str, Any], left_out: tuple[str, ...]) -> Look:
    seen = frame(known.state, options["request_timeout"])
    interval = seen.t1 - seen.t0 if seen.t0 is not None and seen.t1 is not None else None
    return Look(seen, checked_all(known), at.source, seen.t0, seen.t1, interval, (), (*notes(at, seen), *left_out))


def _window(seen: Frame) -> float | None:
    return next((replica.window.seconds for replica in seen.replicas.values() if replica.window), None)


def _show(look: Look, output: str, *, lines: bool) -> None:
    if output == "json":
        taken = taken_of(look.t0, look.t1, look.interval_s)
        found = document(look.frame, look.source, taken, (*look.problems, *look.notes), look.checks)
        write(json_text(json.dumps(found, ensure_ascii=False, allow_nan=False, indent=None if lines else 2)))
        complain(_problems(look))
    else:
        complain((*look.problems, *look.notes))
        write(text(look.frame, look.source, look.t0, look.t1, look.interval_s, look.checks))


def _problems(look: Look) -> list[str]:
    found = [f"{name}: {one}" for name, replica in look.frame.replicas.items() for one in replica.problems]
    return [*look.problems, *look.notes, *found]


def _unread(look: Look) -> bool:
    """Whether an endpoint that was asked, or a file that is there, gave nothing."""
    return bool(look.problems) or any(replica.failed for replica in look.frame.replicas.values())
