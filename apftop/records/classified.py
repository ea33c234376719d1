"""A request in question, and what a server makes of it: schema, level, flow, hand, seats, and why no other schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from apftop.apf.attributes import Attributes
from apftop.apf.classify import Outcome
from apftop.apf.matching import Miss


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. `query` is the query string; `notes` say what was taken for granted, a line each."""

    name: str
    request: Attributes
    query: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tried:
    """One schema in the order in which it is tried, and what became of it.

    `rule` is the first rule that matches, from 0, also of a schema that is not asked any more; None where none does.
    `misses` are then what fails in the rules; `why` says all of it in words, a line each.
    """

    schema: str
    level: str
    precedence: int
    outcome: Outcome
    rule: int | None = None
    misses: tuple[Miss, ...] = ()
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expected:
    """What came of the schema that a request was thought to get.

    `outcome` is that of the schema, `absent` where there is none, and `unseen` where flow control does not see the
    request. `why` says it in a line, and then what fails, a line each; `near` are names of schemas much like an absent
    one.
    """

    schema: str
    met: bool
    outcome: Literal["matched", "missed", "dangling", "after", "absent", "unseen"]
    why: tuple[str, ...]
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Classified:
    """Where a request goes by the model.

    `seen` is False where flow control never sees the request, for the reason in `unseen`. `distinguished_by` is what
    tells the flows of its schema apart, and `distinguisher` what that is of the request, also where the level has no
    flows; servers then leave it empty (1.26 to 1.37). `hash` and `hand` are of its flow, None and empty where the level
    tells no flows apart, which has `queues`. Where names are pseudonyms, `hash` is None, and `hand` too unless it was
    kept. `seats` are the fewest and the most that it can take, `seats_why` what
    decides.
    `limit_s` is how long it may wait, None where it never waits; `limit_why` says by what. `tried` ends with the match,
    and goes on to the expected schema where that one comes after it.
    """

    asked: Asked
    seen: bool
    unseen: str = ""
    schema: str = ""
    level: str = ""
    distinguished_by: Literal["ByUser", "ByNamespace"] | None = None
    distinguisher: str = ""
    hash: int | None = None
    hand: tuple[int, ...] | None = ()
    queues: int = 0
    seats: tuple[int, int] = (1, 1)
    seats_why: str = ""
    limit_s: float | None = None
    limit_why: str = ""
    tried: tuple[Tried, ...] = ()
    expected: Expected | None = None
