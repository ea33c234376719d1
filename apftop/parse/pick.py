"""Keeping only the wanted families of a stream of metrics, without holding the rest of it."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from io import BytesIO

from apftop.parse.wanted import Wanted
from apftop.records.parsed import ParseError

TEXT = "text/plain; version=0.0.4"
OPENMETRICS = "application/openmetrics-text; version=1.0.0"
PROTOBUF = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"

MAX_BYTES = 256 << 20

_WINDOW = 64 << 10
_LONGEST_LINE = 1 << 20
_LONGEST_NAME = 4 << 10
_GZIP_STEP = 16 << 10
_HEAD = 512
_GZIP_MAGIC = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_SUFFIXES = (b"_bucket", b"_sum", b"_count", b"_total", b"_created")
_SAMPLE_NAME = re.compile(rb"[ \t]*([a-zA-Z_:][a-zA-Z0-9_:]*)")
_FIRST_LINE = re.compile(rb"#|[a-zA-Z_:][a-zA-Z0-9_:]*[ \t]*(?:\{|[ \t][-+.0-9NnIi])")
_FIRST_MESSAGE = re.compile(rb"[\x80-\xff]{0,9}[\x00-\x7f]\n[\x01-\x7f]")
_WHOLE_NAME = re.compile(rb"[a-zA-Z_:][a-zA-Z0-9_:]*")
_NO_METRICS = (b"<", b"{", b"[")


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
    without headers are found. `ended` tells whether the `# EOF` line of OpenMetrics was seen.
    """

    def __init__(self, wanted: Wanted) -> None:
        self.bytes_seen = 0
        self.ended = False
        self._take = _names(wanted).take
        self._kept = bytearray()
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
        return bytes(self._kept)

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
                self._kept += memoryview(data)[start:end]
            return
        for line in BytesIO(data[start:end]):
            self._one(line)

    def _one(self, line: bytes) -> None:
        """One whole line of any kind."""
        if not line.startswith(b"#"):
            if self._take(_sample_name(line, 0, len(line))):
                self._kept += line
            return
        words = line.split(None, 3)
        if len(words) > 2 and words[1] in (b"HELP", b"TYPE", b"UNIT"):
            self._family = words[2]
            self._keep = self._take(words[2])
            if self._keep:
                self._kept += line
        elif line.strip() == b"# EOF":
            self.ended = True
            self._kept += line


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
    """Picks families out of length-delimited MetricFamily messages, fed in pieces of any size."""

    def __init__(self, wanted: Wanted) -> None:
        self.bytes_seen = 0
        self._take = _names(wanted).take
        self._kept = bytearray()
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
                    self._kept += memoryview(chunk)[pos : pos + step]
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
        return bytes(self._kept)

    def _begin(self, data: bytes, start: int) -> int:
        """Read length and name of the message at `start`: how many bytes that took, or 0 if more are needed."""
        length, pos = _varint(data, start)
        # Field 1 as bytes is the name; every encoder writes fields in rising order.
        if length > 0 and pos < len(data) and data[pos] != 0x0A:
            raise ParseError(f"message {self._message + 1} does not begin with the name of a metric family")
        if length == 0:
            self._message += 1
            return pos - start
        size, name_at = _varint(data, pos + 1) if pos else (-1, 0)
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
            self._kept += data[start:end]
        return end - start


def _varint(data: bytes, pos: int) -> tuple[int, int]:
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


class Gunzip:
    """Decompresses gzip fed in pieces of any size; several members after one another are one body."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._made = 0
        self._begun = False
        self._stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield what the next piece holds. Raises ParseError on a corrupt stream or beyond `max_bytes`."""
        # zlib copies the input that it has not used yet on each call, so that large pieces are cut first.
        for start in range(0, len(chunk), _GZIP_STEP):
            yield from self._feed(chunk[start : start + _GZIP_STEP])

    def _feed(self, data: bytes) -> Iterator[bytes]:
        full = False
        while data or full:
            if self._stream.eof:
                # Padding with zero bytes after a member is allowed.
                data = data.lstrip(b"\0")
                if not data:
                    return
                self._stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            self._begun = True
            try:
                made = self._stream.decompress(data, _WINDOW)
            except zlib.error as error:
                raise ParseError(f"corrupt gzip after {self._made} bytes of content: {error}") from None
            self._made += len(made)
            if self._made > self._max_bytes:
                raise ParseError(f"the body is larger than {self._max_bytes} bytes")
            if made:
                yield made
            full = len(made) == _WINDOW
            data = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail

    def finish(self) -> None:
        """Raise ParseError when the stream has begun and has not ended."""
        if self._begun and not self._stream.eof:
            raise ParseError(f"truncated: the gzip stream breaks off after {self._made} bytes of content")


class BodyPicker:
    """Picks families out of a body of any supported format and encoding, fed in pieces of any size.

    What the body is follows from its first bytes, then from `content_type`; an encoding that was already undone is no
    harm. `max_bytes` limits what gzip may unpack to.
    """

    def __init__(self, content_type: str, content_encoding: str, wanted: Wanted, *, max_bytes: int = MAX_BYTES) -> None:
        self._type = content_type.lower()
        self._encoding = content_encoding.strip().lower()
        self._wanted = wanted
        self._raw = b""
        self._gunzip = Gunzip(max_bytes)
        self._packed: bool | None = None
        self._head = b""
        self._picker: TextPicker | ProtoPicker | None = None

    def feed(self, chunk: bytes) -> None:
        """Take the next piece. Raises ParseError when the body is no metrics, corrupt or too large."""
        if self._packed is None:
            self._raw += chunk
            if len(self._raw) < len(_GZIP_MAGIC):
                return
            chunk, self._raw = self._raw, b""
            self._packed = chunk.startswith(_GZIP_MAGIC)
        if self._packed:
            for piece in self._gunzip.feed(chunk):
                self._decoded(piece)
        else:
            self._decoded(chunk)

    def finish(self) -> tuple[bytes, str]:
        """The picked bytes and their content type, one of TEXT, OPENMETRICS and PROTOBUF. Raises ParseError."""
        self._gunzip.finish()
        picker = self._picker or self._choose(self._head + self._raw)
        picked = picker.finish()
        if isinstance(picker, ProtoPicker):
            return picked, PROTOBUF
        declared = "openmetrics" in self._type
        if declared and picker.bytes_seen and not picker.ended:
            raise ParseError(f"truncated: no `# EOF` line at the end of {picker.bytes_seen} bytes of OpenMetrics")
        return picked, OPENMETRICS if declared or picker.ended else TEXT

    def _decoded(self, piece: bytes) -> None:
        if self._picker is None:
            self._head += piece
            if len(self._head) >= _HEAD:
                self._choose(self._head)
        else:
            self._picker.feed(piece)

    def _choose(self, head: bytes) -> TextPicker | ProtoPicker:
        text = head.removeprefix(_BOM).lstrip()
        if is_protobuf(head) or ("protobuf" in self._type and not text.startswith(_NO_METRICS)):
            self._picker = ProtoPicker(self._wanted)
        elif not text or _FIRST_LINE.match(text):
            self._picker = TextPicker(self._wanted)
            head = head.removeprefix(_BOM)
        else:
            encoded = f" (content encoding {self._encoding})" if self._encoding else ""
            raise ParseError(f"this is not a metrics answer{encoded}: {text.decode('utf-8', 'replace')[:80]!r}")
        self._head = b""
        self._picker.feed(head)
        return self._picker


def pick(chunks: Iterable[bytes], content_type: str, content_encoding: str, wanted: Wanted) -> tuple[bytes, str]:
    """The wanted families of a body, and its content type: one of TEXT, OPENMETRICS and PROTOBUF.

    Raises ParseError when the body is no metrics, truncated, corrupt or unpacks to more than MAX_BYTES.
    """
    picker = BodyPicker(content_type, content_encoding, wanted)
    for chunk in chunks:
        picker.feed(chunk)
    return picker.finish()


def is_protobuf(head: bytes) -> bool:
    """Whether a length-delimited message that begins with a name stands here; no text begins so."""
    found = _FIRST_MESSAGE.match(head)
    if not found:
        return False
    size = head[found.end() - 1]
    name = head[found.end() : found.end() + size]
    return size + 2 <= _varint(head, 0)[0] and _WHOLE_NAME.fullmatch(name) is not None
