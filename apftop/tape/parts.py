"""The files of one tape: the newest has its name, older parts have that and the time at which they began."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

SUFFIX = ".apftape"
"""How the names of tapes end, as far as this program gives them."""

_STAMP = "%Y%m%dT%H%M%S.%fZ"
_STAMPED = re.compile(r"\.([0-9]{8}T[0-9]{6}\.[0-9]{6}Z)")


def older_parts(path: Path) -> list[Path]:
    """The older files of a tape, oldest first. Raises OSError where its folder cannot be read."""
    return sorted(one for one in path.parent.iterdir() if _stamp(one.name, path.name) is not None and one.is_file())


def parts_of(path: Path) -> list[Path]:
    """The files of a tape, oldest first, and its own if there is no other. Raises OSError as `older_parts`."""
    older = older_parts(path)
    return older if older and not path.exists() else [*older, path]


def part_name(path: Path, began: float, older: list[Path]) -> Path:
    """The name of a full part that began then (Unix seconds): it sorts behind older ones, however clocks went."""
    moment = datetime.fromtimestamp(began, UTC)
    last = _stamp(older[-1].name, path.name) if older else None
    if last is not None:
        moment = max(moment, last + timedelta(microseconds=1))
    return path.with_name(f"{path.name}.{moment:{_STAMP}}")


def _stamp(name: str, of: str) -> datetime | None:
    found = _STAMPED.fullmatch(name, len(of)) if name.startswith(of) else None
    try:
        return None if found is None else datetime.strptime(found[1], _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
