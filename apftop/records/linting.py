"""What is wrong with a policy: faults of its objects with their places, what servers make of it, and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Gravity = Literal["error", "warning", "note"]
GRAVITIES: tuple[Gravity, ...] = ("error", "warning", "note")
"""Worst first: `error` is refused, ignored, reverted or lost; `warning` will hurt; `note` is worth knowing."""

Kind = Literal["FlowSchema", "PriorityLevelConfiguration", ""]

Outcome = Literal["kept", "reverted", "deleted", "refused", "recreated", "ignored"]
"""What API servers do with an object within about a minute; `ignored` is kept and has no effect."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong. `code` is its entry in `lint/codes/`.

    `kind` and `name` say of which object, empty where it is about the whole policy. `text` says what is wrong with its
    numbers and `advice` what to do, a line each. `place` is the field, such as `spec.rules[0].subjects`, and `file` and
    `line` (from 1) where it stands, empty and None for objects that come from a server.
    """

    code: str
    gravity: Gravity
    text: str
    advice: str = ""
    kind: Kind = ""
    name: str = ""
    place: str = ""
    file: str = ""
    line: int | None = None

    @property
    def key(self) -> str:
        """The object as `KIND/NAME`."""
        return f"{self.kind}/{self.name}" if self.kind else ""


@dataclass(frozen=True, slots=True)
class Fate:
    """What API servers of the target release do with an object, and why, in one line."""

    outcome: Outcome
    text: str


@dataclass(frozen=True, slots=True)
class Linted:
    """All of it. `faults` come worst first, then by file and line.

    `target` is the release that was judged by, and `target_by` and `concurrency_by` say in words who told it and the
    seats: a flag, servers, or `default`. `dangling` are schemas whose level is missing; `unreferenced` are levels
    without a schema with the nominal seats that they take; `near_names` has for a level that is missing the one that
    was probably meant. Nominal seats are of one server of `concurrency` seats, by level: `before` and `after` the
    objects that were given, as they would be if the servers kept all of them. `fates` are by `KIND/NAME`.
    """

    target: str
    concurrency: int
    faults: tuple[Fault, ...] = ()
    dangling: tuple[str, ...] = ()
    unreferenced: Mapping[str, int] = field(default_factory=dict)
    near_names: Mapping[str, str] = field(default_factory=dict)
    nominal_before: Mapping[str, int] = field(default_factory=dict)
    nominal_after: Mapping[str, int] = field(default_factory=dict)
    fates: Mapping[str, Fate] = field(default_factory=dict)
    target_by: str = "default"
    concurrency_by: str = "default"
