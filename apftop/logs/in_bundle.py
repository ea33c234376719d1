"""The log files of a bundle: beside its other files, or in the folder of one server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Literal

from apftop.bundle_files import Opened, entries

Kind = Literal["client", "audit", "server"]

KINDS: dict[str, Kind] = {"client.log": "client", "audit.log": "audit", "log.txt": "server"}
SERVERS = ("replicas", "targets")


def kind_of(name: PurePosixPath) -> Kind | None:
    """What a path within a bundle (without `.gz`) is a log of, None if it is none."""
    inner = name.parts[2:] if name.parts[0] in SERVERS else name.parts
    return KINDS.get(inner[0]) if len(inner) == 1 else None


def log_files(path: Path) -> Iterator[tuple[str, Kind, str, Opened]]:
    """Name, kind, server (if it lies in the folder of one), and how to open it. Raises Trouble for no bundle."""
    for found, opened in entries(path, lambda name: kind_of(name) is not None):
        kind = kind_of(found.with_suffix("") if found.suffix == ".gz" else found)
        if kind is not None:
            yield str(found), kind, found.parts[1] if len(found.parts) > 1 else "", opened
