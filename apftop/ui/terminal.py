"""The terminal that the screen is on: whether there is one, and that it is given back, whatever happens."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import TextIO

from apftop.errors import Trouble

EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
PATIENCE_S = 0.6
"""So long the screen may take to give the terminal back before it is taken from it."""

# Kitty keys, mouse, focus, paste and sizes off, wrapping on, out of the alternate screen, cursor on, plain text.
_RESTORE = (
    b"\x1b[<u\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l\x1b[?1004l\x1b[?2004l\x1b[?2048l\x1b[?7h"
    b"\x1b[?1049l\x1b[?25h\x1b[0m"
)
_INSTEAD = "`apftop report -b` needs none"


def refuse_without_terminal(environment: Mapping[str, str]) -> None:
    """Raise Trouble where no screen can be drawn: the reader's keys come from stdin, the drawing goes to stderr."""
    for stream, name in ((sys.__stdin__, "standard input"), (sys.__stderr__, "standard error")):
        if not _is_terminal(stream):
            raise Trouble("the screen needs a terminal", f"{name} is none", _INSTEAD)
    kind = environment.get("TERM", "")
    if kind in ("", "dumb"):
        where = "TERM is dumb" if kind else "TERM is not set"
        raise Trouble("the screen needs a terminal that can place its cursor", where, _INSTEAD)


class Terminal:
    """The terminal as it was before the screen was drawn on it. Make one in the main thread."""

    def __init__(self) -> None:
        self._input, self._output = 0, 2
        self._before = termios.tcgetattr(self._input)
        self._deadline: threading.Timer | None = None

    def gone(self) -> bool:
        """Whether nobody is there any more to read the screen."""
        return not os.isatty(self._input)

    def leaving(self, code: int) -> None:
        """From now on the process ends soon, with this exit code, even if the screen cannot be drawn to its end."""
        if self._deadline is None:
            self._deadline = threading.Timer(PATIENCE_S, self._end, (code,))
            self._deadline.daemon = True
            self._deadline.start()

    def left(self) -> None:
        """The screen has given the terminal back."""
        if self._deadline is not None:
            self._deadline.cancel()

    def _end(self, code: int) -> None:
        # Where nobody reads what is written, waiting for it would never end.
        with contextlib.suppress(OSError, termios.error):
            termios.tcsetattr(self._input, termios.TCSANOW, self._before)
            os.set_blocking(self._output, False)
            os.write(self._output, _RESTORE)
        with contextlib.suppress(OSError):
            os.set_blocking(self._output, True)
        os._exit(code)


@contextlib.contextmanager
def signals_handled(leave: Callable[[int], None]) -> Iterator[None]:
    """While inside, signals that ask to end call `leave` with the exit code, in the main thread.

    These are handlers of Python and not of the event loop, so that they also run while the loop waits for a terminal
    that takes nothing.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        leave(EXIT_CODES[signal.Signals(number)])

    former = {number: signal.signal(number, handle) for number in EXIT_CODES}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()
