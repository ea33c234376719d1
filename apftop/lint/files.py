"""Files of objects under question, with the line of each field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import yaml

from apftop.lint.policy import Document, Noun
from apftop.parse.documents import Item, read_documents
from apftop.parse.fields import FieldError
from apftop.parse.objects import config_of, is_apf, schema_of
from apftop.records.linting import Fault

KINDS: Mapping[str, Noun] = {"FlowSchema": "FlowSchema", "PriorityLevelConfiguration": "PriorityLevelConfiguration"}
SUFFIXES = (".yaml", ".yml", ".json")


def files_of(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """The files that are meant: those named, and of folders all with YAML or JSON in them, however deep."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(one for one in path.rglob("*") if one.suffix in SUFFIXES and one.is_file())
        else:
            found.append(path)
    return tuple(found)


def read_file(name: str, body: bytes) -> tuple[tuple[Document, ...], tuple[Fault, ...]]:
    """The FlowSchemas and PriorityLevelConfigurations of one file, and what in it cannot be read.

    Objects of other kinds are left out without a word: files hold many. Raises ParseError where nothing can be read.
    """
    items, said = read_documents(body)
    places = _lines(body)
    documents: list[Document] = []
    faults = [Fault("unreadable", "error", text, "mend the file", file=name) for text in said]
    for item, lines in zip(items, places if len(places) == len(items) else [{}] * len(items), strict=True):
        kind = KINDS.get(item.kind)
        if kind is None:
            continue
        try:
            if not is_apf(item):
                continue
        except FieldError as error:
            faults.append(Fault("unreadable", "error", str(error), "", kind, file=name, line=lines.get("")))
            continue
        document, why = _document(name, kind, item, lines)
        documents.append(document)
        if why:
            advice = "servers refuse it: give the field as the API has it"
            faults.append(document.fault("broken", "error", why, advice, why.partition(" ")[0]))
    return tuple(documents), tuple(faults)


def _document(name: str, kind: Noun, item: Item, lines: Mapping[str, int]) -> tuple[Document, str]:
    """The document, and why no object can be made of it; empty where one can."""
    metadata = item.fields.get("metadata")
    its = metadata.get("name") if isinstance(metadata, Mapping) else None
    document = Document(kind, its if isinstance(its, str) else "", item.api_version, item.fields, name, lines)
    try:
        made = schema_of(item) if kind == "FlowSchema" else config_of(item)
    except FieldError as error:
        return document, str(error)
    return replace(document, object=made), ""


def _lines(body: bytes) -> list[Mapping[str, int]]:
    """The lines of each object in a body, in the order of `read_documents`; empty where they cannot be told."""
    loader = yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader
    try:
        nodes = [node for node in yaml.compose_all(body, Loader=loader) if node is not None]
    except (yaml.YAMLError, ValueError):
        return []
    return [dict(_placed(node)) for root in nodes for node in _objects(root)]


def _objects(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        for one in node.value:
            yield from _objects(one)
        return
    if isinstance(node, yaml.MappingNode):
        fields = {key.value: value for key, value in node.value}
        kind, items = fields.get("kind"), fields.get("items")
        if kind is not None and str(kind.value).endswith("List") and items is not None:
            if isinstance(items, yaml.SequenceNode):
                yield from _objects(items)
            return
    yield node


def _placed(node: yaml.Node, place: str = "") -> Iterator[tuple[str, int]]:
    """Each field of an object with its line, from 1."""
    yield place, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = f"{place}.{key.value}" if place else str(key.value)
            yield from ((at, line) for at, line in _placed(value, inner) if at != inner)
            yield inner, key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _placed(value, f"{place}[{number}]")
