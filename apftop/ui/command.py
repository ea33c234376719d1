"""`apftop top` and `apftop demo`: the screen on a cluster, and on a simulated one."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from apftop.access import Overrides
from apftop.cli_options import access_overrides, prometheus_store
from apftop.cluster import Reach, from_server, reach
from apftop.collect.layout import About
from apftop.collect.writer import write_bundle
from apftop.history.opened import Opened
from apftop.history.player import History
from apftop.output import complain, said_if_slow, write
from apftop.records.asking import Demand
from apftop.records.moment import Moment
from apftop.replaying import Replaying
from apftop.report.looking import LOADING
from apftop.report.taped import times_of
from apftop.tape.file import Bounds, TapeFile, check_tape
from apftop.tape.reading import open_tape
from apftop.tape.times import time_on
from apftop.ui.run import run
from apftop.ui.source import OpenSource
from apftop.ui.terminal import refuse_without_terminal
from apftop.watching import Watching

FINISH_S = 5.0
"""So long a tape may take to be written to its end when the screen is left (seconds)."""

DAY_S = 86400.0
"""So much of what a store has kept can be gone through, up to now, where no other time is named (seconds)."""


def top(options: Mapping[str, Any]) -> int:
    """Show a cluster until its reader quits. Credentials are loaded before: a plugin may talk with the person."""
    refuse_without_terminal(os.environ)
    with said_if_slow(LOADING):
        at = reach(options["servers"], options["kubeconfig"], options["context"], access_overrides(options))
    return _screen(at, options, options["request_timeout"])


def demo(options: Mapping[str, Any]) -> int:
    """Show a simulated control plane, or only serve it, until stopped."""
    from apftop.demo.running import start_demo

    if not options["serve"]:
        refuse_without_terminal(os.environ)
    if options["serve"] and options["record"] is not None:
        raise click.UsageError("--serve only serves: record it by `apftop record FILE --server URL`")
    running = start_demo(options["scenario"])
    try:
        if options["serve"]:
            return _serve(running.urls)
        ways = tuple(from_server(url, Overrides()) for url in running.urls)
        return _screen(Reach(ways, discover=False, source=f"demo, scenario {options['scenario']}"), options)
    finally:
        running.stop()


def replay(path: Path | None, options: Mapping[str, Any]) -> int:
    """Show a tape, or what a store has kept, until its reader quits. Raises Trouble for a time that is not on it."""
    kept = _history(options, options["request_timeout"])
    if path is None and kept is not None:
        source = f"history of Prometheus at {options['prometheus']}"
        return _played(kept, source, f"history of {options['prometheus']}", options)
    if path is None or kept is not None:
        raise click.UsageError("name a tape, or a store with --prometheus")
    if options["between"] is not None:
        raise click.UsageError("--between goes with --prometheus: a tape is gone through from its beginning")
    tape = open_tape(path)
    at = None if options["at"] is None else times_of(tape, options)[0]
    opened = partial(Replaying, tape, at=at, speed=options["speed"], request_timeout_s=options["request_timeout"])
    return _played(
        lambda on_moment: opened(on_moment=on_moment),
        f"replay of {tape.about.source}",
        f"replay of {path.name}",
        options,
    )


def _played(opens: OpenSource, source: str, of: str, options: Mapping[str, Any]) -> int:
    return run(
        opens,
        of=of,
        save=partial(write_bundle, about=About(source)),
        no_color=options["no_color"],
        mouse=not options["no_mouse"],
    )


def _history(
    options: Mapping[str, Any], request_timeout_s: float | None
) -> Callable[[Callable[[Moment], None]], History] | None:
    """What opens what a store has kept; None where no store is named. Raises Unreachable, Trouble, UsageError."""
    store = prometheus_store(options)
    if store is None:
        return None
    now = time.time()
    day = now - DAY_S, now
    between, at = options.get("between"), options.get("at")
    first, last = (time_on(text, day) for text in between) if between else day
    if first >= last:
        raise click.UsageError("--between has its earlier time first")
    begin = last if at is None else time_on(at, (first, last))

    def opens(on_moment: Callable[[Moment], None]) -> History:
        # A screen may be open for long before it is asked for.
        ends = last if between else time.time()
        return History(
            Opened(store, options["selector"]),
            on_moment=on_moment,
            span=(first, max(ends, last)),
            at=begin if at is not None or between else ends,
            speed=options.get("speed", 0.0) if at is not None or between else 0.0,
            request_timeout_s=request_timeout_s,
        )

    return opens


def _screen(at: Reach, options: Mapping[str, Any], request_timeout_s: float | None = None) -> int:
    """The screen on these servers, which are recorded meanwhile if that is wanted."""
    path: Path | None = options["record"]
    bounds = Bounds(options["max_size"], options["max_age"])
    if path is None and bounds != Bounds():
        raise click.UsageError("--max-size and --max-age are of a tape: name one with --record")
    watched: list[Watching] = []

    def opens(on_moment: Callable[[Moment], None]) -> Watching:
        watching = Watching(
            at.ways,
            discover=at.discover,
            source=at.source,
            request_timeout_s=request_timeout_s,
            on_moment=on_moment,
            history=_history(options, request_timeout_s),
            demand=Demand(options["interval"]),
            sink=None if path is None else TapeFile(path, bounds),
        )
        watched.append(watching)
        return watching

    def records_to() -> str:
        recording = bool(watched) and path is not None and not watched[0].recording.failure
        return path.name if recording and path is not None else ""

    if path is not None:
        check_tape(path)
    code = run(
        opens,
        of=at.source,
        save=partial(write_bundle, about=About(at.source)),
        no_color=options["no_color"],
        mouse=not options["no_mouse"],
        interval_s=options["interval"],
        records_to=records_to,
    )
    if path is not None:
        _recorded(path, watched[0])
    return code


def _recorded(path: Path, watching: Watching) -> None:
    """Have all of it written, and say what became of the tape."""
    watching.finish(FINISH_S)
    if failure := watching.recording.failure:
        complain([failure])
    elif not watching.recording.ended:
        complain([f"{path}: the disk is too slow: the end of the tape was not written"])
    else:
        complain([f"recorded to {path}; next: apftop replay {path}"])


def _serve(urls: tuple[str, ...]) -> int:
    """Say where the servers are, and leave them running until a signal."""
    write("\n".join(urls))
    ended = threading.Event()
    codes: list[int] = []

    def end(number: int, _: object) -> None:
        codes.append(128 + number)
        ended.set()

    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, end)
    ended.wait()
    return codes[0]
