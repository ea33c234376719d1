"""The objects under question of one file, with the line of each field, and what in it cannot be read."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from apftop.lint.places import Outline, Places, outline_of, places_of
from apftop.lint.policy import Document, Noun
from apftop.lint.raw_fields import text_at, value_at, values_in
from apftop.parse.documents import Item, read_documents
from apftop.parse.fields import FieldError
from apftop.parse.objects import GROUP, config_of, is_apf, schema_of
from apftop.present import plain
from apftop.records.linting import Fault
from apftop.records.parsed import ParseError

KINDS: Mapping[str, Noun] = {"FlowSchema": "FlowSchema", "PriorityLevelConfiguration": "PriorityLevelConfiguration"}
TEMPLATE = "{{"
RENDER = "render it first, as in `helm template . | apftop lint -`"


def read_file(name: str, body: bytes) -> tuple[tuple[Document, ...], tuple[Fault, ...]]:
    """The FlowSchemas and PriorityLevelConfigurations of one file, and what in it cannot be read.

    Objects of other kinds are left out without a word: files hold many. Answers of servers have the empty name, and no
    lines. Raises ParseError where nothing can be read.
    """
    try:
        items, said = read_documents(body)
    except ParseError:
        if not name or TEMPLATE.encode() not in body:
            raise
        first = body[: body.index(TEMPLATE.encode())].count(b"\n") + 1
        return (), (Fault("not-rendered", "error", "it is a template, and no YAML yet", RENDER, file=name, line=first),)
    outline = outline_of(body) if name and (said or any(map(_is_ours, items))) else Outline()
    at: Sequence[int | None] = outline.others if len(outline.others) == len(said) else [None] * len(said)
    faults = [
        Fault("unreadable", "error", plain(text), "mend the file", file=name, line=line)
        for text, line in zip(said, at, strict=True)
    ]
    documents: list[Document] = []
    for number, item in enumerate(items):
        kind = KINDS.get(item.kind)
        if kind is None and not _is_misspelt(item):
            continue
        known = len(outline.objects) == len(items)
        places = places_of(outline.objects[number]) if known else Places({})
        if kind is None:
            text = f"there is no kind {plain(item.kind)} in {GROUP}"
            line = places.lines.get("kind")
            faults.append(Fault("unknown-kind", "error", text, f"write {' or '.join(KINDS)}", file=name, line=line))
            continue
        try:
            if not is_apf(item):
                if _is_of_kubernetes(group := item.api_version.rpartition("/")[0]):
                    text = f"there is no kind {kind} in {plain(group) or 'v1'}"
                    unread = Document(kind, _name(item), item.api_version, item.fields, name, places.lines)
                    faults.append(unread.fault("unknown-kind", "error", text, f"write {GROUP}", "apiVersion"))
                continue
        except FieldError as error:
            advice = "servers refuse it: say the version, such as flowcontrol.apiserver.k8s.io/v1"
            unread = Document(kind, _name(item), item.api_version, item.fields, name, places.lines)
            faults.append(unread.fault("unreadable", "error", str(error), advice))
            continue
        document, found = _document(name, kind, item, places)
        faults += found
        if document is not None:
            documents.append(document)
    return tuple(documents), tuple(faults)


def _is_ours(item: Item) -> bool:
    return item.kind in KINDS or _is_misspelt(item)


def _is_misspelt(item: Item) -> bool:
    return item.api_version.startswith(f"{GROUP}/") and item.kind not in (f"{kind}List" for kind in KINDS)


def _is_of_kubernetes(group: str) -> bool:
    """Whether an API group is one of Kubernetes, or ours misspelt; anybody may have a kind of any name in another."""
    return not group or group.endswith(".k8s.io") or bool(difflib.get_close_matches(group, [GROUP], cutoff=0.8))


def _document(name: str, kind: Noun, item: Item, places: Places) -> tuple[Document | None, Sequence[Fault]]:
    """The document, without an object where none can be made of it, and why; none of a template."""
    document = Document(kind, _name(item), item.api_version, item.fields, name, places.lines)
    twice = list(_twice(document, places))
    if (place := _templated(item.fields)) is not None:
        return None, [document.fault("not-rendered", "error", "it is a template", RENDER, place)]
    try:
        made = schema_of(item) if kind == "FlowSchema" else config_of(item)
    except FieldError as error:
        why = plain(str(error))
        advice = "servers refuse it: give the field as the API has it"
        return document, [*twice, document.fault("broken", "error", why, advice, why.partition(" ")[0])]
    return replace(document, object=made), twice


def _twice(document: Document, places: Places) -> Iterator[Fault]:
    for place, first, last in places.twice:
        text = f"{plain(place)} is given twice, in lines {first} and {last}: the last one counts"
        advice = "keep one of them: kustomize and strict decoders refuse the file"
        yield Fault("given-twice", "error", text, advice, document.kind, document.name, place, document.file, last)


def _templated(fields: Mapping[object, object]) -> str | None:
    """The place of a part of a template that happens to be YAML; None if there is none."""
    every = chain(
        values_in("metadata.name", value_at(fields, "metadata", "name")), values_in("spec", fields.get("spec"))
    )
    return next((place for place, value in every if isinstance(value, str) and TEMPLATE in value), None)


def _name(item: Item) -> str:
    return text_at(item.fields, "metadata", "name")
