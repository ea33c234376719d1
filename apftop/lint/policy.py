"""A policy under question: the objects that were given, what is there already, and the release that will run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from apftop.apf.objects import MANDATORY, FlowSchema, PriorityLevelConfiguration
from apftop.apf.release import Release
from apftop.records.linting import Fault, Gravity

Noun = Literal["FlowSchema", "PriorityLevelConfiguration"]


@dataclass(frozen=True, slots=True)
class Document:
    """One object as it was given: its raw fields, and where they stand.

    `lines` has the line of each field by its place (`spec.rules[0].subjects`), and of the object itself by the empty
    place. `object` is what the model makes of it, None where it is broken (a fault says how).
    """

    kind: Noun
    name: str
    api_version: str
    fields: Mapping[object, object]
    file: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)
    object: FlowSchema | PriorityLevelConfiguration | None = None

    def fault(self, code: str, gravity: Gravity, text: str, advice: str = "", place: str = "") -> Fault:
        """A fault at one of its fields, or at the nearest one above that has a line."""
        return Fault(code, gravity, text, advice, self.kind, self.name, place, self.file, self.line(place))

    def line(self, place: str) -> int | None:
        """The line of a field, or of the nearest one above it."""
        while place and place not in self.lines:
            place = place[: max(place.rfind("."), place.rfind("["), 0)]
        return self.lines.get(place)


@dataclass(frozen=True, slots=True)
class Objects:
    """Schemas and levels by name."""

    schemas: Mapping[str, FlowSchema] = field(default_factory=dict)
    levels: Mapping[str, PriorityLevelConfiguration] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Policy:
    """`before` is what is there (a live cluster, a file, or the built-in objects of the release), and `after` the same
    with the given objects in their places. `whole` says that the given objects are all that there is, so that an object
    that is missing among them is missing. `concurrency` is seats of one server. `refused_per_s` are refusals a second
    by level now, where a live cluster or a bundle tells.
    """

    target: Release
    given: tuple[Document, ...]
    before: Objects
    after: Objects
    concurrency: int
    whole: bool = False
    refused_per_s: Mapping[str, float] = field(default_factory=dict)
    _by_name: Mapping[tuple[str, str], Document] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {(one.kind, one.name): one for one in self.given})

    def document(self, kind: Noun, name: str) -> Document | None:
        """The given document of an object, the last one of several."""
        return self._by_name.get((kind, name))

    def gives(self, kind: Noun) -> bool:
        """Whether any object of a kind was given, broken ones included."""
        return any(one.kind == kind for one in self.given)

    def knows(self, kind: Noun) -> bool:
        """Whether all objects of a kind that there are are known, as a cluster or a copy of it has them.

        False where only some were given: what is missing among them may well be somewhere else.
        """
        if self.whole and self.gives(kind):
            return True
        there = self.before.schemas if kind == "FlowSchema" else self.before.levels
        # Only what a server gave out has a UID.
        return all(name in there and there[name].meta.uid for name in MANDATORY)

    def fault(
        self, kind: Noun, name: str, code: str, gravity: Gravity, text: str, advice: str = "", place: str = ""
    ) -> Fault:
        """A fault of an object, at its place in a file where it was given in one."""
        document = self.document(kind, name)
        if document is None:
            return Fault(code, gravity, text, advice, kind, name, place)
        return document.fault(code, gravity, text, advice, place)


Rule = Callable[[Policy], Iterator[Fault]]
"""What finds one kind of fault in a whole policy."""
