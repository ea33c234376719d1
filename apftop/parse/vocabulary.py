"""The vocabulary of kube-apiserver across releases, read from `vocabulary.toml`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from apftop.apf.release import Release, holds
from apftop.parse.wanted import Wanted

START = "process_start_time_seconds"
"""When a server's process started, by its own clock; each answer that is compared with another one needs it."""


class Measure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One meaning: the families that carry it (best first, without the prefix) and where an absent series is 0."""

    per: Literal["level", "schema", "server"]
    families: tuple[str, ...]
    holds: tuple[str, ...]
    unit: str
    by: str = ""
    zero: bool = False


class Correction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change of meaning, the releases in which it holds, and what is done about it."""

    holds: tuple[str, ...]
    measures: tuple[str, ...]
    text: str


class Calls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A family that counts calls behind the queues, by its full name, and the label that tells them apart."""

    family: str
    by: str


class Behind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What tells how requests ended, and how long storage, webhooks and admission plugins took."""

    requests: Calls
    terminations: Calls
    etcd: Calls
    webhooks: Calls
    admission: Calls

    @property
    def names(self) -> tuple[str, ...]:
        """All of its families."""
        return tuple(getattr(self, field).family for field in self.__struct_fields__)


class _Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    names: tuple[str, ...]


class Vocabulary(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"reasons_in_wait": "reasons-in-wait"}
):
    """All of `vocabulary.toml`."""

    prefix: str
    known_releases: tuple[str, ...]
    always: tuple[str, ...]
    flowcontrol: tuple[str, ...]
    behind: Behind
    verbs: dict[str, str]
    labels: dict[str, str]
    measures: dict[str, Measure]
    corrections: dict[str, Correction]
    reasons: dict[str, str]
    reasons_in_wait: _Names


@cache
def vocabulary() -> Vocabulary:
    """The one vocabulary; it ships with the package."""
    text = files("apftop.parse").joinpath("vocabulary.toml").read_bytes()
    return msgspec.toml.decode(text, type=Vocabulary)


def wanted() -> Wanted:
    """The families that apftop reads: all of flow control, and a few named ones."""
    words = vocabulary()
    return Wanted(names=frozenset(words.always), prefixes=(words.prefix,))


def wanted_behind() -> Wanted:
    """The families that tell what lies behind the queues, and when the process started."""
    return Wanted(names=frozenset(behind_names()))


def wanted_at_once() -> Wanted:
    """All of both, for who looks once, and for what was saved."""
    return Wanted(wanted().names | wanted_behind().names, wanted().prefixes)


def behind_names() -> tuple[str, ...]:
    """The exact family names of what lies behind the queues, and of what tells one process from the next."""
    return (*vocabulary().behind.names, START)


def asked_names() -> tuple[str, ...]:
    """The exact family names for `?name[]=` (honoured since 1.37, ignored before)."""
    words = vocabulary()
    return words.always + tuple(words.prefix + name for name in words.flowcontrol)


def asked_at_once() -> tuple[str, ...]:
    """The exact family names for who looks once, each once."""
    return tuple(dict.fromkeys((*asked_names(), *behind_names())))


def corrections_for(release: Release | None, measure: str) -> tuple[str, ...]:
    """The corrections of one measure that hold in a release; none where the release is unknown."""
    if release is None:
        return ()
    return tuple(
        correction.text
        for correction in vocabulary().corrections.values()
        if measure in correction.measures and holds(release, correction.holds)
    )
