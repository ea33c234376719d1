"""The API objects of a file: JSON or YAML, single, in lists of any kind, or in a stream of documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec
import yaml

from apftop.other_body import UTF8_BOM, describe, status_text
from apftop.records.parsed import ParseError

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

_DEEPEST = 4
_MOST = 10_000
_MOST_VALUES = 1_000_000
_LONGEST_NUMBER = 40


@dataclass(frozen=True, slots=True)
class Item:
    """One object with the kind and version that it or its list names, and its place in the file for messages."""

    kind: str
    api_version: str
    fields: Mapping[object, object]
    place: str


class _Loader(_SafeLoader):
    """Leaves times as the text they are, and numbers that are too long for any field."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _SafeLoader.yaml_implicit_resolvers.items()
}


def _integer(loader: _Loader, node: yaml.ScalarNode) -> int | str:
    text = loader.construct_scalar(node)
    return loader.construct_yaml_int(node) if len(text) <= _LONGEST_NUMBER else text


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)


def read_documents(body: bytes) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """The objects of a body, and what in it is no object.

    Raises ParseError where the body is neither JSON nor YAML, or holds nothing but what is no API object, or too many.
    """
    documents = [document for document in decoded(body) if document is not None]
    if not any(isinstance(document, (Mapping, list)) for document in documents):
        raise ParseError(f"this is {describe(body)}, neither JSON nor YAML objects")
    items: list[Item] = []
    problems: list[str] = []
    empty_list = False
    count = 0
    for number, document in enumerate(documents, 1):
        place = f"document {number}" if len(documents) > 1 else ""
        for found in _items(document, place, "", "", 0):
            # Each element of a list yields something, so that this also ends the lists that aliases multiply.
            count += 1
            if count > _MOST:
                raise ParseError(f"more than {_MOST:,} objects")
            if isinstance(found, Item):
                items.append(found)
            elif found:
                problems.append(found)
            else:
                empty_list = True
    if problems and not items and not empty_list:
        raise ParseError("; ".join(problems))
    _check_unfolded(items, max(len(body), _MOST_VALUES))
    return tuple(items), tuple(problems)


def _check_unfolded(items: list[Item], most: int) -> None:
    """Raise ParseError where there are more than `most` values in the objects, aliased ones counted each time."""
    pending: list[object] = [item.fields for item in items]
    count = len(pending)
    while pending:
        value = pending.pop()
        inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
        count += len(inner)
        if count > most:
            raise ParseError(f"the objects hold more than {most:,} values")
        pending.extend(inner)


def decoded(body: bytes) -> list[object]:
    """The documents of a body, whatever they are; raises ParseError where it is neither JSON nor YAML."""
    text = body.removeprefix(UTF8_BOM)
    start = text.lstrip()[:1]
    if start == b"<":
        raise ParseError(f"this is {describe(body)}, neither JSON nor YAML objects")
    try:
        if start in (b"{", b"["):
            try:
                return [msgspec.json.decode(text)]
            except msgspec.DecodeError as error:
                return _yaml(text, f"broken JSON: {error}")
        return _yaml(text, "")
    except RecursionError:
        raise ParseError("the objects are nested too deep") from None


def _yaml(text: bytes, json_error: str) -> list[object]:
    try:
        return list(yaml.load_all(text, Loader=_Loader))
    except (yaml.YAMLError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        # PyYAML lets through what its conversions of tagged scalars (`!!int ""`, `!!timestamp x`) happen to raise.
        if json_error:
            raise ParseError(json_error) from None
        raise ParseError(_yaml_error(error, text)) from None


def _yaml_error(error: Exception, text: bytes) -> str:
    what = describe(text)
    if not what.startswith("text: "):
        return f"this is {what}, neither JSON nor YAML objects"
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"broken YAML at line {mark.line + 1}, column {mark.column + 1}: {error.problem}"
    return f"broken YAML: {' '.join(str(error).split())[:160]}"


def _items(value: object, place: str, kind: str, api_version: str, depth: int) -> Iterator[Item | str]:
    """Items, and for what is none a sentence; an empty sentence stands for an empty list."""
    here = f"{place}: " if place else ""
    if isinstance(value, list):
        yield from _elements(value, place, kind, api_version, depth)
        return
    if not isinstance(value, Mapping):
        yield f"{here}{_shown(value)} is not an object"
        return
    own_kind, own_version = value.get("kind") or kind, value.get("apiVersion") or api_version
    if not isinstance(own_kind, str) or not own_kind:
        yield f"{here}kind is missing"
    elif not isinstance(own_version, str):
        yield f"{here}apiVersion is not a string"
    elif own_kind == "Status":
        yield f"{here}a Status: {status_text(value)}"
    elif own_kind.endswith("List") and "items" in value:
        elements = value["items"]
        if elements is None:
            elements = []
        if not isinstance(elements, list):
            yield f"{here}items of {own_kind[:60]} is not a list"
            return
        typed = own_kind != "List"
        inner = (own_kind.removesuffix("List"), own_version) if typed else ("", "")
        yield from _elements(elements, place, *inner, depth)
    else:
        yield Item(own_kind, own_version, value, place)


def _elements(values: list[object], place: str, kind: str, api_version: str, depth: int) -> Iterator[Item | str]:
    if not values:
        yield ""
    if depth == _DEEPEST:
        yield f"{place}: lists are nested too deep"
        return
    for index, value in enumerate(values):
        inner = f"{place}, item {index}" if place else f"item {index}"
        yield from _items(value, inner, kind, api_version, depth + 1)


def _shown(value: object) -> str:
    """A value in a few characters, however much aliases make of it."""
    if isinstance(value, str):
        return repr(value[:60])
    if value is None or isinstance(value, (int, float)):
        return repr(value)[:60]
    return f"a value of type {type(value).__name__}"
