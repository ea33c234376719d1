"""Keeping only the wanted families of a stream of metrics, without holding the rest of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from io import BytesIO

from apftop.parse.wanted import Wanted
from apftop.records.parsed import ParseError

_WINDOW = 64 << 10
_LONGEST_LINE = 1 << 20
_LONGEST_NAME = 4 << 10
_SUFFIXES = (b"_bucket", b"_sum", b"_count", b"_total", b"_created")
_SAMPLE_NAME = re.compile(rb"[ \t]*([a-zA-Z_:][a-zA-Z0-9_:]*)")


class _Names:
    """Whether a family or one of its samples is wanted, remembered by name over all polls."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._known: dict[bytes, bool] = {}

    def take(self, name: bytes) -> bool:
        known = self._known.get(name)
        if known is None:
            if len(self._known) >= 4096:
                self._known.clear()
            known = self._known[name] = any(map(self._wanted.takes, _spellings(name)))
        return known


@lru_cache(maxsize=8)
def _names(wanted: Wanted) -> _Names:
    return _Names(wanted)


def _spellings(name: bytes) -> Iterator[bytes]:
    """The names under which the family of a header or sample line may be wanted."""
    # OpenMetrics heads the counter foo_total with `foo`.
    yield name
    yield name + b"_total"
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            stem = name.removesuffix(suffix)
            yield stem
            yield stem + b"_total"


class TextPicker:
    """Picks families out of the Prometheus text format or OpenMetrics, fed in pieces of any size.

    A block lasts from its HELP, TYPE or UNIT line to such a line of another family, and is kept or skipped as a whole.
    Where the last line of a stretch is not of the block's family, the stretch is examined line by line, so that series
    without headers are found. `ended` tells whether the `# EOF` line of OpenMetrics was seen, `kept` is what is picked.
    """

    def __init__(self, wanted: Wanted) -> None:
        self.bytes_seen = 0
        self.ended = False
        self._take = _names(wanted).take
        self.kept = bytearray()
        self._held: list[bytes] = []
        self._held_size = 0
        self._line = b""
        self._family = b""
        self._keep = False

    def feed(self, chunk: bytes) -> None:
        """Take the next piece of the body."""
        self.bytes_seen += len(chunk)
        # Windows lie at fixed places of the stream, so that what is picked does not depend on how it was cut.
        start, room = 0, _WINDOW - self._held_size
        while len(chunk) - start >= room:
            if self._held:
                self._held.append(chunk[start : start + room])
                self._flush()
            else:
                self._window(chunk, start, start + room)
            start, room = start + room, _WINDOW
        if start < len(chunk):
            self._held.append(chunk[start:] if start else chunk)
            self._held_size += len(chunk) - start

    def finish(self) -> bytes:
        """The picked lines. Raises ParseError when the body ends within a line."""
        self._flush()
        if self._line.strip() == b"# EOF":
            self._one(b"# EOF\n")
        elif self._line:
            text, place = self._line.decode("utf-8", "replace")[:80], self.bytes_seen - len(self._line)
            raise ParseError(f"truncated: the body ends within the line that begins at byte {place}: {text!r}")
        return bytes(self.kept)

    def _flush(self) -> None:
        window = b"".join(self._held)
        self._held.clear()
        self._held_size = 0
        self._window(window, 0, len(window))

    def _window(self, data: bytes, start: int, end: int) -> None:
        first = data.find(b"\n", start, end) + 1
        if not first:
            self._line += data[start:end]
            if len(self._line) > _LONGEST_LINE:
                raise ParseError(f"a line of over {_LONGEST_LINE} bytes ends at byte {self.bytes_seen} or later")
            return
        if self._line:
            self._one(self._line + data[start:first])
            start = first
        last = data.rfind(b"\n", first - 1, end) + 1
        self._line = data[last:end]
        while start < last:
            mark = _next_comment(data, start, last)
            if mark > start:
                self._stretch(data, start, mark)
            if mark == last:
                break
            start = data.find(b"\n", mark, last) + 1
            self._one(data[mark:start])

    def _stretch(self, data: bytes, start: int, end: int) -> None:
        """Sample lines only, each whole."""
        last_line = max(start, data.rfind(b"\n", start, end - 1) + 1)
        name = _sample_name(data, last_line, end)
        if self._family and name.startswith(self._family) and name[len(self._family) :] in (b"", *_SUFFIXES):
            if self._keep:
                self.kept += memoryview(data)[start:end]
            return
        for line in BytesIO(data[start:end]):
            self._one(line)

    def _one(self, line: bytes) -> None:
        """One whole line of any kind."""
        if not line.startswith(b"#"):
            if self._take(_sample_name(line, 0, len(line))):
                self.kept += line
            return
        words = line.split(None, 3)
        if len(words) > 2 and words[1] in (b"HELP", b"TYPE", b"UNIT"):
            self._family = words[2]
            self._keep = self._take(words[2])
            if self._keep:
                self.kept += line
        elif line.strip() == b"# EOF":
            self.ended = True
            self.kept += line


def _sample_name(data: bytes, start: int, end: int) -> bytes:
    found = _SAMPLE_NAME.match(data, start, end)
    return found[1] if found else b""


def _next_comment(data: bytes, start: int, end: int) -> int:
    """Where the next line that begins with `#` begins, or `end`; `start` is the beginning of a line."""
    # A search for one byte is several times faster than one for two, and `#` is rare within lines.
    mark = data.find(b"#", start, end)
    if mark < 0:
        return end
    if mark == start or data[mark - 1] == 0x0A:
        return mark
    return data.find(b"\n#", mark, end) + 1 or end


class ProtoPicker:
    """Picks families out of length-delimited MetricFamily messages, fed in pieces of any size; `kept` is picked."""

    def __init__(self, wanted: Wanted) -> None:
        self.bytes_seen = 0
        self._take = _names(wanted).take
        self.kept = bytearray()
        self._head = b""
        self._left = 0
        self._keep = False
        self._message = 0
        self._name = b""

    def feed(self, chunk: bytes) -> None:
        """Take the next piece of the body. Raises ParseError when a message does not begin with a family's name."""
        self.bytes_seen += len(chunk)
        pos = -len(self._head)
        while pos < len(chunk):
            if self._left:
                step = min(self._left, len(chunk) - pos)
                if self._keep:
                    self.kept += memoryview(chunk)[pos : pos + step]
                self._left -= step
                pos += step
                continue
            # Length and name may lie across the border of pieces; the rest of a large piece is not copied for them.
            head, at = (chunk, pos) if pos >= 0 else (self._head + chunk[: _LONGEST_NAME + 32], 0)
            used = self._begin(head, at)
            if not used:
                self._head = head[at:]
                return
            pos += used
        self._head = b""

    def finish(self) -> bytes:
        """The picked messages. Raises ParseError when the body ends inside a message."""
        if self._head:
            raise ParseError(f"truncated: the body ends at the beginning of message {self._message + 1}")
        if self._left:
            name = self._name.decode("utf-8", "replace")
            raise ParseError(f"truncated: message {self._message} ({name}) lacks its last {self._left} bytes")
        return bytes(self.kept)

    def _begin(self, data: bytes, start: int) -> int:
        """Read length and name of the message at `start`: how many bytes that took, or 0 if more are needed."""
        length, pos = varint(data, start)
        # Field 1 as bytes is the name; every encoder writes fields in rising order.
        if length > 0 and pos < len(data) and data[pos] != 0x0A:
            raise ParseError(f"message {self._message + 1} does not begin with the name of a metric family")
        if length == 0:
            self._message += 1
            return pos - start
        size, name_at = varint(data, pos + 1) if pos else (-1, 0)
        if not name_at:
            return 0
        end = name_at + size
        if size > _LONGEST_NAME or end - pos > length:
            raise ParseError(f"message {self._message + 1} has a name of {size} bytes")
        if end > len(data):
            return 0
        self._message += 1
        self._name = data[name_at:end]
        self._keep = self._take(self._name)
        self._left = length - (end - pos)
        if self._keep:
            self.kept += data[start:end]
        return end - start


def varint(data: bytes, pos: int) -> tuple[int, int]:
    """A number and where it ends; (-1, 0) if it does not end within `data`."""
    try:
        value = data[pos]
        if value < 0x80:
            return value, pos + 1
        value &= 0x7F
        for shift in range(7, 70, 7):
            pos += 1
            byte = data[pos]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, pos + 1
    except IndexError:
        return -1, 0
    raise ParseError(f"a length in the protobuf body goes on for more than 10 bytes: {data[pos - 9 : pos + 1].hex()}")
