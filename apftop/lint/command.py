"""`apftop lint`: what is wrong with a policy in files or in a cluster, and a policy to start from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from apftop.apf.release import Release, parse_release
from apftop.cli_options import asks_servers
from apftop.derive.frame import frame
from apftop.errors import UNREAD
from apftop.fetch import Turn, run
from apftop.lint.all import linted
from apftop.lint.document import document
from apftop.lint.gather import as_built, objects_of, policy_of
from apftop.lint.policy import Objects
from apftop.lint.sarif import sarif
from apftop.lint.sources import Source, from_files, from_samples
from apftop.lint.starter import as_yaml, starter
from apftop.lint.text import lines
from apftop.output import complain, write
from apftop.present import json_text
from apftop.records.linting import GRAVITIES, Linted
from apftop.records.raw import OBJECTS, Endpoint
from apftop.report.known import taken_in
from apftop.report.looking import manner_of_looks, servers

LATEST = Release(1, 37)
"""The newest release whose rules are known here."""

SEATS = 600
"""Seats of a server with default flags: 400 and 200 requests in flight."""

FAILED = 1


def lint(paths: tuple[Path, ...], options: Mapping[str, Any]) -> int:
    """Print what is wrong; 1 for faults as grave as `--fail-on`, 3 where something could not be read."""
    if options["starter"]:
        write(as_yaml(starter(options["starter"], options["name"], options["namespace"] or _namespace(options))))
        return 0
    live = _live(options) if options["live"] or asks_servers(options) else None
    if live is None and not paths:
        raise click.UsageError("name files or folders, or ask a cluster with --live")
    given = from_files(paths) if paths else live or Source()
    there = from_files(options["against"]) if options["against"] else live
    found = _linted(given, there, live, options)
    _show(found, options["output"])
    problems = [*given.problems, *(there.problems if there is not None and there is not given else ())]
    complain(problems)
    if problems:
        return UNREAD
    worst = GRAVITIES.index(options["fail_on"]) if options["fail_on"] != "never" else -1
    return FAILED if any(GRAVITIES.index(fault.gravity) <= worst for fault in found.faults) else 0


def _linted(given: Source, there: Source | None, live: Source | None, options: Mapping[str, Any]) -> Linted:
    target = target_of(options["target"]) or (live.release if live else None) or LATEST
    concurrency = options["seats"] or (live.concurrency if live else None) or SEATS
    before = objects_of(there.documents) if there is not None else as_built(target)
    if there is None and given.whole:
        # Objects of a cluster by themselves change nothing.
        before = objects_of(given.documents)
    policy = policy_of(
        given.documents,
        before if before.schemas or before.levels else Objects(),
        target,
        concurrency,
        whole=given.whole,
        refused_per_s=given.refused_per_s,
    )
    return linted(policy, given.faults)


def _live(options: Mapping[str, Any]) -> Source:
    at = servers(options)
    samples = run(at.accesses, [Turn((Endpoint.METRICS, *OBJECTS))], manner_of_looks())
    complain(at.notes)
    return from_samples(samples, frame(taken_in(samples).state))


def target_of(text: str | None) -> Release | None:
    """The release that `--target` names; raises UsageError where it names none."""
    if text is None:
        return None
    release = parse_release(text)
    if release is None or release.major != 1:
        raise click.UsageError(f"--target is a release such as 1.34, not {text!r}")
    return release


def _namespace(options: Mapping[str, Any]) -> str:
    user = str(options["starter"]).split(":")
    if user[:2] == ["system", "serviceaccount"] and len(user) == 4:
        return user[2]
    raise click.UsageError("--starter for a user that is no service account needs --namespace: whose objects it lists")


def _show(found: Linted, output: str) -> None:
    if output == "text":
        write("\n".join(lines(found)))
        return
    made = document(found) if output == "json" else sarif(found)
    write(json_text(json.dumps(made, ensure_ascii=False, indent=2)))
