"""Typed reading of decoded JSON or YAML that names the place of what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


class FieldError(ValueError):
    """A field that is missing or of the wrong type; the message begins with its place."""


@dataclass(frozen=True, slots=True)
class Node:
    """A mapping inside an object, and its place such as `spec.limited` (empty for the object itself).

    A field that is null counts as absent, as it does for the server. Every method raises FieldError on a wrong type.
    """

    fields: Mapping[object, object]
    place: str = ""

    def at(self, key: str) -> str:
        """The place of a field of this mapping."""
        return f"{self.place}.{key}" if self.place else key

    def has(self, key: str) -> bool:
        """Whether a field is there and not null."""
        return self.fields.get(key) is not None

    def missing(self, key: str) -> FieldError:
        """The error to raise for a required field."""
        return FieldError(f"{self.at(key)} is missing")

    def text(self, key: str, default: str | None = None) -> str:
        """A string; required unless a default is given."""
        value = self.fields.get(key)
        if value is None and default is not None:
            return default
        if value is None:
            raise self.missing(key)
        if not isinstance(value, str):
            raise FieldError(f"{self.at(key)} is {_show(value)}, not a string")
        return value

    def integer(self, key: str) -> int | None:
        """A whole number, or None where absent."""
        value = self.fields.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise FieldError(f"{self.at(key)} is {_show(value)}, not an integer")
        return value

    def flag(self, key: str) -> bool:
        """A boolean, false where absent."""
        value = self.fields.get(key)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise FieldError(f"{self.at(key)} is {_show(value)}, not true or false")
        return value

    def node(self, key: str) -> Node | None:
        """A mapping, or None where absent."""
        value = self.fields.get(key)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise FieldError(f"{self.at(key)} is {_show(value)}, not an object")
        return Node(value, self.at(key))

    def required(self, key: str) -> Node:
        """A mapping that must be there."""
        node = self.node(key)
        if node is None:
            raise self.missing(key)
        return node

    def nodes(self, key: str) -> tuple[Node, ...]:
        """A list of mappings, empty where absent."""
        nodes = []
        for index, value in enumerate(self._list(key)):
            place = f"{self.at(key)}[{index}]"
            if not isinstance(value, Mapping):
                raise FieldError(f"{place} is {_show(value)}, not an object")
            nodes.append(Node(value, place))
        return tuple(nodes)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings, empty where absent."""
        texts = []
        for index, value in enumerate(self._list(key)):
            if not isinstance(value, str):
                raise FieldError(f"{self.at(key)}[{index}] is {_show(value)}, not a string")
            texts.append(value)
        return tuple(texts)

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """A mapping of strings to strings, empty where absent."""
        node = self.node(key)
        if node is None:
            return ()
        pairs = []
        for name, value in node.fields.items():
            if not isinstance(name, str):
                raise FieldError(f"{node.place} has the key {_show(name)}, not a string")
            if not isinstance(value, str):
                raise FieldError(f"{node.place}[{name}] is {_show(value)}, not a string")
            pairs.append((name, value))
        return tuple(pairs)

    def _list(self, key: str) -> list[object]:
        value = self.fields.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise FieldError(f"{self.at(key)} is {_show(value)}, not a list")
        return value


def _show(value: object) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
