"""A program in a terminal of its own: keys go in, and what it draws comes out, as bytes with times or as a screen."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

ENTER_SCREEN, LEAVE_SCREEN = b"\x1b[?1049h", b"\x1b[?1049l"
SHOW_CURSOR = b"\x1b[?25h"
# Escape sequences that place, style and switch, and strings for the terminal itself.
_SEQUENCES = re.compile(rb"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[P_^X][^\x1b]*\x1b\\|[ -/]*[0-~])")
PATIENCE_S = 20.0
_NOT_INHERITED = ("NO_COLOR", "COLORTERM", "TMUX", "TERM", "COLUMNS", "LINES")

Environment = Mapping[str, str]


def environment(**also: str) -> dict[str, str]:
    """The environment of this process, in a terminal of usual abilities and without wishes for colour."""
    kept = {key: value for key, value in os.environ.items() if key not in _NOT_INHERITED}
    return kept | {"TERM": "xterm-256color", "COLORTERM": "truecolor"} | also


class Pty:
    """A program under a pseudo-terminal that this class is the other end of; `output` is all that it has drawn."""

    def __init__(self, argv: Sequence[str], size: tuple[int, int] = (80, 24), env: Environment | None = None) -> None:
        self._ours, self._theirs = pty.openpty()
        self.resize(*size)
        self.before = termios.tcgetattr(self._theirs)
        self.output = b""
        self._hung_up = False
        self.process = subprocess.Popen(
            argv,
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
            env=dict(environment() if env is None else env),
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )

    def __enter__(self) -> Pty:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.hang_up()
        os.close(self._theirs)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._ours, keys)

    def signal(self, number: signal.Signals) -> None:
        """Send the program a signal."""
        self.process.send_signal(number)

    def hang_up(self) -> None:
        """Close the window: nobody reads any more."""
        if not self._hung_up:
            self._hung_up = True
            os.close(self._ours)

    def read(self, seconds: float) -> bool:
        """Take what has been drawn, waiting so long for it; False if there was nothing."""
        if self._hung_up or not select.select([self._ours], [], [], max(0.0, seconds))[0]:
            return False
        try:
            found = os.read(self._ours, 1 << 16)
        except OSError:
            return False
        self.output += found
        return bool(found)

    def text(self, since: int = 0) -> str:
        """What has been drawn since so many bytes, without the sequences that place and style it."""
        return _SEQUENCES.sub(b"", self.output[since:]).decode(errors="replace")

    def wait_for(self, text: str, since: int = 0, patience_s: float = PATIENCE_S) -> float:
        """Read until a text has been drawn; how long it took in seconds."""
        began = time.monotonic()
        while text not in self.text(since):
            left = began + patience_s - time.monotonic()
            ended = self.process.poll() is not None
            if left <= 0 or (not self.read(min(left, 0.2)) and ended):
                raise AssertionError(f"no `{text}` {'before its end' if ended else 'in time'}: {self.text(since)!r}")
        return time.monotonic() - began

    def until_end(self, patience_s: float = PATIENCE_S) -> tuple[int, float]:
        """Read until the program has ended: its exit code, and how long it took in seconds."""
        began = time.monotonic()
        while self.process.poll() is None:
            if time.monotonic() - began > patience_s:
                raise AssertionError(f"still running after {patience_s} s")
            self.read(0.01)
        took = time.monotonic() - began
        while self.read(0.05):
            pass
        return self.process.returncode, took

    def is_given_back(self) -> bool:
        """Whether the terminal is as it was: normal screen, cursor shown, lines edited and echoed."""
        entered, left = self.output.rfind(ENTER_SCREEN), self.output.rfind(LEAVE_SCREEN)
        return left > entered and self.output.rfind(SHOW_CURSOR) > left and self._modes() == self.before[:4]

    def _modes(self) -> list[Any]:
        return termios.tcgetattr(self._theirs)[:4]


HAS_TMUX = shutil.which("tmux") is not None


class Tmux:
    """A program in a tmux session, for its screen as people see it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def _tmux(self, *arguments: str) -> str:
        run = subprocess.run(
            ["tmux", "-L", self._name, *arguments], capture_output=True, text=True, check=True, timeout=PATIENCE_S
        )
        return run.stdout

    def send(self, *keys: str) -> None:
        """Press keys, by tmux's names for them."""
        self._tmux("send-keys", "-t", "main", *keys)

    def screen(self) -> str:
        """The screen as plain text."""
        return self._tmux("capture-pane", "-t", "main", "-p")

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self._tmux("resize-window", "-t", "main", "-x", str(columns), "-y", str(rows))

    def wait_for(self, text: str, patience_s: float = PATIENCE_S) -> str:
        """The screen once a text is on it."""
        ends = time.monotonic() + patience_s
        while text not in (screen := self.screen()):
            if time.monotonic() > ends:
                raise AssertionError(f"no `{text}` within {patience_s} s on:\n{screen}")
            time.sleep(0.05)
        return screen


@contextlib.contextmanager
def in_tmux(argv: Sequence[str], size: tuple[int, int] = (80, 24), env: Environment | None = None) -> Iterator[Tmux]:
    """A program in a tmux server of its own, which ends with it."""
    name = f"apftop-test-{uuid.uuid4().hex[:8]}"
    columns, rows = map(str, size)
    wanted = dict(environment() if env is None else env)
    start = ["tmux", "-L", name, "-f", os.devnull, "new-session", "-d", "-s", "main", "-x", columns, "-y", rows]
    subprocess.run([*start, *argv], check=True, env=wanted | {"TERM": "screen-256color"}, timeout=PATIENCE_S)
    try:
        yield Tmux(name)
    finally:
        subprocess.run(["tmux", "-L", name, "kill-server"], check=False, timeout=PATIENCE_S)
