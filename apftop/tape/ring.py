"""The latest minutes of a tape in memory: the same bytes as on the disk, of which the oldest segments go."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from apftop.tape.layout import FIRST_LINE, FORMAT

KEPT_S = 600.0
MOST_BYTES = 64 << 20


@dataclass
class Ring:
    """Keeps the segments of the last `kept_s` seconds, and no more than `most_bytes` but for the newest one."""

    kept_s: float = KEPT_S
    most_bytes: int = MOST_BYTES
    _segments: deque[tuple[float, bytearray]] = field(default_factory=deque)

    def write(self, piece: bytes, now: float, *, begins: bool) -> None:
        """Take in one record; `begins` where it begins a segment. `now` is Unix seconds."""
        if begins:
            self._segments.append((now, bytearray()))
        if self._segments:
            self._segments[-1][1].extend(piece)
        # A segment is needed for as long as the next one begins too late.
        while len(self._segments) > 1 and (self._segments[1][0] <= now - self.kept_s or self.size > self.most_bytes):
            self._segments.popleft()

    @property
    def size(self) -> int:
        """Bytes that are kept."""
        return sum(len(segment) for _, segment in self._segments)

    def tape(self) -> bytes:
        """All of it as a tape; empty where there is nothing."""
        return b"".join(self._pieces()) if self._segments else b""

    def _pieces(self) -> Iterator[bytes]:
        yield FIRST_LINE % FORMAT
        for _, segment in self._segments:
            yield bytes(segment)
