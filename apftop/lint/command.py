"""`apftop lint`: what is wrong with a policy in files or in a cluster, and a policy to start from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from apftop.apf.release import LATEST, Release, parse_release
from apftop.cli_options import asks_servers
from apftop.errors import UNREAD, Trouble
from apftop.fetch import Turn, run
from apftop.lint.all import linted
from apftop.lint.document import document
from apftop.lint.explain import explained, listed
from apftop.lint.gather import as_built, objects_of, policy_of
from apftop.lint.policy import Objects
from apftop.lint.sarif import sarif
from apftop.lint.sources import Source, from_paths, from_servers, with_objects
from apftop.lint.starter import wish_of
from apftop.lint.starter_text import starter_text
from apftop.lint.text import lines
from apftop.output import complain, write
from apftop.present import json_text
from apftop.records.linting import GRAVITIES, Linted
from apftop.records.raw import OBJECTS, Endpoint
from apftop.report.looking import manner_of_looks, servers

SEATS = 600
"""Seats of a server with default flags: 400 and 200 requests in flight."""

FAILED = 1


def lint(paths: tuple[Path, ...], options: Mapping[str, Any]) -> int:
    """Print what is wrong; 1 for faults as grave as `--fail-on`, 3 where something could not be read."""
    if (told := _told(options)) is not None:
        write(told)
        return 0
    try:
        return _judged(paths, options)
    except Trouble as trouble:
        if options["output"] == "sarif":
            # Code hosts take no empty file, and a run that failed is what they should show.
            write(json_text(json.dumps(sarif(Linted("", SEATS), Path.cwd(), problems=[str(trouble)]))))
        raise


def _judged(paths: tuple[Path, ...], options: Mapping[str, Any]) -> int:
    live = _live(options) if options["live"] or asks_servers(options) else None
    if live is None and not paths:
        raise click.UsageError("name files or folders, or ask a cluster with --live")
    given = _of_files(paths) if paths else live or Source()
    there = _of_files(options["against"]) if options["against"] else live
    found = _linted(given, there, options)
    problems = [*given.problems, *(there.problems if there is not None and there is not given else ())]
    if options["output"] == "text":
        elsewhere = "cluster" if live is not None else "against" if options["against"] else "built-in"
        write("\n".join(lines(found, elsewhere)))
    else:
        files = [*(one.file for one in given.documents), *(fault.file for fault in given.faults)]
        made = document(found) if options["output"] == "json" else sarif(found, Path.cwd(), files, problems)
        write(json_text(json.dumps(made, ensure_ascii=False, indent=2)))
    complain(problems)
    if problems:
        return UNREAD
    worst = GRAVITIES.index(options["fail_on"]) if options["fail_on"] != "never" else -1
    return FAILED if any(GRAVITIES.index(fault.gravity) <= worst for fault in found.faults) else 0


def _told(options: Mapping[str, Any]) -> str | None:
    """What is asked for without any policy: a list of codes, one of them explained, a policy to start from."""
    if options["codes"]:
        return "\n".join(listed())
    if options["explain"] is not None:
        return "\n".join(explained(options["explain"]))
    if options["starter"] is None:
        for name in ("resources", "namespace"):
            if options[name]:
                raise click.UsageError(f"--{name.removesuffix('s')} goes with --starter")
        return None
    target = target_of(options["target"]) or LATEST
    wish = wish_of(options["starter"], options["namespace"], options["resources"], options["name"], target)
    return starter_text(wish, options["seats"] or SEATS)


def _linted(given: Source, there: Source | None, options: Mapping[str, Any]) -> Linted:
    """By flags, else by what the servers say that run the policy or will run it, else by default."""
    flag = target_of(options["target"])
    told = [one for one in (there, given) if one is not None]
    target, target_by = (
        next(((one.release, one.by) for one in told if one.release is not None), (LATEST, "default"))
        if flag is None
        else (flag, "--target")
    )
    concurrency, concurrency_by = (
        next(((one.concurrency, one.by) for one in told if one.concurrency is not None), (SEATS, "default"))
        if options["seats"] is None
        else (options["seats"], "--seats")
    )
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
        as_it_is=(given if there is None else there).complete,
        refused_per_s=next((one.refused_per_s for one in reversed(told) if one.refused_per_s), {}),
    )
    return replace(linted(policy, given.faults), target_by=target_by, concurrency_by=concurrency_by)


def _of_files(paths: tuple[Path, ...]) -> Source:
    return with_objects(from_paths(paths), ", ".join(map(str, paths)))


def _live(options: Mapping[str, Any]) -> Source:
    at = servers(options)
    samples = run(at.accesses, [Turn((Endpoint.METRICS, *OBJECTS))], manner_of_looks())
    complain(at.notes)
    return with_objects(from_servers(samples), at.source)


def target_of(text: str | None) -> Release | None:
    """The release that `--target` names; raises UsageError where it names none."""
    if text is None:
        return None
    release = parse_release(text)
    if release is None or release.major != 1:
        raise click.UsageError(f"--target is a release such as 1.34, not {text!r}")
    return release
