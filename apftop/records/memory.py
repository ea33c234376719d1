"""What earlier looks have left for later ones, as it is kept on a tape: so that a replay can begin anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from apftop.records.load import Load
from apftop.records.measures import Window


@dataclass(frozen=True, slots=True)
class Drawn:
    """The trend of one level on one replica."""

    replica: str
    level: str
    waiting: tuple[float | None, ...]
    seats: tuple[float | None, ...]
    at: float | None


@dataclass(frozen=True, slots=True)
class Lasted:
    """Since when a finding has been there, and when it was there last (Unix seconds)."""

    code: str
    subject: str
    since: float
    last: float


@dataclass(frozen=True, slots=True)
class Tracked:
    """What is remembered of a server's process beside its latest answers.

    `first` is when the oldest answer of metrics came that its checks need (Unix seconds), None without any. The rest is
    as in `check.point.Track`.
    """

    replica: str
    first: float | None
    born: Mapping[str, float] = field(default_factory=dict)
    broken: str = ""
    set_at: float | None = None


@dataclass(frozen=True, slots=True)
class Calm:
    """A level in a window gone by, which ended at `t1` (Unix seconds): its load where it was calm, else None."""

    level: str
    load: Load | None
    t1: float | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """A window of a replica's metrics that is gone by, and the levels in it."""

    replica: str
    window: Window | None
    levels: tuple[Calm, ...]


@dataclass(frozen=True, slots=True)
class PastFrame:
    """A frame gone by: its replicas, and of them what has changed since the frame before it in the same memory."""

    replicas: tuple[str, ...]
    changed: tuple[Past, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """All that the moments after it need of the looks before it, but for the samples of the latest window.

    `counted` are the answers, by replica and endpoint, that the present look has so far. `past` has the frames that
    have come since the memory before it, oldest first, of the `kept` latest ones that are looked at.
    """

    trends: tuple[Drawn, ...] = ()
    lasting: tuple[Lasted, ...] = ()
    tracked: tuple[Tracked, ...] = ()
    counted: tuple[tuple[str, str], ...] = ()
    past: tuple[PastFrame, ...] = ()
    kept: int = 0
