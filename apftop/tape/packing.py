"""Samples and what belongs to them as bytes, and back: the fields of format 1."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import msgspec

from apftop.records.raw import KEPT_HEADERS, Sample
from apftop.records.tape import About, Mark, Note, Pulse

_LENGTH = struct.Struct("<I")
_DEFAULTS = {field.name: field.default for field in fields(Sample)}
_KNOWN = frozenset(_DEFAULTS)


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


def pack_sample(sample: Sample) -> bytes:
    """A sample: its fields but the body, of which only those that differ from the defaults, then the body."""
    kept = tuple((name, value) for name, value in sample.headers if name in KEPT_HEADERS)
    known = {
        name: value
        for name, value in msgspec.to_builtins(replace(sample, body=b"", headers=kept)).items()
        if name != "body" and value != _DEFAULTS[name] and value != []
    }
    head = msgspec.msgpack.encode(known)
    return _LENGTH.pack(len(head)) + head + sample.body


def unpack_sample(data: bytes) -> Sample:
    """A sample from its bytes; fields that a later version added are left out. Raises MsgspecError, struct.error."""
    (length,) = _LENGTH.unpack_from(data)
    body = _LENGTH.size + length
    known: dict[str, Any] = msgspec.msgpack.decode(data[_LENGTH.size : body], type=dict[str, Any])
    return msgspec.convert(
        {name: value for name, value in known.items() if name in _KNOWN} | {"body": data[body:]}, Sample
    )


def pack_note(note: Note) -> bytes:
    """Marks and pulses."""
    return msgspec.msgpack.encode(note)


def unpack_note(data: bytes) -> Note:
    """Marks and pulses from their bytes. Raises MsgspecError."""
    return msgspec.msgpack.decode(data, type=Note)
