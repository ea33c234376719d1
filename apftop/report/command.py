"""`apftop report`: where the samples come from, how often, and what is printed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from apftop.access import Access
from apftop.bundle import read_bundle
from apftop.cli_options import access_overrides, asks_servers
from apftop.cluster import find
from apftop.derive.frame import frame
from apftop.errors import UNREAD
from apftop.fetch import Manner, Turn, run
from apftop.live import fold
from apftop.output import complain, write
from apftop.parse.body import BodyPicker, pick
from apftop.parse.vocabulary import asked_names, wanted
from apftop.present import json_text
from apftop.records.frame import Frame
from apftop.records.raw import OBJECTS, Endpoint
from apftop.records.state import State
from apftop.report.document import document, taken_of
from apftop.report.text import text

FIRST = (Endpoint.LEVELS, Endpoint.METRICS, Endpoint.SCHEMAS, Endpoint.CONFIGS)
LATER = (Endpoint.LEVELS, Endpoint.QUEUES, Endpoint.REQUESTS, Endpoint.METRICS)


@dataclass(frozen=True, slots=True)
class Look:
    """One Frame and how it came about."""

    frame: Frame
    source: str
    t0: float | None
    t1: float | None
    interval_s: float | None
    problems: tuple[str, ...]


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
    seen = frame(fold(bundle.samples), options["request_timeout"])
    times = bundle.times
    if not times.shown:
        return Look(seen, str(path), None, None, times.interval_s, bundle.problems)
    t0, t1 = times.t0 or seen.t0, times.t1 or seen.t1
    return Look(seen, str(path), t0, t1, times.interval_s or _window(seen), bundle.problems)


def _live(options: Mapping[str, Any], *, endless: bool) -> Iterator[Look]:
    accesses = find(options["servers"], options["kubeconfig"], options["context"], access_overrides(options))
    manner = Manner(families=asked_names(), picker=Picked)
    state = fold(run(accesses, [Turn(FIRST), Turn(LATER, options["interval"])], manner))
    number = 1
    while True:
        yield _live_look(state, accesses, options)
        if not endless and number >= options["count"]:
            return
        number += 1
        state = fold(run(accesses, [Turn((), 0.0), Turn((*LATER, *OBJECTS), options["interval"])], manner), state)


def _live_look(state: State, accesses: Sequence[Access], options: Mapping[str, Any]) -> Look:
    seen = frame(state, options["request_timeout"])
    interval = seen.t1 - seen.t0 if seen.t0 is not None and seen.t1 is not None else None
    return Look(seen, ", ".join(access.name for access in accesses), seen.t0, seen.t1, interval, _unverified(accesses))


def _unverified(accesses: Sequence[Access]) -> tuple[str, ...]:
    return tuple(f"{access.name}: its certificate is not verified" for access in accesses if access.insecure)


class Picked:
    """The picker of metrics families in the shape that fetching wants."""

    def __init__(self, content_type: str, content_encoding: str, _first: bytes) -> None:
        self._picker = BodyPicker(content_type, content_encoding, wanted())

    def feed(self, chunk: bytes) -> None:
        self._picker.feed(chunk)

    def finish(self) -> bytes:
        return self._picker.finish()[0]


def _window(seen: Frame) -> float | None:
    return next((replica.window.seconds for replica in seen.replicas.values() if replica.window), None)


def _show(look: Look, output: str, *, lines: bool) -> None:
    if output == "json":
        taken = taken_of(look.t0, look.t1, look.interval_s)
        found = document(look.frame, look.source, taken, look.problems)
        write(json_text(json.dumps(found, ensure_ascii=False, allow_nan=False, indent=None if lines else 2)))
        complain(_problems(look))
    else:
        complain(look.problems)
        write(text(look.frame, look.source, look.t0, look.t1, look.interval_s))


def _problems(look: Look) -> list[str]:
    found = [f"{name}: {one}" for name, replica in look.frame.replicas.items() for one in replica.problems]
    return [*look.problems, *found]


def _unread(look: Look) -> bool:
    """Whether an endpoint that was asked, or a file that is there, gave nothing."""
    return bool(look.problems) or any(replica.failed for replica in look.frame.replicas.values())
