"""Length-delimited io.prometheus.client.MetricFamily messages."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from functools import lru_cache

from apftop.parse.gathering import Gathered, Group, series_of
from apftop.records.parsed import Labels, Metrics, ParseError

_CACHED = 32768

_VARINT = 0
_FIXED64 = 1
_BYTES = 2
_FIXED32 = 5

_LABEL_KEY = 1 << 3 | _BYTES
_COUNT_KEY = 1 << 3 | _VARINT
_BOUND_KEY = 2 << 3 | _FIXED64

_TYPES = ("counter", "gauge", "summary", "untyped", "histogram", "gaugehistogram")
_CONTENT_FIELD = {"counter": 3, "gauge": 2, "summary": 4, "untyped": 5, "histogram": 7}
_NATIVE_FIELDS = range(5, 15)
_LAST_CLASSIC = 4

_double = struct.Struct("<d").unpack_from

_NUMBER_RE = rb"([\x80-\xff]{0,9}[\x00-\x7f])"
_BUCKET = re.compile(rb"\x1a(.)\x08" + _NUMBER_RE + rb"\x11(.{8})", re.DOTALL)
_USUAL = re.compile(
    rb"\x08" + _NUMBER_RE + rb"\x11(.{8})((?:\x1a.\x08[\x80-\xff]{0,9}[\x00-\x7f]\x11.{8})+)", re.DOTALL
)
"""A histogram as servers write it: count, sum, and buckets of whole counts; native ones and stamps come behind."""


def parse_proto(body: bytes) -> Metrics:
    """Read MetricFamily messages, each after its length.

    Raises ParseError with the number of the message and its family when one is truncated or cannot be read.
    """
    gathered = Gathered("message")
    pos = message = 0
    while pos < len(body):
        message += 1
        start = pos
        try:
            size, start = _varint(body, pos, len(body))
            pos = start + size
            if pos > len(body):
                raise ValueError(f"truncated, its last {pos - len(body)} bytes are missing")
            if size:
                _family(body, start, pos, message, gathered)
        except ValueError as error:
            raise ParseError(f"message {message} ({_name_at(body, start)}) cannot be read: {error}") from None
    return gathered.metrics("protobuf")


def _name_at(body: bytes, start: int) -> str:
    """The name of the family whose message begins here, as far as it can be read."""
    try:
        number, _, name_start, name_end = next(_fields(body, start, len(body)))
    except (ValueError, StopIteration):
        return "no name"
    return body[name_start:name_end][:200].decode("utf-8", "replace") if number == 1 else "no name"


def _family(body: bytes, pos: int, end: int, message: int, gathered: Gathered) -> None:
    name = about = ""
    type_number = 0
    metrics: list[tuple[int, int]] = []
    for number, wire, start, stop in _fields(body, pos, end):
        if number == 4 and wire == _BYTES:
            metrics.append((start, stop))
        elif number == 1 and wire == _BYTES:
            name = body[start:stop].decode()
        elif number == 2 and wire == _BYTES:
            about = body[start:stop].decode()
        elif number == 3 and wire == _VARINT:
            type_number = start
    if not name:
        raise ValueError("the family has no name")
    kind = _TYPES[type_number] if type_number < len(_TYPES) else "untyped"
    gathered.kinds.setdefault(name, kind)
    gathered.helps.setdefault(name, about)
    if kind == "gaugehistogram":
        gathered.problems.append(f"{name}: gauge histograms are not read, left out")
        return
    for start, stop in metrics:
        _metric(body, start, stop, name, kind, message, gathered)


def _metric(body: bytes, pos: int, end: int, name: str, kind: str, message: int, gathered: Gathered) -> None:
    first = pos
    while pos < end and body[pos] == _LABEL_KEY:
        size, pos = _varint(body, pos + 1, end)
        pos += size
    if pos > end:
        raise ValueError("a label reaches beyond its series")
    labels = _labels(body[first:pos])
    content: tuple[int, int] | None = None
    stamp: float | None = None
    for number, wire, start, stop in _fields(body, pos, end):
        if number == _CONTENT_FIELD[kind] and wire == _BYTES:
            content = start, stop
        elif number == 1 and wire == _BYTES:
            labels = tuple(sorted((*labels, _pair(body, start, stop))))
        elif number == 6 and wire == _VARINT:
            stamp = _signed(start) / 1000
    if stamp is not None:
        gathered.stamp(labels, stamp)
    if content is None:
        gathered.problems.append(f"{name}{dict(labels)} (message {message}): it has no {kind} in it, left out")
    elif kind == "histogram":
        groups = gathered.groups.setdefault(name, {})
        group = groups.setdefault(labels, Group())
        group.place = message
        _histogram(body, *content, group)
    elif kind == "summary":
        _summary(body, *content, name, labels, message, gathered)
    else:
        gathered.add(series_of(name, labels), _value(body, *content), message)


def _value(body: bytes, pos: int, end: int) -> float:
    """The value of a counter, gauge or untyped metric."""
    if end - pos == 9 and body[pos] == 1 << 3 | _FIXED64:
        return float(_double(body, pos + 1)[0])
    return _doubles(body, pos, end).get(1, 0.0)


def _histogram(body: bytes, pos: int, end: int, group: Group) -> None:
    if (
        group.count is None
        and (usual := _USUAL.match(body, pos, end)) is not None
        and all(number > _LAST_CLASSIC for number, *_ in _fields(body, usual.end(), end))
        and _usual(usual, group)
    ):
        return
    count = total = 0.0
    bounds = 0
    unbounded = native = False
    for number, wire, start, stop in _fields(body, pos, end):
        if number == 3 and wire == _BYTES:
            bound, cumulative = _bucket(body, start, stop)
            group.add_bucket(bound, cumulative)
            bounds += 1
            unbounded |= bound == math.inf
        elif number == 1 and wire == _VARINT:
            count = count or start
        elif number == 2 and wire == _FIXED64:
            total = _double(body, start)[0]
        elif number == 4 and wire == _FIXED64:
            count = _double(body, start)[0] or count
        elif number in _NATIVE_FIELDS:
            native = True
    group.add_count(count)
    group.add_sum(total)
    if native and not bounds:
        group.native = True
    elif not unbounded:
        group.add_bucket(math.inf, count)


def _usual(found: re.Match[bytes], group: Group) -> bool:
    """Read a histogram at once; False where it is not as it looks, and nothing of it is read."""
    sizes, counts, doubles = zip(*_BUCKET.findall(found[3]), strict=True)
    if b"".join(sizes) != bytes(len(count) + 10 for count in counts):
        return False
    bounds = _bounds(b"".join(doubles))
    if not bounds:
        return False
    count = _whole(found[1])
    group.buckets = dict(zip(bounds, map(_whole, counts), strict=True))
    group.add_count(count)
    group.add_sum(_double(found[2])[0])
    if math.inf not in group.buckets:
        group.add_bucket(math.inf, count)
    return True


@lru_cache(maxsize=256)
def _bounds(raw: bytes) -> tuple[float, ...]:
    """Bounds of buckets; none where one stands there twice, or is no number."""
    found = struct.unpack(f"<{len(raw) // 8}d", raw)
    return found if len(set(found)) == len(found) and not any(map(math.isnan, found)) else ()


@lru_cache(maxsize=4096)
def _whole(raw: bytes) -> int:
    return _varint(raw, 0, len(raw))[0]


def _bucket(body: bytes, pos: int, end: int) -> tuple[float, float]:
    """Upper bound and cumulative count."""
    if pos < end and body[pos] == _COUNT_KEY:
        count, at = _varint(body, pos + 1, end)
        if end - at == 9 and body[at] == _BOUND_KEY:
            return _double(body, at + 1)[0], count
    count = 0
    for number, wire, start, _ in _fields(body, pos, end):
        if number == 1 and wire == _VARINT:
            count = start
    doubles = _doubles(body, pos, end)
    return doubles.get(2, 0.0), doubles.get(4, 0.0) or count


def _summary(body: bytes, pos: int, end: int, name: str, labels: Labels, message: int, gathered: Gathered) -> None:
    count = total = 0.0
    for number, wire, start, stop in _fields(body, pos, end):
        if number == 1 and wire == _VARINT:
            count = start
        elif number == 2 and wire == _FIXED64:
            total = _double(body, start)[0]
        elif number == 3 and wire == _BYTES:
            doubles = _doubles(body, start, stop)
            quantile = repr(doubles.get(1, 0.0)).removesuffix(".0")
            series = series_of(name, tuple(sorted((*labels, ("quantile", quantile)))))
            gathered.add(series, doubles.get(2, 0.0), message)
    gathered.add(series_of(f"{name}_sum", labels), total, message)
    gathered.add(series_of(f"{name}_count", labels), count, message)


@lru_cache(maxsize=_CACHED)
def _labels(raw: bytes) -> Labels:
    """The labels of the label fields that stand at the beginning of a series."""
    return tuple(sorted(_pair(raw, start, stop) for _, _, start, stop in _fields(raw, 0, len(raw))))


def _pair(body: bytes, pos: int, end: int) -> tuple[str, str]:
    name = value = ""
    for number, wire, start, stop in _fields(body, pos, end):
        if wire == _BYTES:
            if number == 1:
                name = body[start:stop].decode()
            elif number == 2:
                value = body[start:stop].decode()
    return name, value


def _doubles(body: bytes, pos: int, end: int) -> dict[int, float]:
    fields = _fields(body, pos, end)
    return {number: _double(body, start)[0] for number, wire, start, _ in fields if wire == _FIXED64}


def _fields(body: bytes, pos: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Number and wire type of each field, start and end of its content; a varint stands in place of the start.

    Raises ValueError when a field reaches beyond `end`.
    """
    while pos < end:
        key, pos = _varint(body, pos, end)
        wire = key & 7
        if wire == _BYTES:
            size, start = _varint(body, pos, end)
            pos = start + size
        elif wire == _VARINT:
            start, pos = _varint(body, pos, end)
        elif wire == _FIXED64:
            start, pos = pos, pos + 8
        elif wire == _FIXED32:
            start, pos = pos, pos + 4
        else:
            raise ValueError(f"wire type {wire} is not known")
        if pos > end:
            raise ValueError(f"field {key >> 3} reaches {pos - end} bytes beyond its message")
        yield key >> 3, wire, start, pos


def _varint(body: bytes, pos: int, end: int) -> tuple[int, int]:
    """A number and where it ends. Raises ValueError when it does not end before `end`."""
    if pos < end:
        value = body[pos]
        if value < 0x80:
            return value, pos + 1
        value &= 0x7F
        for shift in range(7, 70, 7):
            pos += 1
            if pos >= end:
                break
            byte = body[pos]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, pos + 1
        else:
            raise ValueError("a number goes on for more than 10 bytes")
    raise ValueError("truncated within a number")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
