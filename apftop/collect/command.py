"""`apftop collect`: what servers say as a bundle, under true names or others, and what it holds, lacks, is good for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from apftop import __version__
from apftop.cli_options import asks_servers
from apftop.collect.given import Given, bundled, live, taped
from apftop.collect.layout import About
from apftop.collect.mapping import write_mapping
from apftop.collect.writer import check_target, write_bundle
from apftop.derive.frame import frame
from apftop.errors import UNREAD, Trouble
from apftop.live import fold
from apftop.output import complain, write
from apftop.present import plain, size
from apftop.records.frame import Frame
from apftop.records.raw import Endpoint, Sample
from apftop.redacting.whole import Redacted, Whole, redacted
from apftop.tape.reading import is_tape

SAVED = (Endpoint.METRICS, Endpoint.LEVELS, Endpoint.QUEUES, Endpoint.REQUESTS, Endpoint.SCHEMAS, Endpoint.CONFIGS)
MOST_LINES = 20
UNNAMED = "redacted: names are pseudonyms, and hands of flows are kept from before"


def collect(path: Path | None, options: Mapping[str, Any]) -> int:
    """Save a bundle under `output` and say what is in it; the exit code is 3 when something could not be read.

    It is of the tape or bundle in `path`, of a tape as of a time, or of live servers. What could be read is saved all
    the same. Raises Trouble where nothing is saved: nobody answered, there is something under that name already, or it
    cannot be written.
    """
    target, mapping = options["output"], options["keep_mapping"]
    _check(path, options)
    check_target(target)
    if mapping is not None and os.path.lexists(mapping):
        raise Trouble("there is something already", str(mapping), "name another file: nothing is overwritten")
    given = _given(path, options)
    if not any(sample.status or sample.body for sample in given.samples):
        complain(_problems(frame(fold(given.samples))))
        raise Trouble("nothing is saved, for no server answered", given.source, "see `apftop doctor`")
    if options["redact"]:
        return _redacted(given, target, mapping)
    seen = frame(fold(given.samples))
    write_bundle(given.samples, target, About(given.source, given.times, given.times.redacted, given.beside))
    complain((*given.told, *_problems(seen)))
    write("\n".join(_told(target, given.source, given.samples, seen, _plainly(target))))
    return _code(seen)


def _check(path: Path | None, options: Mapping[str, Any]) -> None:
    """Raise UsageError for options that do not go together."""
    if path is None and options["at"] is not None:
        raise click.UsageError("--at is a time of a tape: name the tape")
    if path is not None and asks_servers(options):
        raise click.UsageError("options that say which server to ask are for live servers: leave out the path")
    if options["at"] is not None and path is not None and not is_tape(path):
        raise click.UsageError("--at is a time of a tape, and this is a bundle: leave it out")
    if options["keep_mapping"] is not None and not options["redact"]:
        raise click.UsageError("--keep-mapping keeps the names that --redact replaces: give both")


def _given(path: Path | None, options: Mapping[str, Any]) -> Given:
    if path is None:
        return live(options)
    return taped(path, options["at"]) if is_tape(path) else bundled(path)


def _redacted(given: Given, target: Path, mapping: Path | None) -> int:
    """Save the bundle under pseudonyms, and nothing that names anybody."""
    if given.times.redacted:
        raise Trouble("its names are pseudonyms already", given.source, "pass it on as it is")
    whole = redacted(Whole(given.samples, given.logs, given.requests, given.flows))
    seen = frame(fold(whole.samples))
    if mapping is not None:
        write_mapping(whole.names, mapping)
    about = About(UNNAMED, given.times, f"apftop {__version__}", whole.files)
    write_bundle(whole.samples, target, about)
    complain((*given.told, *_problems(seen)))
    write("\n".join(_told(target, UNNAMED, whole.samples, seen, _renamed(whole, target, mapping))))
    return _code(seen)


def _code(seen: Frame) -> int:
    return UNREAD if any(replica.failed for replica in seen.replicas.values()) else 0


def _problems(seen: Frame) -> list[str]:
    return [f"{name}: {problem}" for name, replica in seen.replicas.items() for problem in replica.problems]


def _told(target: Path, source: str, samples: Sequence[Sample], seen: Frame, more: Iterator[str]) -> Iterator[str]:
    """What was saved of whom, and what must be known before it is passed on."""
    number = len(seen.replicas)
    yield (
        f"saved {plain(str(target))} ({size(_bytes(target))}): {plain(source)}, "
        f"{number} server{'s' if number != 1 else ''}"
    )
    for replica in seen.replicas:
        there = {sample.endpoint for sample in samples if sample.replica == replica and sample.ok}
        lacks = ", ".join(endpoint.value for endpoint in SAVED if endpoint not in there)
        yield f"  {plain(replica)}: {'without ' + lacks if lacks else 'whole'}"
    if seen.callbacks is None:
        yield "  without webhooks and APIServices, which no server told: see `apftop doctor`"
    yield from more


def _plainly(target: Path) -> Iterator[str]:
    yield "It names users, namespaces and objects: look through it before you pass it on, or save it with --redact."
    yield "It holds no credentials."
    yield f"Next: apftop report {plain(str(target))}"


def _renamed(whole: Redacted, target: Path, mapping: Path | None) -> Iterator[str]:
    number = sum(len(names) for names in whole.names.names.values())
    yield f"{number} names are replaced by pseudonyms, the same ones everywhere; facts.json says what is kept."
    yield "The hands of flows are kept: they can confirm a guess of who a flow was, for those who know its name."
    for line in whole.left_out[:MOST_LINES]:
        yield f"left out: {plain(line)}"
    if len(whole.left_out) > MOST_LINES:
        yield f"left out: {len(whole.left_out) - MOST_LINES} more, see left_out in facts.json"
    if mapping is not None:
        yield f"Who is who is in {plain(str(mapping))}: keep it to yourself."
    yield f"Next: apftop report {plain(str(target))}"


def _bytes(target: Path) -> int:
    return sum(file.stat().st_size for file in (target, *target.rglob("*")) if file.is_file())
