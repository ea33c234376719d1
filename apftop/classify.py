"""`apftop classify`: which schema, level and flow a request gets, why not another, and what a server says itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from apftop.apf.allocation import limits
from apftop.apf.classify import Classifier
from apftop.apf.release import LATEST, Release, holds
from apftop.apf.shards import dealable
from apftop.bundle import is_bundle
from apftop.classifying.asked import requests_asked
from apftop.classifying.classified import classified
from apftop.classifying.document import SCHEMA, document, told
from apftop.classifying.probed import differs, probed_document
from apftop.classifying.setting import SERVER_TIMEOUT_S, Setting
from apftop.classifying.text import lines
from apftop.classifying.words import listed
from apftop.cli_options import asks_servers
from apftop.errors import UNREAD, Trouble
from apftop.lint.command import SEATS, target_of
from apftop.lint.gather import objects_of, policy_of
from apftop.lint.policy import Objects
from apftop.lint.sources import Source, from_cluster, from_paths, with_objects
from apftop.output import complain, write
from apftop.present import json_text, plain
from apftop.probe import probed
from apftop.records.classified import Asked, Classified
from apftop.records.linting import Fault
from apftop.records.parsed import ParseError
from apftop.records.probed import Heard
from apftop.report.looking import Servers, servers

RULES_KNOWN = (">=1.26 <1.38",)
OTHER = 1
"""The exit code where a request does not get the schema that was expected, or a server says otherwise."""

UNMADE = ("broken", "unreadable", "not-rendered")
"""Faults of files after which an object is not there that servers may have."""


@dataclass(frozen=True, slots=True)
class Known:
    """The policy and the server that requests meet; `where` says in words whose policy, `server` what server."""

    setting: Setting
    seats: int
    where: str
    server: str


def classify(path: Path | None, options: Mapping[str, Any]) -> int:
    """Print where requests go; 1 where one does not get the schema of `--expect`, or the server says otherwise.

    Raises UsageError for flags that name no request, and Trouble for a policy or requests that cannot be read.
    """
    if options["expect"] == "":
        raise click.UsageError("--expect is empty: name a flow schema, or leave it out")
    try:
        asked = requests_asked(path, options)
        at = servers(options) if options["live"] or options["probe"] or asks_servers(options) else None
        paths = (*((path,) if path is not None else ()), *options["objects"])
        live = _live(at) if at is not None and _by_live(paths, options) else None
        given = _given(paths, lone_requests=path is not None and not options["objects"])
    except ParseError as error:
        raise click.UsageError(str(error)) from None
    known = _known(given, live, options)
    found = [classified(one, known.setting, options["expect"] or "") for one in asked]
    heard = _heard(asked, at) if options["probe"] and at is not None else {}
    _show(found, heard, known, options)
    unread = live.problems if live is not None else ()
    complain(unread)
    if unread:
        return UNREAD
    other = any(one.expected is not None and not one.expected.met for one in found)
    return OTHER if other or any(differs(one, heard.get(one.asked.name)) for one in found) else 0


def _by_live(paths: tuple[Path, ...], options: Mapping[str, Any]) -> bool:
    """Whether the cluster's policy counts: where it is asked for, or where there is no other one."""
    return bool(options["live"]) or not paths or (asks_servers(options) and not options["probe"])


def _live(at: Servers) -> Source:
    source = from_cluster(at)
    kinds = {one.kind for one in source.documents}
    if missing := [kind for kind in ("FlowSchema", "PriorityLevelConfiguration") if kind not in kinds]:
        raise Trouble(f"no {missing[0]} could be read", at.source, "; ".join(source.problems))
    _all_made(source)
    return source


def _given(paths: tuple[Path, ...], *, lone_requests: bool) -> Source:
    """The policy in files, none where a folder has only requests; raises Trouble where not all of it is there."""
    source = from_paths(paths)
    if paths and not (lone_requests and not is_bundle(paths[0]) and (paths[0] / "requests.json").exists()):
        source = with_objects(source, ", ".join(map(str, paths)))
    _all_made(source)
    complain(_twice(source))
    if source.problems:
        complain(source.problems[1:])
        raise Trouble("the policy cannot be read", source.problems[0], "nobody can tell where requests go without it")
    return source


def _twice(source: Source) -> Iterator[str]:
    """A line where objects are given more than once, as by a folder with two policies."""
    given = Counter(f"{one.kind} {one.name}" for one in source.documents)
    if twice := [name for name, number in given.items() if number > 1]:
        yield f"given more than once, and the last of each counts: {listed(map(plain, twice))}"


def _all_made(source: Source) -> None:
    """Raises Trouble where an object is broken: servers may have it all the same, or refuse it."""
    broken = [_said(fault) for fault in source.faults if fault.gravity == "error" and fault.code in UNMADE]
    if broken:
        complain(broken[1:])
        raise Trouble("an object of the policy is broken", broken[0], "nobody can tell where requests go without it")
    complain(_said(fault) for fault in source.faults)


def _said(fault: Fault) -> str:
    where = fault.file if fault.line is None else f"{fault.file}:{fault.line}"
    return ": ".join(part for part in (where, fault.key, fault.text) if part)


def _known(given: Source, live: Source | None, options: Mapping[str, Any]) -> Known:
    told = target_of(options["target"]) or (live.release if live else None) or given.release
    known_seats = options["seats"] or (live.concurrency if live else None) or given.concurrency
    release, seats = told or LATEST, known_seats or SEATS
    there = objects_of(live.documents) if live is not None else Objects()
    as_it_is = live is not None and live.complete
    objects = policy_of(given.documents, there, release, seats, whole=given.whole, as_it_is=as_it_is).after
    nominal = limits(dealable(objects.levels.values()), seats, release)
    setting = Setting(
        Classifier(objects.schemas.values(), objects.levels.values()),
        release,
        {name: one.nominal for name, one in nominal.items()},
        options["request_timeout"] or SERVER_TIMEOUT_S,
        _gates(given, live, options),
        options["stored"],
        options["bytes_each"],
        options["watchers"],
        given.kept,
    )
    untold = [flag for flag, one in (("--target", told), ("--seats", known_seats)) if one is None]
    return Known(setting, seats, _where(given, live), _server(release, seats, untold))


def _server(release: Release, seats: int, untold: list[str]) -> str:
    """What server requests meet, in words, and what of it is taken for granted, by the flags that tell it."""
    beyond = "" if holds(release, RULES_KNOWN) else ", by the rules of the nearest release that is known"
    granted = f"; taken for granted without {' and '.join(untold)}" if untold else ""
    return f"Kubernetes {release} with {seats} seats{beyond}{granted}"


def _gates(given: Source, live: Source | None, options: Mapping[str, Any]) -> Mapping[str, bool]:
    """The feature gates as servers name them, none of another release that is asked for."""
    return {} if options["target"] else (live or given).gates


def _where(given: Source, live: Source | None) -> str:
    """Where the policy is from, in words."""
    base = "that of the cluster" if live is not None else "the built-in one"
    if not given.documents:
        return base
    counts = {
        kind: len({one.name for one in given.documents if one.kind == kind})
        for kind in ("FlowSchema", "PriorityLevelConfiguration")
    }
    own = " and ".join(f"{number} {kind}{'s' if number > 1 else ''}" for kind, number in counts.items() if number)
    whole = given.whole and all(counts.values())
    return f"{own}, as given" if whole else f"{base}, with {own} from the files"


def _heard(asked: tuple[Asked, ...], at: Servers) -> dict[str, Heard]:
    """By request, what the first server says of it."""
    names = [one.name for one in asked]
    return dict(zip(names, probed([one.request for one in asked], at.accesses[0]), strict=True))


def _show(found: list[Classified], heard: Mapping[str, Heard], known: Known, options: Mapping[str, Any]) -> None:
    if options["output"] == "text":
        by = {"policy": known.where, "server": known.server}
        write("\n".join(lines(found, heard, by, every=options["every"])))
        return
    made = {
        "schema": SCHEMA,
        "release": str(known.setting.release),
        "policy": known.where,
        "server_seats": known.seats,
        "classify": told(found),
        "not_as_expected": [one.asked.name for one in found if one.expected is not None and not one.expected.met],
        "requests": [{**document(one), "probed": probed_document(one, heard.get(one.asked.name))} for one in found],
    }
    write(json_text(json.dumps(made, ensure_ascii=False, indent=2)))
