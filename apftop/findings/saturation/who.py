"""Who is in a level: clients and kinds of request, by their shares of its seats and of its queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from apftop.findings.scene import Place, Scene, rows
from apftop.findings.words.callers import behind
from apftop.present import percent, plain
from apftop.records.frame import Request
from apftop.rules import rules

NAMED = 3
"""So many of each are named."""


@dataclass(frozen=True, slots=True)
class Part:
    """What belongs to one client or kind: waiting requests, and seats of executing ones, with their shares of all.

    `seats` is None where the dump has waiting requests only (up to 1.27), a share None where there is nothing to share.
    """

    name: str
    waiting: int
    seats: int | None
    of_waiting: float | None
    of_seats: float | None

    @property
    def dominates(self) -> bool:
        """Whether it makes the level full by itself: most of the queue and of the seats, as far as is known.

        A client that has nearly all of the queue need have few of the seats, since queues take fair turns.
        """
        limits = rules().findings.load
        known = [share for share in (self.of_waiting, self.of_seats) if share is not None]
        if known and all(share >= limits.dominant_share for share in known):
            return True
        queues = self.of_waiting is not None and self.of_waiting >= limits.held_share
        return queues and (self.of_seats is None or self.of_seats >= limits.turn_share)

    @property
    def holds(self) -> bool:
        """Whether it holds nearly all of the seats that others wait for."""
        return self.of_seats is not None and self.of_seats >= rules().findings.load.held_share


@dataclass(frozen=True, slots=True)
class Who:
    """A level on one server by its dump of requests, this tool's own left out.

    `clients` are users, or distinguishers where a dump has no users; most waiting and executing first, as `kinds`.
    `schema` is the one that most of the first client's requests matched. `users` says whether the names are users.
    """

    clients: tuple[Part, ...]
    kinds: tuple[Part, ...]
    schema: str
    users: bool

    @property
    def client(self) -> Part | None:
        """The one client that fills the level, if there is one: by all it has, or by the seats that others wait for."""
        return next((one for one in self.clients if one.dominates), None) or next(
            (one for one in self.clients if one.holds), None
        )

    @property
    def kind(self) -> Part | None:
        """The one kind of request that fills the level from many clients, if there is one."""
        many = len(self.clients) >= rules().findings.load.many_clients
        return next((one for one in self.kinds if one.dominates), None) if many else None


def who(place: Place) -> Who | None:
    """Who is in a level; None without a dump, or where nobody is in it."""
    inside = rows(place)
    if not inside:
        return None
    executing = place.replica.lists_executing
    clients = _parts(inside, client_of, executing)
    schemas = Counter(row.schema for row in inside if client_of(row) == clients[0].name)
    kinds = _parts(inside, lambda row: row.kind, executing)
    return Who(clients, kinds, schemas.most_common(1)[0][0], all(row.user is not None for row in inside))


def crowd(place: Place) -> Who | None:
    """Who fills a level, by a dump that shows it filled by several requests; None where it does not.

    A level that is full for half of the time is nearly empty in many a dump: who is in it then has not filled it.
    """
    inside, limits = rows(place), rules().findings.load
    waiting = sum(not row.executing for row in inside)
    seats = sum(row.width for row in inside if row.executing)
    taken = waiting > limits.queue or seats >= limits.crowded_share * (place.level.current or 0.0)
    if len(inside) < limits.crowded_least or not taken:
        return None
    return who(place)


def client_of(row: Request) -> str:
    """Who sent a request, as far as the dump tells."""
    return row.distinguisher if row.user is None else row.user


def lines(scene: Scene, found: Who) -> tuple[str, ...]:
    """Evidence: the first clients and kinds with their shares, and the process behind the first client."""
    told = [f"client {_named(part)}: {share(part)}" for part in found.clients[:NAMED]]
    told[0] += f"; schema {plain(found.schema)}"
    if len(found.clients) > NAMED:
        told.append(f"{len(found.clients) - NAMED} more clients")
    told += [f"kind {_named(part)}: {share(part)}" for part in found.kinds[:NAMED] if part.name]
    first = found.clients[0].name
    return (*told, *(f"behind {plain(first)}: {line}" for line in behind(scene, first)))


def share(part: Part) -> str:
    """What part of a level it has: of its queue, and of its seats."""
    told = []
    if part.of_waiting is not None:
        told.append(f"{part.waiting} of those waiting ({percent(part.of_waiting)})")
    if part.of_seats is not None:
        told.append(f"{part.seats} of the seats ({percent(part.of_seats)})")
    return ", ".join(told) or "not known"


def _named(part: Part) -> str:
    return plain(part.name) or "(no name)"


def _parts(inside: Iterable[Request], name: Callable[[Request], str], executing: bool) -> tuple[Part, ...]:
    waiting: Counter[str] = Counter()
    seats: Counter[str] = Counter()
    for row in inside:
        (seats if row.executing else waiting)[name(row)] += row.width if row.executing else 1
    wait_sum, seat_sum = waiting.total(), seats.total()
    found = [
        Part(
            one,
            waiting[one],
            seats[one] if executing else None,
            waiting[one] / wait_sum if wait_sum else None,
            seats[one] / seat_sum if executing and seat_sum else None,
        )
        for one in {**waiting, **seats}
    ]
    return tuple(sorted(found, key=lambda part: (-(part.waiting + (part.seats or 0)), part.name)))
