"""What stands in the raw fields of an object, with the place of each value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def value_at(fields: Mapping[Any, Any], *path: str) -> object:
    """The value of a field by its keys, None where there is none."""
    found: Any = fields
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def text_at(fields: Mapping[Any, Any], *path: str) -> str:
    """The same where it is a text, else an empty one."""
    found = value_at(fields, *path)
    return found if isinstance(found, str) else ""


def mapping_at(fields: Mapping[Any, Any], *path: str) -> Mapping[Any, Any] | None:
    """The same where it has fields of its own, else None."""
    found = value_at(fields, *path)
    return found if isinstance(found, Mapping) else None


def values_in(place: str, value: object) -> Iterator[tuple[str, object]]:
    """A value and all inside it, in the order in which they stand, with their places such as `spec.rules[0].subjects`.

    However deep they are: files may nest as they like.
    """
    pending = [(place, value)]
    while pending:
        place, value = pending.pop()
        yield place, value
        if isinstance(value, Mapping):
            pending += [(f"{place}.{key}", inner) for key, inner in value.items()][::-1]
        elif isinstance(value, list):
            pending += [(f"{place}[{number}]", inner) for number, inner in enumerate(value)][::-1]
