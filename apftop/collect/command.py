"""`apftop collect`: two looks at all replicas, or one at a tape, as a bundle, and what it holds, lacks, is good for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from apftop.cli_options import asks_servers
from apftop.collect.writer import check_target, write_bundle
from apftop.derive.frame import frame
from apftop.errors import UNREAD, Trouble
from apftop.live import fold
from apftop.output import complain, write
from apftop.played import moments
from apftop.present import plain, size
from apftop.records.frame import Frame
from apftop.records.raw import Endpoint, Sample
from apftop.report.looking import first_look, notes, servers
from apftop.tape.reading import open_tape
from apftop.tape.times import time_on

SAVED = (Endpoint.METRICS, Endpoint.LEVELS, Endpoint.QUEUES, Endpoint.REQUESTS, Endpoint.SCHEMAS, Endpoint.CONFIGS)


def collect(path: Path | None, options: Mapping[str, Any]) -> int:
    """Save a bundle under `output` and say what is in it; the exit code is 3 when something could not be read.

    It is of the tape in `path` as of a time, or of live servers. What could be read is saved all the same. Raises
    Trouble where nothing is saved: nobody answered, there is something under that name already, or it cannot be
    written.
    """
    target: Path = options["output"]
    if path is None and options["at"] is not None:
        raise click.UsageError("--at is a time of a tape: name the tape")
    if path is not None and asks_servers(options):
        raise click.UsageError("options that say which server to ask are for live servers: leave out the tape")
    check_target(target)
    source, samples, told = _live(options) if path is None else _taped(path, options["at"])
    seen = frame(fold(samples))
    if not any(sample.status for sample in samples):
        complain(_problems(seen))
        raise Trouble("nothing is saved, for no server answered", source, "see `apftop doctor`")
    write_bundle(samples, target, source=source)
    complain((*told, *_problems(seen)))
    write("\n".join(_told(target, source, samples, seen)))
    return UNREAD if any(replica.failed for replica in seen.replicas.values()) else 0


def _live(options: Mapping[str, Any]) -> tuple[str, Sequence[Sample], tuple[str, ...]]:
    """Whose answers these are, the answers of two looks, and what else there is to say."""
    at = servers(options)
    samples, left_out = first_look(at, options["interval"])
    return at.source, samples, (*notes(at, frame(fold(samples))), *left_out)


def _taped(path: Path, at: str | None) -> tuple[str, Sequence[Sample], tuple[str, ...]]:
    """The same of a tape: the answers that its moment at that time stands on, or its last one."""
    tape = open_tape(path)
    when = tape.span[1] if at is None else time_on(at, tape.span)
    (moment,) = moments(tape, when, when, 1.0, tell=lambda _: None)
    tape.close()
    return tape.about.source, moment.samples, tuple(tape.problems)


def _problems(seen: Frame) -> list[str]:
    return [f"{name}: {problem}" for name, replica in seen.replicas.items() for problem in replica.problems]


def _told(target: Path, source: str, samples: Sequence[Sample], seen: Frame) -> Iterator[str]:
    """What was saved of whom, what must be known before it is passed on, and the next step."""
    name = plain(str(target))
    number = len(seen.replicas)
    yield f"saved {name} ({size(_bytes(target))}): {plain(source)}, {number} server{'s' if number != 1 else ''}"
    for replica in seen.replicas:
        there = {sample.endpoint for sample in samples if sample.replica == replica and sample.ok}
        lacks = ", ".join(endpoint.value for endpoint in SAVED if endpoint not in there)
        yield f"  {plain(replica)}: {'without ' + lacks if lacks else 'whole'}"
    if seen.callbacks is None:
        yield "  without webhooks and APIServices, which no server told: see `apftop doctor`"
    yield "It names users, namespaces and objects: look through it before you pass it on. It holds no credentials."
    yield f"Next: apftop report {name}"


def _bytes(target: Path) -> int:
    return sum(file.stat().st_size for file in (target, *target.rglob("*")) if file.is_file())
