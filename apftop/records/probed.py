"""What a server said of a request that was sent to it as a probe, or why none was sent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Said:
    """Which server said it, the HTTP status of its answer, and schema and level by name, as its headers tell."""

    server: str
    status: int
    schema: str
    level: str


@dataclass(frozen=True, slots=True)
class Unasked:
    """Why no server was asked."""

    why: str


Heard = Said | Unasked
