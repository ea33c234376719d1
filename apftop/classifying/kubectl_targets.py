"""The resources that a kubectl line names, and single requests to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from apftop.classifying.kubectl_words import Line
from apftop.classifying.resources import Resource, of_plural, resource
from apftop.records.parsed import ParseError

HOW = "name the request instead: --verb and --resource, or --path"

EACH = "NAME"
"""Stands for the name of each object that was found."""

ALL = (
    *("pods", "replicationcontrollers", "services", "daemonsets", "deployments", "replicasets", "statefulsets"),
    *("horizontalpodautoscalers", "cronjobs", "jobs"),
)
"""What `all` means as a resource."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One request; `notes` say what of it is a stand-in, or taken for granted."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """A resource with a name, or without one for all of them."""

    resource: Resource
    name: str = ""
    notes: tuple[str, ...] = ()


def targets(words: tuple[str, ...]) -> Iterator[Target]:
    """Each resource with a name, or an empty one for all: `TYPE`, `TYPE NAME...`, `TYPE/NAME...`, `TYPE,TYPE`."""
    if not words:
        raise ParseError(f"a resource is missing: {HOW}")
    if "/" in words[0]:
        for word in words:
            kind, slash, name = word.partition("/")
            if not (slash and name):
                raise ParseError(f"{word!r} is no TYPE/NAME, as the words before it are")
            yield known(kind, name)
        return
    if any("/" in word for word in words[1:]):
        raise ParseError("TYPE and TYPE/NAME do not go together")
    for kind in words[0].split(","):
        for one in ALL if kind == "all" else (kind,):
            for name in words[1:] or ("",):
                yield known(one, name)


def known(kind: str, name: str = "") -> Target:
    """The resource of a name as kubectl takes it. Raises ParseError for a bare name that nobody knows."""
    found = resource(kind)
    if found is None:
        raise ParseError(f"{kind!r} is none of the resources that are known here: name it as PLURAL.GROUP, or {HOW}")
    group = found.api_version.rpartition("/")[0]
    if group in of_plural(found.name):
        return Target(found, name)
    return Target(found, name, (f"{found.name}.{group} is not known here, and taken to be in namespaces",))


def noted(target: Target, requests: Iterator[Sent]) -> Iterator[Sent]:
    """The requests with what was taken for granted of their target."""
    return (replace(one, notes=(*target.notes, *one.notes)) for one in requests)


def chosen(line: Line) -> dict[str, str]:
    """The selectors of a line as query parameters."""
    asked = {"fieldSelector": line.value("fields"), "labelSelector": line.value("selector")}
    return {key: value for key, value in asked.items() if value}


OF_EACH = (f"{EACH} stands for each object of the list before",)
"""The note of a request that is sent for each of them."""


def each(line: Line, target: Target, namespace: str, *, needed: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name of the target, else that of each object that a list finds. The list is sent by the caller."""
    if target.name:
        yield target.name, ()
        return
    if not (line.flag("each") or line.flag("selector") or line.flag("fields")):
        raise ParseError(f"{needed} is missing: a name, -l or --all")
    if target.resource.namespaced and not namespace:
        raise ParseError(f"the namespaces of what is found are not known: give one with -n, or {HOW}")
    yield EACH, OF_EACH
