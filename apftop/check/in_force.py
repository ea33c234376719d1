"""Since when a server surely goes by the object of a level that is known."""

from __future__ import annotations

from datetime import UTC, datetime

from apftop.apf.objects import PriorityLevelConfiguration
from apftop.check.window import LevelWindow
from apftop.rules import rules


def in_force_s(window: LevelWindow) -> float | None:
    """From when on (Unix seconds of the server's clock) the level goes by its object as last read.

    Some time after the object was last written, and where that is not known, from the first dump of the window on, if
    it was there by then and did not change. None where that is not so, or there is no such dump.
    """
    if window.config is None or not window.same_config:
        return None
    written = written_s(window.config)
    return window.first.dump_s if written is None else written + rules().check.objects.settled_s


def written_s(config: PriorityLevelConfiguration) -> float | None:
    """When an object was last written (Unix seconds, by the clock of the server that did so), its status left out."""
    texts = [one.time for one in config.meta.managers if one.subresource != "status"]
    times = [time for text in (*texts, config.meta.creation) if (time := unix_s(text)) is not None]
    return max(times, default=None)


def unix_s(text: str) -> float | None:
    """Unix seconds of a time as objects have it; None for anything else."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
