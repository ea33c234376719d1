"""`apftop top` and `apftop demo`: the screen on a cluster, and on a simulated one."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from apftop.access import Overrides
from apftop.cli_options import access_overrides
from apftop.cluster import Reach, from_server, reach
from apftop.collect.writer import write_bundle
from apftop.output import said_if_slow, write
from apftop.records.asking import Demand
from apftop.replaying import Replaying
from apftop.report.looking import LOADING
from apftop.tape.reading import open_tape
from apftop.tape.times import time_on
from apftop.ui.run import run
from apftop.ui.terminal import refuse_without_terminal
from apftop.watching import Watching


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
    running = start_demo(options["scenario"])
    try:
        if options["serve"]:
            return _serve(running.urls)
        ways = tuple(from_server(url, Overrides()) for url in running.urls)
        return _screen(Reach(ways, discover=False, source=f"demo, scenario {options['scenario']}"), options)
    finally:
        running.stop()


def replay(path: Path, options: Mapping[str, Any]) -> int:
    """Show a tape until its reader quits."""
    refuse_without_terminal(os.environ)
    tape = open_tape(path)
    at = None if options["at"] is None else time_on(options["at"], tape.span)
    opened = partial(Replaying, tape, at=at, speed=options["speed"], request_timeout_s=options["request_timeout"])
    return run(
        lambda on_moment: opened(on_moment=on_moment),
        of=f"replay of {path.name}",
        save=partial(write_bundle, source=f"replay of {tape.about.source}"),
        no_color=options["no_color"],
        mouse=not options["no_mouse"],
    )


def _screen(at: Reach, options: Mapping[str, Any], request_timeout_s: float | None = None) -> int:
    """The screen on these servers."""
    opened = partial(
        Watching,
        at.ways,
        discover=at.discover,
        source=at.source,
        request_timeout_s=request_timeout_s,
        demand=Demand(options["interval"]),
    )
    return run(
        lambda on_moment: opened(on_moment=on_moment),
        of=at.source,
        save=partial(write_bundle, source=at.source),
        no_color=options["no_color"],
        mouse=not options["no_mouse"],
        interval_s=options["interval"],
    )


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
