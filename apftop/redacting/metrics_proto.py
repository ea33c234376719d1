"""Metrics in protobuf (io.prometheus.client.MetricFamily) with other names in labels; numbers keep their bytes."""

from __future__ import annotations

from collections.abc import Iterator

from apftop.parse.pick import varint
from apftop.redacting.pseudonyms import Naming
from apftop.redacting.words import label_name, label_value

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_NAME, _TYPE, _METRIC = 1, 3, 4
_LABEL, _COUNTER, _HISTOGRAM = 1, 3, 7
_VALUES = {2: (), _COUNTER: (2,), 4: (), 5: (), _HISTOGRAM: (16,)}
"""The fields of a Metric that hold numbers, and which of theirs are exemplars."""
_STAMP, _BUCKET, _EXEMPLAR = 6, 3, 3


def metrics_proto(body: bytes, naming: Naming) -> bytes:
    """The same families under other names, without help texts and exemplars. Raises ValueError for what is torn."""
    made = bytearray()
    at = 0
    while at < len(body):
        size, at = varint(body, at)
        if at + size > len(body) or size < 0:
            raise ValueError("truncated")
        made += _sized(_family(body[at : at + size], naming))
        at += size
    return bytes(made)


def _family(body: bytes, naming: Naming) -> bytes:
    fields = list(_fields(body))
    name = next((value.decode() for number, wire, value, _ in fields if number == _NAME and wire == _BYTES), "")
    made = bytearray()
    for number, wire, value, raw in fields:
        if number == _METRIC and wire == _BYTES:
            made += _field(_METRIC, _metric(value, name, naming))
        elif number in (_NAME, _TYPE):
            made += raw
    return bytes(made)


def _metric(body: bytes, family: str, naming: Naming) -> bytes:
    made = bytearray()
    for number, wire, value, raw in _fields(body):
        if number == _LABEL and wire == _BYTES:
            made += _field(_LABEL, _pair(value, family, naming))
        elif number in _VALUES and wire == _BYTES:
            made += _field(number, _numbers(value, number))
        elif number == _STAMP and wire == _VARINT:
            made += raw
    return bytes(made)


def _numbers(body: bytes, kind: int) -> bytes:
    """A value without exemplars."""
    made = bytearray()
    for number, wire, value, raw in _fields(body):
        if number in _VALUES[kind]:
            continue
        if kind == _HISTOGRAM and number == _BUCKET and wire == _BYTES:
            made += _field(_BUCKET, b"".join(one for at, _, _, one in _fields(value) if at != _EXEMPLAR))
        else:
            made += raw
    return bytes(made)


def _pair(body: bytes, family: str, naming: Naming) -> bytes:
    texts = {number: value.decode("utf-8", "replace") for number, wire, value, _ in _fields(body) if wire == _BYTES}
    name = texts.get(1, "")
    value = label_value(family, name, texts.get(2, ""), naming)
    return _field(1, label_name(name, naming).encode()) + _field(2, value.encode())


def _fields(body: bytes) -> Iterator[tuple[int, int, bytes, bytes]]:
    """Number, wire type, content, and all bytes of each field."""
    at = 0
    while at < len(body):
        start = at
        key, at = varint(body, at)
        wire = key & 7
        if wire == _VARINT:
            first = at
            _, at = varint(body, at)
        elif wire in (_FIXED64, _FIXED32):
            first, at = at, at + (8 if wire == _FIXED64 else 4)
        elif wire == _BYTES:
            size, first = varint(body, at)
            at = first + size
        else:
            raise ValueError(f"wire type {wire}")
        if at > len(body) or at <= start:
            raise ValueError("truncated")
        yield key >> 3, wire, body[first:at], body[start:at]


def _field(number: int, content: bytes) -> bytes:
    return _length(number << 3 | _BYTES) + _sized(content)


def _sized(content: bytes) -> bytes:
    return _length(len(content)) + content


def _length(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
