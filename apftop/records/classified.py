"""A request in question, and what a server makes of it: schema, level, flow, hand, seats, and why no other schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from apftop.apf.attributes import Attributes


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. `query` is the query string; `notes` say what was taken for granted, a line each."""

    name: str
    request: Attributes
    query: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tried:
    """One schema in the order in which it is tried, and what became of it; `why` has a line for each rule."""

    schema: str
    level: str
    precedence: int
    outcome: Literal["matched", "missed", "dangling", "after"]
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Classified:
    """Where a request goes by the model.

    `seen` is False where flow control lets it pass unseen. `hash` and `hand` are of its flow, None and empty where the
    level tells no flows apart. `seats` are the fewest and the most that it can take, `seats_why` what decides.
    `limit_s` is how long it may wait, None where it never waits; `limit_why` says by what. `tried` ends with the match,
    and goes on to the expected schema where that one comes after it.
    """

    asked: Asked
    seen: bool
    schema: str = ""
    level: str = ""
    distinguisher: str = ""
    hash: int | None = None
    hand: tuple[int, ...] = ()
    seats: tuple[int, int] = (1, 1)
    seats_why: str = ""
    limit_s: float | None = None
    limit_why: str = ""
    tried: tuple[Tried, ...] = ()
