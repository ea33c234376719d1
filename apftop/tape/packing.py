"""Samples and what belongs to them as bytes, and back: the fields of format 1.

What has values that only a later version knows is left out when it is read, and nothing else with it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import msgspec

from apftop.records.fields import known_fields
from apftop.records.memory import Memory
from apftop.records.raw import Sample
from apftop.records.tape import About, Mark, Note, Pulse

T = TypeVar("T")
_LENGTH = struct.Struct("<I")
_FIELDS = frozenset(field.name for field in fields(Sample))


class Open(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a segment says of itself and of the one before it, whose bytes are `before` from its SYNC on."""

    format: int
    source: str
    tool: str
    versions: Mapping[str, str] = {}
    before: int = 0
    before_ended: float | None = None
    marks: tuple[Mark, ...] = ()
    pulses: tuple[Pulse, ...] = ()

    @property
    def about(self) -> About:
        """Whose tape it is."""
        return About(self.source, self.tool, self.versions)


class _OpenAsItIs(Open, frozen=True):
    marks: tuple[Any, ...] = ()
    pulses: tuple[Any, ...] = ()


class _NoteAsItIs(msgspec.Struct, frozen=True):
    marks: tuple[Any, ...] = ()
    pulses: tuple[Any, ...] = ()
    forgotten: tuple[str, ...] = ()
    memory: Any = None


def unpack_open(data: bytes) -> Open:
    """The opening of a segment from its bytes. Raises MsgspecError."""
    try:
        return msgspec.msgpack.decode(data, type=Open)
    except msgspec.ValidationError:
        # Perhaps a mark that only a later version knows.
        one = msgspec.msgpack.decode(data, type=_OpenAsItIs)
    marks, pulses = _known(one.marks, Mark), _known(one.pulses, Pulse)
    return Open(one.format, one.source, one.tool, one.versions, one.before, one.before_ended, marks, pulses)


def pack_sample(sample: Sample) -> bytes:
    """A sample: its fields but the body, of which only those that differ from the defaults, then the body."""
    head = msgspec.msgpack.encode(known_fields(sample))
    return _LENGTH.pack(len(head)) + head + sample.body


def unpack_sample(data: bytes) -> Sample:
    """A sample from its bytes, without fields that it has not. Raises MsgspecError, struct.error."""
    (length,) = _LENGTH.unpack_from(data)
    body = _LENGTH.size + length
    known: dict[str, Any] = msgspec.msgpack.decode(data[_LENGTH.size : body], type=dict[str, Any])
    return msgspec.convert(
        {name: value for name, value in known.items() if name in _FIELDS} | {"body": data[body:]}, Sample
    )


def pack_note(note: Note) -> bytes:
    """A note."""
    return msgspec.msgpack.encode(note)


def unpack_note(data: bytes) -> Note:
    """A note from its bytes. Raises MsgspecError."""
    try:
        return msgspec.msgpack.decode(data, type=Note)
    except msgspec.ValidationError:
        one = msgspec.msgpack.decode(data, type=_NoteAsItIs)
    memory = _known([] if one.memory is None else [one.memory], Memory)
    return Note(_known(one.marks, Mark), _known(one.pulses, Pulse), one.forgotten, memory[0] if memory else None)


def _known(items: Sequence[Any], kind: type[T]) -> tuple[T, ...]:
    """Those that this version knows."""
    found: list[T] = []
    for item in items:
        try:
            found.append(msgspec.convert(item, kind))
        except msgspec.ValidationError:
            continue
    return tuple(found)
