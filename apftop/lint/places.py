"""Where the fields of a file's objects stand, and which of them are given twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml

_DEEPEST = 4
_MERGE, _NULL, _TEXT = (f"tag:yaml.org,2002:{tag}" for tag in ("merge", "null", "str"))
_Fields = dict[str, tuple[yaml.Node, yaml.Node]]


@dataclass(frozen=True, slots=True)
class Places:
    """The line (from 1) of each field of one object by its place, and of the object itself by the empty place.

    `twice` has for each key that one mapping has twice its place and the lines of the first and of the last one.
    """

    lines: Mapping[str, int]
    twice: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Outline:
    """The nodes of the objects of a body, and the lines of what is no object, each in the order of `read_documents`."""

    objects: tuple[yaml.Node, ...] = ()
    others: tuple[int, ...] = ()


def outline_of(body: bytes) -> Outline:
    """The outline of a body that `read_documents` can read; empty where its lines cannot be told."""
    loader = yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader
    try:
        roots = [node for node in yaml.compose_all(body, Loader=loader) if node is not None and node.tag != _NULL]
    except (yaml.YAMLError, ValueError, RecursionError):
        return Outline()
    found = [one for root in roots for one in _objects(root, "", 0)]
    return Outline(
        tuple(node for node, is_object in found if is_object),
        tuple(_line(node) for node, is_object in found if not is_object),
    )


def places_of(node: yaml.Node) -> Places:
    """The places of one object; what an alias or a merge key brings stands where its anchor is."""
    lines = {"": _line(node)}
    twice: list[tuple[str, int, int]] = []
    pending = [("", node)]
    while pending:
        place, node = pending.pop()
        if isinstance(node, yaml.MappingNode):
            for name, (key, value) in _fields(node).items():
                inner = f"{place}.{name}" if place else name
                lines[inner] = _line(key)
                pending.append((inner, value))
            twice += ((f"{place}.{name}" if place else name, *at) for name, at in _twice(node))
        elif isinstance(node, yaml.SequenceNode):
            for number, value in enumerate(node.value):
                lines[f"{place}[{number}]"] = _line(value)
                pending.append((f"{place}[{number}]", value))
    return Places(lines, tuple(sorted(twice, key=lambda one: one[1:])))


def _objects(node: yaml.Node, kind: str, depth: int) -> Iterator[tuple[yaml.Node, bool]]:
    """Nodes with whether they are objects, told as `read_documents` tells it."""
    if isinstance(node, yaml.SequenceNode):
        yield from _elements(node, kind, depth)
        return
    fields = _fields(node) if isinstance(node, yaml.MappingNode) else {}
    own, version = _text(fields, "kind", kind), _text(fields, "apiVersion", "")
    if not own or version is None or own == "Status":
        yield node, False
    elif own.endswith("List") and "items" in fields:
        items = fields["items"][1]
        if isinstance(items, yaml.SequenceNode):
            yield from _elements(items, "" if own == "List" else own.removesuffix("List"), depth)
        elif items.tag != _NULL:
            yield node, False
    else:
        yield node, True


def _elements(node: yaml.SequenceNode, kind: str, depth: int) -> Iterator[tuple[yaml.Node, bool]]:
    if depth == _DEEPEST:
        yield node, False
        return
    for one in node.value:
        yield from _objects(one, kind, depth + 1)


def _text(fields: _Fields, name: str, inherited: str) -> str | None:
    """The string of a field, the inherited one where it is absent or empty, None where it is something else."""
    if name not in fields or fields[name][1].tag == _NULL or fields[name][1].value == "":
        return inherited
    value = fields[name][1]
    return str(value.value) if value.tag == _TEXT else None


def _fields(node: yaml.MappingNode) -> _Fields:
    """The fields of a mapping with those that merge keys bring, which its own ones come before."""
    own: _Fields = {}
    merged: _Fields = {}
    for key, value in node.value:
        if key.tag == _MERGE:
            for one in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if isinstance(one, yaml.MappingNode):
                    merged = {**_fields(one), **merged}
        else:
            own[str(key.value)] = (key, value)
    return {**merged, **own}


def _twice(node: yaml.MappingNode) -> Iterator[tuple[str, tuple[int, int]]]:
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for key, _ in node.value:
        if key.tag != _MERGE:
            name = str(key.value)
            (last if name in first else first)[name] = _line(key)
    yield from ((name, (first[name], line)) for name, line in last.items())


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
