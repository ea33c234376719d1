"""Child processes that are ended by their id and do not outlive the test run, and ports that stay theirs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

LOG_TAIL_LINES = 30
TERM_SECONDS = 8.0
KILL_SECONDS = 5.0


class Port:
    """A free loopback port, kept by a bound socket that never listens: the server shares it with SO_REUSEPORT.

    Without it another process could take the port while its server is down.
    """

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number: int = self._socket.getsockname()[1]

    def release(self) -> None:
        """Gives the port up."""
        self._socket.close()


class Process:
    """One server process, which can be started again after it has ended."""

    def __init__(
        self, name: str, command: Sequence[str], log_file: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.log_file = log_file
        self._command = list(command)
        self._environment = {**os.environ, **(environment or {})}
        self._child: subprocess.Popen[bytes] | None = None
        self._asked = False

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._child.pid if self._child is not None and self._child.poll() is None else None

    def start(self) -> None:
        """Starts it; its output is appended to the log file."""
        if self.pid is not None:
            raise RuntimeError(f"{self.name} runs already")
        with self.log_file.open("ab") as log:
            # Our servers exit when this pipe closes, whatever the way this process ends.
            self._child = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )
        self._asked = False

    def ask_to_end(self) -> None:
        """Sends SIGTERM, once: at a second one a kube-apiserver drops the requests that it is draining."""
        if self.pid is not None and self._child is not None and not self._asked:
            self._child.send_signal(signal.SIGTERM)
            self._asked = True

    def end(self, grace: float = TERM_SECONDS) -> None:
        """SIGTERM, a wait of `grace` seconds, then SIGKILL."""
        if self._child is None:
            return
        self.ask_to_end()
        try:
            self._child.wait(grace)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait(KILL_SECONDS)
        if self._child.stdin is not None:
            self._child.stdin.close()
        self._child = None

    def log_tail(self, lines: int = LOG_TAIL_LINES) -> str:
        """The end of its log."""
        if not self.log_file.is_file():
            return ""
        return "\n".join(self.log_file.read_text(errors="replace").splitlines()[-lines:])
