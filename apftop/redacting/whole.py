"""A whole bundle under other names: answers, logs, requests in question, and what is kept of flows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

import msgspec

from apftop import __version__
from apftop.logs.in_bundle import Kind as LogKind
from apftop.parse.facts import Facts, Hand
from apftop.records.parsed import ParseError
from apftop.records.raw import Endpoint, Sample
from apftop.redacting.asked import asked
from apftop.redacting.facts import hands_of, queues_of
from apftop.redacting.logs import log
from apftop.redacting.pseudonyms import Kind, Learning, Naming, Pseudonyms
from apftop.redacting.samples import distinguished, renamed
from apftop.redacting.words import user

KEPT = (
    "all counts, sizes, times, ages, positions and limits",
    "which names are the same, how they are ordered, and which belong together",
    "names that Kubernetes gives: users, groups, namespaces, flow schemas, levels, resources, API groups, verbs, paths",
    "names of tools that write objects, feature gates, admission plugins and the release of servers",
    "the hands of flows, which can confirm a guess of who a flow was",
)


@dataclass(frozen=True, slots=True)
class Log:
    """A log that lies in a bundle: its path without `.gz`, and its whole text."""

    path: PurePosixPath
    kind: LogKind
    body: bytes


@dataclass(frozen=True, slots=True)
class Flow:
    """The flow of a request in question, by its true names: of a user, else of a namespace, and its hand."""

    schema: str
    distinguisher: str
    by_user: bool
    queues: int
    hand: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    """All that a bundle holds. `requests` is requests.json, None where there is none, and `flows` are those in it."""

    samples: Sequence[Sample]
    logs: Sequence[Log] = ()
    requests: bytes | None = None
    flows: Sequence[Flow] = ()


@dataclass(frozen=True, slots=True)
class Redacted:
    """The same under other names: `files` beside the answers, what was left out a line each, and who is who."""

    samples: tuple[Sample, ...]
    files: Mapping[PurePosixPath, bytes]
    left_out: tuple[str, ...]
    names: Pseudonyms


def redacted(whole: Whole) -> Redacted:
    """A bundle under pseudonyms; all names are learnt first, so that these stand in the order of the names."""
    learning = Learning()
    _made(whole, learning)
    names = learning.table()
    samples, files, left_out = _made(whole, names)
    return Redacted(samples, files, left_out, names)


def _made(whole: Whole, naming: Naming) -> tuple[tuple[Sample, ...], dict[PurePosixPath, bytes], tuple[str, ...]]:
    found = renamed(whole.samples, naming)
    files, left = _beside(whole, naming)
    left_out = (*found.left_out, *left)
    return _with_facts(whole, found.samples, naming, left_out), files, left_out


def _beside(whole: Whole, naming: Naming) -> tuple[dict[PurePosixPath, bytes], list[str]]:
    """Logs, and the requests in question."""
    files: dict[PurePosixPath, bytes] = {}
    left: list[str] = []
    servers = {one.replica for one in whole.samples}
    for one in whole.logs:
        name = _place(one.path, servers, naming)
        files[name], lines = log(one.body, one.kind, naming)
        left += [f"{name}: {lines} lines that are about other things or cannot be read"] if lines else []
    if whole.requests is not None:
        try:
            files[PurePosixPath("requests.json")] = asked(whole.requests, naming)
        except ParseError:
            left.append("requests.json: it cannot be read")
    return files, left


def _place(path: PurePosixPath, servers: Collection[str], naming: Naming) -> PurePosixPath:
    """Where a log lies: in the folder of its server, or at the top. A folder has the server's name or this encoded."""
    if len(path.parts) < 3:
        return path
    folder = path.parts[1]
    server = folder if folder in servers else unquote(folder)
    return PurePosixPath(path.parts[0], quote(naming(Kind.SERVER, server), safe=""), path.name)


def _with_facts(
    whole: Whole, samples: tuple[Sample, ...], naming: Naming, left_out: tuple[str, ...]
) -> tuple[Sample, ...]:
    """The answers of each server after what is kept of its flows."""
    queues, whose = queues_of(whole.samples), distinguished(whole.samples)
    asked_for = tuple(
        Hand(
            naming(Kind.SCHEMA, one.schema),
            user(one.distinguisher, naming) if one.by_user else naming(Kind.NAMESPACE, one.distinguisher),
            one.queues,
            one.hand,
        )
        for one in whole.flows
    )
    facts: list[Sample] = []
    for replica in dict.fromkeys(one.replica for one in whole.samples):
        own = [one for one in whole.samples if one.replica == replica]
        name = naming(Kind.SERVER, replica)
        hands = tuple(dict.fromkeys((*hands_of(own, queues, naming, whose), *asked_for)))
        told = Facts(f"apftop {__version__}", KEPT, tuple(one for one in left_out if _of(one, name)), hands)
        body = msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n"
        facts.append(replace(Sample(name, Endpoint.FACTS, body), wire_bytes=0))
    return (*facts, *samples)


def _of(line: str, replica: str) -> bool:
    return line.startswith((f"{replica}: ", "audit.log", "log.txt", "client.log", "requests.json"))
