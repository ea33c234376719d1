"""`apftop record`: servers watched without a screen, onto a tape, until it is ended."""

from __future__ import annotations

import contextlib
import queue
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apftop.cli_options import access_overrides
from apftop.cluster import reach
from apftop.errors import UNREAD
from apftop.output import complain, said_if_slow, write
from apftop.present import plain, size, span
from apftop.recording import Recording
from apftop.records.asking import Demand
from apftop.records.moment import Moment
from apftop.report.looking import LOADING
from apftop.tape.file import Bounds, TapeFile, check_tape
from apftop.tape.parts import parts_of
from apftop.watching import Watching

MOMENT_EVERY_S = 5.0
"""Nobody looks at the moments: they are what marks and the time line come from."""

FINISH_S = 5.0
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def record(path: Path, options: Mapping[str, Any]) -> int:
    """Record until a signal, or for `--duration`; 3 where no server answered or the tape could not be written on.

    Being told to end is how a recorder ends: the exit code is 0 then.
    """
    check_tape(path)
    with said_if_slow(LOADING):
        at = reach(options["servers"], options["kubeconfig"], options["context"], access_overrides(options))
    # A SimpleQueue may be put to in a signal handler, whatever was interrupted; the lock of an Event may be held.
    ended: queue.SimpleQueue[str] = queue.SimpleQueue()
    for one in ENDS:
        # What was ignored before, as by nohup, is so still.
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, lambda *_: ended.put("told to"))

    def seen(moment: Moment) -> None:
        if watching.recording.failure:
            ended.put("failed")

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
    with contextlib.suppress(queue.Empty):
        ended.get(timeout=options["duration"])
    watching.stop()
    watching.finish(FINISH_S)
    return _told(path, time.monotonic() - began, watching.recording)


def _told(path: Path, seconds: float, recording: Recording) -> int:
    """What is on the tape."""
    failure = recording.failure
    if not recording.ended:
        failure = "the disk is too slow: the end of the tape was not written"
    if failure:
        complain([failure])
    if not recording.answered:
        complain(["nothing was learnt, for no server gave an answer; see `apftop doctor`"])
        return UNREAD
    try:
        there = size(sum(part.stat().st_size for part in parts_of(path.resolve())))
    except OSError:
        there = "it is not there any more"
    servers = "1 server" if len(recording.answered) == 1 else f"{len(recording.answered)} servers"
    write(f"recorded {span(seconds)} of {servers} to {plain(str(path))} ({there})")
    write(f"Next: apftop replay {plain(str(path))}")
    return UNREAD if failure else 0
