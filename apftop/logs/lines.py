"""The lines of a log, plain or gzip, one by one, and what to say of those that cannot be read."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from io import BufferedReader

from apftop.errors import one_line
from apftop.other_body import UTF16

LONGEST = 8 << 20
"""Bytes of the longest line that is read: audit events that hold both objects have some 3 MB."""

GZIP = b"\x1f\x8b"
TORN = (OSError, EOFError, zlib.error)

Take = Callable[[bytes], bool]
"""Takes one line in; False where it is broken: it says what it is, and not all that it should say."""


def take_lines(stream: BufferedReader, name: str, take: Take) -> Iterator[str]:
    """Give all lines to `take`, and say what was wrong: which file, how many lines, and the first of them."""
    total, broken, first = 0, 0, 0
    try:
        for line in _lines(stream):
            total += 1
            if line is None or (line.strip() and not take(line)):
                broken, first = broken + 1, first or total
    except (*TORN, ValueError) as error:
        yield f"{name}: read up to line {total}: {one_line(str(error))}"
    if broken:
        yield f"{name}: {broken} of {total} lines cannot be read, the first is line {first}"


def _lines(stream: BufferedReader) -> Iterator[bytes | None]:
    """The lines, None for one that is longer than `LONGEST`; raises what `TORN` has, and ValueError for UTF-16."""
    begins = stream.peek(len(GZIP))
    if begins.startswith(UTF16):
        raise ValueError("UTF-16 text: save it as UTF-8")
    with gzip.open(stream) if begins.startswith(GZIP) else nullcontext(stream) as text:
        while line := text.readline(LONGEST):
            if len(line) < LONGEST or line.endswith(b"\n"):
                yield line
            else:
                _skip(text)
                yield None


def _skip(text: gzip.GzipFile | BufferedReader) -> None:
    """Go to the end of a line."""
    while (more := text.readline(LONGEST)) and not more.endswith(b"\n"):
        pass
