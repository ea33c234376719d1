"""Standard output for data, standard error for talk; a reader that went away and a full disk are no crash."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterable, Iterator

from apftop.errors import Trouble
from apftop.present import plain

READER_GONE = 141
"""The exit code of a process whose output nobody reads any more (128 + SIGPIPE)."""

SLOW_S = 3.0
"""Nobody should look at an empty screen for longer without being told why."""


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
    """Say what went wrong, a line each; nobody may be there to read it."""
    if sys.stderr is None:
        return
    with contextlib.suppress(OSError):
        for line in lines:
            print(f"apftop: {plain(line)}", file=sys.stderr)  # noqa: T201


@contextlib.contextmanager
def said_if_slow(line: str, after_s: float = SLOW_S) -> Iterator[None]:
    """Tell who sits at a terminal what is being waited for, once that takes long."""
    later = threading.Timer(after_s, complain, ((line,),))
    later.daemon = True
    if sys.stderr is not None and sys.stderr.isatty():
        later.start()
    try:
        yield
    finally:
        later.cancel()
