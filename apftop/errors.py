"""The one kind of failure that a person is told about: what failed, where, and what to do."""

from __future__ import annotations

import os

USAGE = 2
"""The exit code when what was asked makes no sense."""

UNREAD = 3
"""The exit code when something could not be reached or read."""


class Trouble(Exception):
    """Something that a person can act on.

    Its text is one line, `what: where; todo`; parts that are empty are left out. `code` is the exit code of a command
    that it ends.
    """

    code = UNREAD

    def __init__(self, what: str, where: str = "", todo: str = "") -> None:
        self.what, self.where, self.todo = one_line(what), one_line(where), one_line(todo)
        super().__init__(self.what, self.where, self.todo)

    def __str__(self) -> str:
        failed = ": ".join(filter(None, (self.what, self.where)))
        return "; ".join(filter(None, (failed, self.todo)))


class Misuse(Trouble):
    """Words of the command line that nothing can be done with."""

    code = USAGE


def one_line(text: str, limit: int = 400) -> str:
    """Text of any origin as one line of at most `limit` printable characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."


def reason(exc: OSError) -> str:
    """What the operating system or OpenSSL says, in a few words."""
    words = getattr(exc, "reason", None) or (os.strerror(exc.errno) if exc.errno else type(exc).__name__)
    return str(words).lower().replace("_", " ")
