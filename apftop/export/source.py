"""Where what is exported comes from: a tape, a bundle, or two looks at live servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apftop.bundle import read_bundle
from apftop.derive.frame import frame
from apftop.logs.read import logs_of
from apftop.parse.body import pick
from apftop.parse.vocabulary import wanted_at_once
from apftop.records.frame import Frame
from apftop.records.logs import NO_LOGS, Logs
from apftop.records.raw import Sample
from apftop.report.known import taken_in
from apftop.report.looking import first_look, notes, servers, unseen
from apftop.report.taped import times_of
from apftop.tape.reading import Tape, is_tape, open_tape

EVERY_S = 5.0
"""So many seconds apart are moments of a tape, and two live looks, where nobody says."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which times of a tape are wanted, as people write them, and how many seconds apart; None where nobody said.

    `request_timeout_s` is the servers' flag.
    """

    at: str | None = None
    between: tuple[str, str] | None = None
    every_s: float | None = None
    request_timeout_s: float | None = None

    def times(self, tape: Tape) -> tuple[float, float, tuple[str, ...]]:
        """From when to when a tape is wanted (Unix seconds), all of it where no time is named, and what to say of that.

        Raises Trouble for times that are not on the tape, and UsageError for those that make no sense.
        """
        if self.at is None and self.between is None:
            return *tape.span, ()
        return times_of(tape, {"at": self.at, "between": self.between})

    def span(self, tape: Tape) -> tuple[float, float]:
        """The first and the last of those times."""
        return self.times(tape)[:2]


@dataclass(frozen=True, slots=True)
class Saved:
    """Samples at hand: of a bundle, or of live looks.

    `name` is what they are of, in words; `at` is when they were taken as far as that was noted (Unix seconds).
    `problems` are lines about what could not be read, `told` about what cannot be seen. `logs` are those that lie with
    it. `failed` is set where an endpoint that was asked, or a file that is there, gave nothing.
    """

    name: str
    samples: tuple[Sample, ...]
    at: float | None = None
    problems: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    logs: Logs = NO_LOGS
    failed: bool = False


Source = Tape | Saved


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """The tape or the bundle of that name. Raises Trouble for what is neither."""
    if is_tape(path):
        tape = open_tape(path)
        try:
            yield tape
        finally:
            tape.close()
    else:
        yield _bundle(path)


def _bundle(path: Path) -> Saved:
    families = wanted_at_once()
    bundle = read_bundle(path, lambda chunks, kind, encoding: pick(chunks, kind, encoding, families))
    times, logs = bundle.times, logs_of(path, (), ())
    seen = frame(taken_in(bundle.samples).state)
    return Saved(
        name=f"{path} ({times.source})" if times.source else str(path),
        samples=bundle.samples,
        at=times.t1 if times.shown else None,
        problems=(*bundle.problems, *_problems(seen)),
        told=(*unseen(seen), *logs.problems),
        logs=logs,
        failed=bool(bundle.problems) or _failed(seen),
    )


def looked(options: Mapping[str, Any], every_s: float) -> Saved:
    """What live servers say at two looks so many seconds apart. Raises Trouble, and UsageError for bad options."""
    at = servers(options)
    samples, left_out = first_look(at, every_s)
    seen = frame(taken_in(samples).state)
    told = (*notes(at, seen), *left_out)
    return Saved(at.source, tuple(samples), problems=_problems(seen), told=told, failed=_failed(seen))


def _problems(seen: Frame) -> tuple[str, ...]:
    return tuple(f"{name}: {one}" for name, replica in seen.replicas.items() for one in replica.problems)


def _failed(seen: Frame) -> bool:
    return any(replica.failed for replica in seen.replicas.values())
