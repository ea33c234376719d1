"""A metrics body of any format and encoding, reduced to the wanted families while it comes in."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator

from apftop.other_body import UTF8_BOM, UTF16
from apftop.parse.pick import ProtoPicker, TextPicker, varint
from apftop.parse.vocabulary import wanted as wanted_of_apf
from apftop.parse.vocabulary import wanted_at_once, wanted_behind
from apftop.parse.wanted import Wanted
from apftop.records.parsed import ParseError

TEXT = "text/plain; version=0.0.4"
OPENMETRICS = "application/openmetrics-text; version=1.0.0"
PROTOBUF = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
MAX_BYTES = 256 << 20
MAX_PICKED = 64 << 20
_WINDOW = 64 << 10
_GZIP_STEP = 16 << 10
_HEAD = 512
_GZIP_MAGIC = b"\x1f\x8b"
_FIRST_LINE = re.compile(rb"#|[a-zA-Z_:][a-zA-Z0-9_:]*[ \t]*(?:\{|[ \t][-+.0-9NnIi])")
_FIRST_MESSAGE = re.compile(rb"[\x80-\xff]{0,9}[\x00-\x7f]\n[\x01-\x7f]")
_WHOLE_NAME = re.compile(rb"[a-zA-Z_:][a-zA-Z0-9_:]*")
_NO_METRICS = (b"<", b"{", b"[")


class Gunzip:
    """Decompresses gzip fed in pieces of any size; several members after one another are one body."""

    def __init__(self) -> None:
        self._made = 0
        self._begun = False
        self._stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield what the next piece holds, in pieces of at most 64 KiB. Raises ParseError on a corrupt stream."""
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
    harm. `max_bytes` limits the decoded body, MAX_PICKED what is picked of it.
    """

    def __init__(self, content_type: str, content_encoding: str, wanted: Wanted, *, max_bytes: int = MAX_BYTES) -> None:
        self._type = content_type.lower()
        self._encoding = content_encoding.strip().lower()
        self._wanted = wanted
        self._max_bytes = max_bytes
        self._seen = 0
        self._kind = ""
        self._raw = b""
        self._gunzip = Gunzip()
        self._packed: bool | None = None
        self._head = b""
        self._picker: TextPicker | ProtoPicker | None = None

    @property
    def seen(self) -> int:
        """Bytes of the decoded body so far."""
        return self._seen

    @property
    def kind(self) -> str:
        """The content type of what was picked, one of TEXT, OPENMETRICS and PROTOBUF; empty before the end."""
        return self._kind

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

    def finish(self) -> bytes:
        """The picked bytes. Raises ParseError."""
        self._gunzip.finish()
        picker = self._picker or self._choose(self._head + self._raw)
        picked = picker.finish()
        if len(picked) > MAX_PICKED:
            raise _too_many()
        if isinstance(picker, ProtoPicker):
            self._kind = PROTOBUF
            return picked
        declared = "openmetrics" in self._type
        if declared and picker.bytes_seen and not picker.ended:
            raise ParseError(f"truncated: no `# EOF` line at the end of {picker.bytes_seen} bytes of OpenMetrics")
        self._kind = OPENMETRICS if declared or picker.ended else TEXT
        return picked

    def _decoded(self, piece: bytes) -> None:
        self._seen += len(piece)
        if self._seen > self._max_bytes:
            raise ParseError(f"larger than {self._max_bytes / 2**20:g} MiB")
        if self._picker is None:
            self._head += piece
            if len(self._head) >= _HEAD:
                self._choose(self._head)
        else:
            self._picker.feed(piece)
            if len(self._picker.kept) > MAX_PICKED:
                raise _too_many()

    def _choose(self, head: bytes) -> TextPicker | ProtoPicker:
        text = head.removeprefix(UTF8_BOM).lstrip()
        if is_protobuf(head) or ("protobuf" in self._type and not text.startswith(_NO_METRICS)):
            self._picker = ProtoPicker(self._wanted)
        elif head.startswith(UTF16):
            raise ParseError("this is UTF-16 text: save it as UTF-8")
        elif not text or _FIRST_LINE.match(text):
            self._picker = TextPicker(self._wanted)
            head = head.removeprefix(UTF8_BOM)
        else:
            encoded = f" (content encoding {self._encoding})" if self._encoding else ""
            raise ParseError(f"this is not a metrics answer{encoded}: {text.decode('utf-8', 'replace')[:80]!r}")
        self._head = b""
        self._picker.feed(head)
        return self._picker


def _too_many() -> ParseError:
    return ParseError(f"more than {MAX_PICKED >> 20} MiB of series that apftop reads")


def pick(chunks: Iterable[bytes], content_type: str, content_encoding: str, wanted: Wanted) -> tuple[bytes, str]:
    """The wanted families of a body, and its content type: one of TEXT, OPENMETRICS and PROTOBUF.

    Raises ParseError when the body is no metrics, truncated, corrupt, or more than MAX_BYTES or MAX_PICKED.
    """
    picker = BodyPicker(content_type, content_encoding, wanted)
    for chunk in chunks:
        picker.feed(chunk)
    return picker.finish(), picker.kind


def picker_of_apf(content_type: str, content_encoding: str) -> BodyPicker:
    """A picker of flow control, for a body with these headers."""
    return BodyPicker(content_type, content_encoding, wanted_of_apf())


def picker_of_behind(content_type: str, content_encoding: str) -> BodyPicker:
    """A picker of what lies behind the queues."""
    return BodyPicker(content_type, content_encoding, wanted_behind())


def picker_of_all(content_type: str, content_encoding: str) -> BodyPicker:
    """A picker of all that apftop reads, for who looks once."""
    return BodyPicker(content_type, content_encoding, wanted_at_once())


def is_protobuf(head: bytes) -> bool:
    """Whether a length-delimited message that begins with a name stands here; no text begins so."""
    found = _FIRST_MESSAGE.match(head)
    if not found:
        return False
    size = head[found.end() - 1]
    name = head[found.end() : found.end() + size]
    return size + 2 <= varint(head, 0)[0] and _WHOLE_NAME.fullmatch(name) is not None
