"""Metric families as servers send them: the Prometheus text format 0.0.4, and delimited protobuf messages."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator
from functools import lru_cache

from apftop.records.parsed import Family, Histogram, Kind, Labels

TEXT = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"
PROTOBUF = (
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited; escaping=underscores"
)
_TYPES: dict[Kind, int] = {"counter": 0, "gauge": 1, "summary": 2, "untyped": 3, "histogram": 4}
_CONTENT: dict[Kind, int] = {"counter": 3, "gauge": 2, "summary": 4, "untyped": 5, "histogram": 7}


def text(families: Iterable[Family]) -> bytes:
    """The families in the text format, in the order given; their series are in the order of their labels."""
    return "".join(line for family in families for line in _lines(family)).encode()


def _lines(family: Family) -> Iterator[str]:
    about = family.help.replace("\\", "\\\\").replace("\n", "\\n")
    yield f"# HELP {family.name} {about}\n# TYPE {family.name} {family.kind}\n"
    for labels, value in family.values.items():
        yield f"{family.name}{_selector(labels)} {number(value)}\n"
    for labels, histogram in family.histograms.items():
        inside = _pairs(labels)
        opened = f"{family.name}_bucket{{{inside}{',' if inside else ''}le="
        for bound, count in zip((*map(number, histogram.bounds), "+Inf"), histogram.cumulative, strict=True):
            yield f'{opened}"{bound}"}} {number(count)}\n'
        yield f"{family.name}_sum{_selector(labels)} {number(histogram.sum)}\n"
        yield f"{family.name}_count{_selector(labels)} {number(histogram.count)}\n"


def _selector(labels: Labels) -> str:
    return f"{{{_pairs(labels)}}}" if labels else ""


@lru_cache(maxsize=8192)
def _pairs(labels: Labels) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def number(value: float) -> str:
    """A number as Go writes it: the fewest digits that tell it, with an exponent below 1e-4 and from 1e6 on."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    if -1_000_000 < value < 1_000_000 and value == int(value):
        return str(int(value))
    plain = repr(float(value))
    if 1e-4 <= abs(value) < 1_000_000:
        return plain
    sign = "-" if value < 0 else ""
    mantissa, _, power = plain.lstrip("-").partition("e")
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    exponent = int(power or 0) + len(whole) - 1 - (len(whole + part) - len(digits))
    digits = digits.rstrip("0")
    return f"{sign}{digits[0]}{'.' if len(digits) > 1 else ''}{digits[1:]}e{exponent:+03d}"


def protobuf(families: Iterable[Family]) -> bytes:
    """The families as MetricFamily messages, each after its length."""
    body = bytearray()
    for family in families:
        message = b"".join(_message(family))
        body += _varint(len(message)) + message
    return bytes(body)


def _message(family: Family) -> Iterator[bytes]:
    yield _field(1, family.name.encode())
    yield _field(2, family.help.encode())
    yield b"\x18" + _varint(_TYPES[family.kind])
    content = _CONTENT[family.kind]
    for labels, value in family.values.items():
        yield _field(4, _labels(labels) + _field(content, b"\x09" + _double(value)))
    for labels, histogram in family.histograms.items():
        yield _field(4, _labels(labels) + _field(content, _histogram(histogram)))


def _histogram(histogram: Histogram) -> bytes:
    parts = [b"\x08", _varint(histogram.count), b"\x11", _double(histogram.sum)]
    # The +Inf bucket is left out, as it is the count.
    for bound, count in zip(histogram.bounds, histogram.cumulative, strict=False):
        parts.append(_field(3, b"\x08" + _varint(count) + b"\x11" + _double(bound)))
    return b"".join(parts)


@lru_cache(maxsize=8192)
def _labels(labels: Labels) -> bytes:
    return b"".join(_field(1, _field(1, name.encode()) + _field(2, value.encode())) for name, value in labels)


def _field(number: int, content: bytes) -> bytes:
    """A field of bytes."""
    return bytes((number << 3 | 2,)) + _varint(len(content)) + content


_double = struct.Struct("<d").pack


def _varint(value: int) -> bytes:
    if value < 0x80:
        return bytes((value,))
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
