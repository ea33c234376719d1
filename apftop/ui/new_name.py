"""Where keys that write put it."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path

from apftop.errors import Trouble


def new_name(now: float, suffix: str = "") -> Path:
    """A name with the time (Unix seconds) in the current folder, which nothing has yet. Raises Trouble without one."""
    try:
        folder = Path.cwd()
    except FileNotFoundError as error:
        raise Trouble("the folder that apftop was started in is gone", todo="start it in another one") from error
    name = f"apftop-{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}"
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(path for one in names if not (path := folder / f"{one}{suffix}").exists())
