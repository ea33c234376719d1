"""`apftop report`: where the samples come from, how often, and what is printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from apftop.cli_options import EITHER, asks_servers, prometheus_store
from apftop.errors import UNREAD
from apftop.output import complain, write
from apftop.present import json_text
from apftop.records.findings import SEVERITIES, Severity
from apftop.report.causes import reaches
from apftop.report.document import document, taken_of
from apftop.report.from_prometheus import kept_looks
from apftop.report.html import page
from apftop.report.look import Look
from apftop.report.looks import looks, one_look
from apftop.report.markdown import markdown
from apftop.report.series import Span
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
    kept = prometheus_store(options) is not None
    if kept and (path is not None or options["batch"] or count_given or asks_servers(options)):
        raise click.UsageError("--prometheus is what was kept: leave out PATH, -b, -n, and which server to ask")
    if not taped and not kept and (options["at"] or options["between"]):
        raise click.UsageError("--at and --between are times of a tape in PATH, or with --prometheus")
    if options["at"] and options["between"]:
        raise click.UsageError(EITHER)
    if path is not None and (options["batch"] or count_given or asks_servers(options)):
        raise click.UsageError("-b, -n and options that say which server to ask are for live looks: leave out PATH")
    if options["output"] == "html" and (options["batch"] or options["count"] > 1):
        raise click.UsageError("-o html is one page: leave out -b and -n")
    unread = failed = False
    for look, span in _looks(path, options, endless=options["batch"] and not count_given):
        _show(look, span, options["output"], lines=options["batch"] or options["count"] > 1 or options["between"])
        unread = unread or _unread(look)
        failed = failed or (options["fail_on"] is not None and _fails(look, span, options["fail_on"]))
    return UNREAD if unread else FOUND if failed else 0


def _looks(path: Path | None, options: Mapping[str, Any], *, endless: bool) -> Iterator[tuple[Look, Span | None]]:
    """The looks to be shown; one page is of one of them, and of a tape also of the time that led to it."""
    if options.get("prometheus") is not None:
        yield from kept_looks(options)
    elif options["output"] == "html" or (options["output"] == "md" and options["between"]):
        yield one_look(path, options)
    else:
        for look in looks(path, options, endless=endless):
            yield look, None


def _show(look: Look, span: Span | None, output: str, *, lines: bool) -> None:
    if output == "html":
        complain((*look.problems, *look.notes))
        write(page(look, span))
    elif output == "json":
        when = taken_of(look.t0, look.t1, look.interval_s)
        told = (*look.problems, *look.notes)
        made = document(look.frame, look.source, when, told, look.checks, look.found, look.logs, look.classified)
        write(json_text(json.dumps(made, ensure_ascii=False, allow_nan=False, indent=None if lines else 2)))
        complain(_problems(look))
    elif output == "md":
        complain((*look.problems, *look.notes))
        when_text = taken(look.t0, look.t1, look.interval_s)
        servers_text = server_text(look.frame, look.checks)
        write(markdown(look.found, look.source, when_text, servers_text, look.classified or (), span))
    else:
        complain((*look.problems, *look.notes))
        classified = look.classified or ()
        write(text(look.frame, look.source, look.t0, look.t1, look.interval_s, look.checks, look.found, classified))


def _problems(look: Look) -> list[str]:
    found = [f"{name}: {one}" for name, replica in look.frame.replicas.items() for one in replica.problems]
    return [*look.problems, *look.notes, *found]


def _fails(look: Look, span: Span | None, severity: Severity) -> bool:
    """Whether anything as bad as that was found, also of what has ended within the span."""
    worst = {one.severity for one in span.lasted} if span else set[str]()
    as_bad = SEVERITIES[: SEVERITIES.index(severity) + 1]
    return reaches(look.found, severity) or not worst.isdisjoint(as_bad)


def _unread(look: Look) -> bool:
    """Whether an endpoint that was asked, or a file that is there, gave nothing."""
    return bool(look.problems) or any(replica.failed for replica in look.frame.replicas.values())
