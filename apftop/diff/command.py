"""`apftop diff A B`: what the two sides are, and what is printed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from apftop.cli_options import asks_servers
from apftop.diff.compared import Diff, compared
from apftop.diff.document import document
from apftop.diff.text import markdown, text
from apftop.errors import UNREAD, Trouble
from apftop.output import complain, write
from apftop.present import json_text
from apftop.report.look import Look
from apftop.report.looks import looks
from apftop.tape.reading import is_tape

LIVE = "live"
CHANGED = 1
"""The exit code with `--exit-code` when something changed by more than noise."""


def diff(a: str, b: str | None, options: Mapping[str, Any]) -> int:
    """Print what changed from A to B. Raises UsageError for sides that make no sense, and Trouble for unreadable ones.

    The exit code is 3 when something that was there could not be read, else 1 with `--exit-code` for any change.
    """
    sides = sides_of(a, b, options["at"])
    if asks_servers(options) and not any(path is None for path, _ in sides):
        raise click.UsageError("options that say which server to ask are for a side that is `live`")
    old, new = (_look(path, at, options) for path, at in sides)
    found = compared(old, new)
    _show(found, options["output"], every=options["every"])
    if _unread(old) or _unread(new):
        return UNREAD
    return CHANGED if options["exit_code"] and found.changed else 0


def sides_of(a: str, b: str | None, at: Sequence[str]) -> tuple[tuple[Path | None, str | None], ...]:
    """The two sides, as a path (None is live) and a time of a tape.

    `--at` goes to the tapes in their order. One tape alone with times is compared with itself: from the one time to the
    other, or to its end. Any other side alone is compared with what is live now.
    """
    if b is None:
        path = _path(a)
        if path is None:
            raise click.UsageError("one side is live: name a tape or a bundle to compare it with")
        if at and is_tape(path):
            if len(at) > 2:
                raise click.UsageError("--at goes with a side each: give it once or twice")
            return (path, at[0]), (path, at[1] if len(at) == 2 else None)
        b = LIVE
    paths = (_path(a), _path(b))
    if paths == (None, None):
        raise click.UsageError("both sides are live: name a tape or a bundle to compare with")
    tapes = [number for number, path in enumerate(paths) if path is not None and is_tape(path)]
    if len(at) > len(tapes) or (at and len(at) < len(tapes)):
        tapes_are = {0: "neither side is one", 1: "one side is one"}.get(len(tapes), "both sides are one")
        raise click.UsageError(f"--at is a time of a tape, and {tapes_are}: give it once for each tape, or not at all")
    times = dict(zip(tapes, at, strict=False))
    return tuple((path, times.get(number)) for number, path in enumerate(paths))


def _path(side: str) -> Path | None:
    if side == LIVE:
        return None
    path = Path(side)
    if not path.exists() and not is_tape(path):
        raise Trouble("there is no such tape or bundle", side, "write `live` for the servers of the current context")
    return path


def _look(path: Path | None, at: str | None, options: Mapping[str, Any]) -> Look:
    wanted = {**options, "at": at, "between": None, "count": 1, "client_logs": (), "audit_logs": ()}
    found = next(iter(looks(path, wanted)), None)
    if found is None:
        raise Trouble("nothing is on this tape", str(path))
    return found


def _show(found: Diff, output: str, *, every: bool) -> None:
    for side, look in (("A", found.old), ("B", found.new)):
        complain(f"{side}: {line}" for line in _problems(look))
    if output == "json":
        write(json_text(json.dumps(document(found, every=every), ensure_ascii=False, allow_nan=False, indent=2)))
    else:
        write((markdown if output == "md" else text)(found, every=every))


def _problems(look: Look) -> list[str]:
    told = [f"{name}: {line}" for name, one in look.frame.replicas.items() for line in one.problems]
    return [*look.problems, *look.notes, *told]


def _unread(look: Look) -> bool:
    """Whether an endpoint that was asked, or a file that is there, gave nothing."""
    return bool(look.problems) or any(replica.failed for replica in look.frame.replicas.values())
