"""How the screen ends: at the reader's wish, at a signal, with its terminal, or by a fault."""

from __future__ import annotations

import asyncio
import logging
import traceback
from typing import Protocol

from rich.console import RenderableType
from textual.app import App

FAILED, HUNG_UP = 1, 129
_LOG = logging.getLogger("apftop")


class Ends(Protocol):
    """What the screen needs of the terminal besides drawing on it."""

    def gone(self) -> bool:
        """Whether nobody is there any more to read the screen."""

    def leaving(self, code: int) -> None:
        """The screen is about to end."""


class Ending(App[None], inherit_bindings=False):
    """An app that ends soon with an exit code, and never prints the values of its variables.

    Textual shows a traceback with all of them, secrets among them; here it goes to the log, without values.
    """

    def __init__(self, ends: Ends | None) -> None:
        super().__init__(ansi_color=True)
        self.failure: BaseException | None = None
        self._ends = ends
        self._running_in: asyncio.AbstractEventLoop | None = None

    def on_mount(self) -> None:
        self._running_in = asyncio.get_running_loop()
        self.set_interval(1.0, self._leave_with_terminal)

    def _leave_with_terminal(self) -> None:
        if self._is_alone():
            self.leave(HUNG_UP)

    def _is_alone(self) -> bool:
        return self._ends is not None and self._ends.gone()

    def leave(self, code: int) -> None:
        """End with an exit code, from the thread of the screen."""
        self._about_to_leave(code)
        self.exit(return_code=code)

    def leave_soon(self, code: int) -> None:
        """End with an exit code, from a signal handler."""
        self._about_to_leave(code)
        if self._running_in is None:
            raise SystemExit(code)
        self._running_in.call_soon_threadsafe(self.leave, code)

    def action_leave(self, code: int) -> None:
        self.leave(code)

    def _about_to_leave(self, code: int) -> None:
        if self._ends is not None:
            self._ends.leaving(code)

    def _handle_exception(self, error: Exception) -> None:
        self.failure = self.failure or error
        _LOG.debug("%s", "".join(traceback.format_exception(error)))
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        self.panic()

    def panic(self, *renderables: RenderableType) -> None:
        """End by a fault, or because reading from a terminal that is gone has failed; nothing is printed."""
        self._return_code = HUNG_UP if self._is_alone() else FAILED
        self._about_to_leave(self._return_code)
        self._close_messages_no_wait()
