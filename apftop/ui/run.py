"""The screen from its first line to the exit code, with the terminal given back whatever happens."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from apftop.errors import one_line
from apftop.present import plain
from apftop.ui.source import OpenSource, Save
from apftop.ui.terminal import Terminal, refuse_without_terminal, signals_handled

SWITCH_S = 0.0005
"""Parsing in other threads holds the interpreter; the screen needs it soon for each step from a key to its paint."""


def run(
    open_source: OpenSource,
    *,
    of: str,
    save: Save,
    no_color: bool = False,
    mouse: bool = True,
    interval_s: float = 2.0,
    records_to: Callable[[], str] = str,
) -> int:
    """Show a source until its reader quits, and return the exit code.

    `of` names the source until a moment does; `records_to` says where it is recorded to, if it is. 0 after `q`, 130,
    143 or 129 after ctrl+c or a signal, 1 if the screen failed. Raises Trouble where there is no terminal, and what
    `open_source` raises. The source is started once the screen is there, and stopped without waiting for it.
    """
    refuse_without_terminal(os.environ)
    sys.setswitchinterval(SWITCH_S)
    _settle_colour(no_color)
    from apftop.ui.app import Apftop
    from apftop.ui.ending import FAILED

    terminal = Terminal()
    app = Apftop(open_source, of=of, save=save, interval_s=interval_s, ends=terminal, records_to=records_to)
    try:
        with signals_handled(app.leave_soon):
            app.run(mouse=mouse)
    finally:
        app.playback.stop()
        app.source.stop()
        terminal.left()
    code = FAILED if app.return_code is None else app.return_code
    if code == FAILED:
        why = "it ended by itself" if app.failure is None else f"{type(app.failure).__name__}: {app.failure}"
        todo = "run again with --debug FILE for a traceback"
        sys.stderr.write(f"apftop: the screen failed: {plain(one_line(why))}; {todo}\n")
    return code


def _settle_colour(no_color: bool) -> None:
    """NO_COLOR counts where it is not empty (no-color.org); Textual, which reads the environment, takes both."""
    if no_color:
        os.environ["NO_COLOR"] = "1"
    elif not os.environ.get("NO_COLOR"):
        os.environ.pop("NO_COLOR", None)
