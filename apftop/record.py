"""`apftop record`: servers watched without a screen, onto a tape, until it is ended."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apftop.cli_options import access_overrides
from apftop.cluster import reach
from apftop.errors import UNREAD
from apftop.output import complain, said_if_slow, write
from apftop.present import plain, size, span
from apftop.records.asking import Demand
from apftop.records.moment import Moment
from apftop.report.looking import LOADING
from apftop.tape.file import Bounds, TapeFile, check_tape, parts_of
from apftop.watching import Watching

MOMENT_EVERY_S = 5.0
"""Nobody looks at the moments: they are what marks and the time line come from."""

FINISH_S = 5.0


def record(path: Path, options: Mapping[str, Any]) -> int:
    """Record until a signal, or for `--duration`; 3 where no server answered or the tape could not be written on.

    Being told to end is how a recorder ends: the exit code is 0 then.
    """
    check_tape(path)
    with said_if_slow(LOADING):
        at = reach(options["servers"], options["kubeconfig"], options["context"], access_overrides(options))
    ended = threading.Event()
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, lambda *_: ended.set())
    latest: list[Moment] = []

    def seen(moment: Moment) -> None:
        if not latest:
            latest.append(moment)
        latest[0] = moment
        if watching.recording.failure:
            ended.set()

    watching = Watching(
        at.ways,
        discover=at.discover,
        source=at.source,
        request_timeout_s=options["request_timeout"],
        on_moment=seen,
        demand=Demand(options["interval"]),
        sink=TapeFile(path, Bounds(options["max_size"], options["max_age"])),
        moment_every_s=MOMENT_EVERY_S,
    )
    began = time.monotonic()
    watching.start()
    complain([f"recording {at.source} to {path}; ctrl+c ends it"])
    ended.wait(options["duration"])
    watching.stop()
    watching.finish(FINISH_S)
    return _told(path, time.monotonic() - began, latest[0] if latest else None, watching.recording.failure)


def _told(path: Path, seconds: float, last: Moment | None, failure: str) -> int:
    """What is on the tape."""
    if failure:
        complain([failure])
    answered = [] if last is None else [one for one in last.frame.replicas.values() if one.samples]
    if not answered:
        complain(["nothing was recorded, for no server answered; see `apftop doctor`"])
        return UNREAD
    there = sum(part.stat().st_size for part in parts_of(path) if part.exists())
    write(f"recorded {span(seconds)} of {len(answered)} servers to {plain(str(path))} ({size(there)})")
    write(f"Next: apftop replay {plain(str(path))}")
    return UNREAD if failure else 0
