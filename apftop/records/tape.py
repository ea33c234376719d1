"""What a tape tells beside the samples: what it is, what happened when, and where it hurt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from apftop.records.findings import Severity
from apftop.records.memory import Memory

MarkKind = Literal[
    "config", "restart", "gap", "back", "joined", "left", "version", "found", "gone", "clock", "recording"
]


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at one moment (Unix seconds, the recorder's clock).

    `config`: objects changed. `restart`: a server is another process, and `version`: of another version. `gap` and
    `back`: a server stopped answering, and answers again. `joined` and `left`: the servers that are asked. `found` and
    `gone`: a finding begins and ends, named by `code` and `subject`. `clock`: this machine's clock was set back.
    `recording`: a recorder began, or began again, on this tape.
    """

    at: float
    kind: MarkKind
    text: str
    replica: str = ""
    code: str = ""
    subject: str = ""
    severity: Severity | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class Pulse:
    """How it was for some seconds up to `at` (Unix seconds): sums over all servers, None where nobody told.

    `waiting` are requests, the most that were seen at once; `severity` is that of the worst finding, empty for none.
    """

    at: float
    waiting: float | None
    refused_per_s: float | None
    severity: str = ""


def most(values: Iterable[float | None]) -> float | None:
    """The most of what is known; None where nothing is."""
    return max((value for value in values if value is not None), default=None)


def usual_s(times: Iterable[float]) -> float | None:
    """How far times that follow one another are usually apart, in seconds; None where there are none to tell."""
    gaps = sorted(after - before for before, after in pairwise(times))
    return gaps[len(gaps) // 2] if gaps else None


@dataclass(frozen=True, slots=True)
class About:
    """Whose tape it is: `source` in words, the version of the recorder, and servers with their versions so far."""

    source: str
    tool: str
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Note:
    """What goes onto a tape beside samples.

    `forgotten` are servers of which nothing is known from then on. `memory` is what a replay begins from.
    """

    marks: tuple[Mark, ...] = ()
    pulses: tuple[Pulse, ...] = ()
    forgotten: tuple[str, ...] = ()
    memory: Memory | None = None
