"""`apftop lint`: what is wrong with a policy in files or in a cluster, and a policy to start from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from apftop.apf.release import LAST_PATCH, LATEST, Release, parse_release
from apftop.cli_options import asks_servers
from apftop.errors import UNREAD, Trouble
from apftop.lint.all import linted
from apftop.lint.document import document
from apftop.lint.explain import explained, listed
from apftop.lint.gather import objects_of, policy_of, untouched
from apftop.lint.sarif import sarif
from apftop.lint.sources import Source, from_cluster, from_paths, with_objects
from apftop.lint.starter import wish_of
from apftop.lint.starter_text import starter_text
from apftop.lint.text import lines
from apftop.output import complain, write
from apftop.present import json_text
from apftop.records.linting import GRAVITIES, Linted
from apftop.report.looking import servers

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
    live = from_cluster(servers(options)) if options["live"] or asks_servers(options) else None
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
    told = [one for one in (there, given) if one is not None]
    releases = (
        (target_of(options["target"]), "--target"),
        *((one.release, one.by) for one in told),
        (LATEST, "default"),
    )
    target, target_by = next((release, by) for release, by in releases if release is not None)
    numbers = ((options["seats"], "--seats"), *((one.concurrency, one.by) for one in told), (SEATS, "default"))
    concurrency, concurrency_by = next((seats, by) for seats, by in numbers if seats is not None)
    if there is None:
        # Objects of a cluster by themselves change nothing.
        before = objects_of(given.documents) if given.whole else untouched(target)
    else:
        before = objects_of(there.documents)
    policy = policy_of(
        given.documents,
        before,
        target,
        concurrency,
        whole=given.whole,
        as_it_is=(given if there is None else there).complete,
        refused_per_s=next((one.refused_per_s for one in reversed(told) if one.refused_per_s), {}),
    )
    return replace(linted(policy, given.faults), target_by=target_by, concurrency_by=concurrency_by)


def _of_files(paths: tuple[Path, ...]) -> Source:
    return with_objects(from_paths(paths), ", ".join(map(str, paths)))


def target_of(text: str | None) -> Release | None:
    """The release that `--target` names, a minor one by its last patch; raises UsageError where it names none."""
    if text is None:
        return None
    release = parse_release(text)
    if release is None or release.major != 1:
        raise click.UsageError(f"--target is a release such as 1.34, not {text!r}")
    if text.count(".") == 1:
        release = release._replace(patch=LAST_PATCH)
    return release
