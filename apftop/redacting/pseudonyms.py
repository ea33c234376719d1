"""Who is called what: pseudonyms by kind of name, learnt from all that there is before any is given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files

import msgspec

from apftop.apf.builtins import builtin_levels, builtin_schema_names
from apftop.redacting.order import renamed, stem_apart


class Kind(StrEnum):
    """What a name is a name of. Names of nodes, service accounts, leases and services are those of objects."""

    USER = "user"
    GROUP = "group"
    NAMESPACE = "ns"
    SCHEMA = "schema"
    LEVEL = "level"
    OBJECT = "name"
    SERVER = "server"
    ADDRESS = "address"
    AGENT = "agent"
    PATH = "path"
    API_GROUP = "group-of-api"
    RESOURCE = "resource"
    SUBRESOURCE = "subresource"
    VERB = "verb"
    MANAGER = "manager"
    WEBHOOK = "webhook"
    REQUEST = "request"
    LABEL = "label"
    UID = "uid"
    PEER = "certificate"


class Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The names that are no secret, and what labels of metrics hold."""

    users: tuple[str, ...]
    groups: tuple[str, ...]
    namespaces: tuple[str, ...]
    objects: tuple[str, ...]
    managers: tuple[str, ...]
    api_groups: tuple[str, ...]
    resources: tuple[str, ...]
    subresources: tuple[str, ...]
    verbs: tuple[str, ...]
    paths: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]


@cache
def kept() -> Kept:
    """The names that stay."""
    return msgspec.toml.decode(files("apftop.redacting").joinpath("kept.toml").read_bytes(), type=Kept)


FAMILIES = {
    Kind.USER: ("system:", "system:node:", "system:serviceaccount:", "system:bootstrap:"),
    Kind.GROUP: ("system:", "system:serviceaccounts:", "system:bootstrappers:"),
}
"""How names begin that have a form of their own: a pseudonym stands before, within or after them as the name does."""


AMONG = (Kind.SCHEMA, Kind.LEVEL, Kind.USER, Kind.GROUP, Kind.NAMESPACE)
"""Kinds whose pseudonyms stand among the names that stay as the names did: schemas are tried in that order."""


@cache
def staying(kind: Kind) -> frozenset[str]:
    """The names of a kind that are their own pseudonyms."""
    own = kept()
    match kind:
        case Kind.SCHEMA:
            return builtin_schema_names() | {""}
        case Kind.LEVEL:
            return frozenset(builtin_levels()) | {""}
        case Kind.USER:
            return frozenset(own.users) | {"", *FAMILIES[kind]}
        case Kind.GROUP:
            return frozenset(own.groups) | {"", *FAMILIES[kind]}
        case Kind.NAMESPACE:
            return frozenset(own.namespaces) | {""}
        case Kind.OBJECT:
            return frozenset(own.objects) | {""}
        case Kind.MANAGER:
            return frozenset(own.managers) | {""}
        case Kind.API_GROUP:
            return frozenset(own.api_groups)
        case Kind.RESOURCE:
            return frozenset(own.resources)
        case Kind.SUBRESOURCE:
            return frozenset(own.subresources)
        case Kind.VERB:
            return frozenset(own.verbs)
        case Kind.PATH:
            return frozenset(own.paths)
        case Kind.SERVER:
            # What a bundle calls its only server.
            return frozenset({"server", ""})
    return frozenset({""})


class Learning:
    """Takes names in, and gives them back as they are, but for what is no UTF-8."""

    def __init__(self) -> None:
        self.names: dict[Kind, set[str]] = defaultdict(set)

    def __call__(self, kind: Kind, name: str) -> str:
        if name not in staying(kind):
            self.names[kind].add(name)
        # A name may hold bytes that are no UTF-8, and is written before it has a pseudonym.
        return name.encode("utf-8", "replace").decode()

    def table(self) -> Pseudonyms:
        """The pseudonyms of all names so far."""
        found: dict[Kind, Mapping[str, str]] = {}
        everything = [name for names in self.names.values() for name in names]
        for kind, names in self.names.items():
            if kind in (Kind.UID, Kind.PEER):
                found[kind] = {name: _numbered(kind, at) for at, name in enumerate(sorted(names), 1)}
                continue
            # Others keep their order among themselves alone: where they stand would tell how they begin.
            bounds = set(staying(kind)) - {"", "*"} if kind in AMONG else set[str]()
            for front in FAMILIES.get(kind, ()):
                bounds |= {front, f"{front[:-1]};"}
            made = renamed(names, stem_apart(_stem(kind), everything), bounds)
            found[kind] = {name: _shaped(kind, one) for name, one in made.items()}
        return Pseudonyms(found)


class Pseudonyms:
    """Gives each name its pseudonym; raises KeyError for one that was not learnt."""

    def __init__(self, names: Mapping[Kind, Mapping[str, str]]) -> None:
        self.names = names

    def __call__(self, kind: Kind, name: str) -> str:
        return name if name in staying(kind) else self.names[kind][name]


Naming = Callable[[Kind, str], str]
"""A name to what stands for it."""


def _stem(kind: Kind) -> str:
    return "group" if kind is Kind.API_GROUP else "/path" if kind is Kind.PATH else kind.value


def _shaped(kind: Kind, name: str) -> str:
    return f"{name}.example" if kind in (Kind.API_GROUP, Kind.WEBHOOK) else name


def _numbered(kind: Kind, number: int) -> str:
    """A UID, or the SHA-256 of a certificate, that is none."""
    return f"{number:064x}" if kind is Kind.PEER else f"00000000-0000-0000-0000-{number:012x}"
