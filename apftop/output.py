"""Standard output for data, standard error for talk; a reader that went away and a full disk are no crash."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from apftop.errors import Trouble
from apftop.present import plain

READER_GONE = 141
"""The exit code of a process whose output nobody reads any more (128 + SIGPIPE)."""


def write(text: str) -> None:
    """Write one piece of data and a newline. Raises Trouble when it cannot be written, SystemExit if nobody reads."""
    if sys.stdout is None:
        raise Trouble("there is no standard output")
    try:
        # A stream that cannot hold a character gets its escape; nothing is lost and nothing crashes.
        data = (text.rstrip("\n") + "\n").encode(sys.stdout.encoding or "utf-8", "backslashreplace")
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # What is still buffered would fail again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(READER_GONE) from None
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Trouble(f"the output cannot be written ({error.strerror})") from error


def complain(lines: Iterable[str]) -> None:
    """Say what went wrong, a line each."""
    for line in lines:
        print(f"apftop: {plain(line)}", file=sys.stderr)  # noqa: T201
