"""View 5: who asks, over all replicas in scope."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from apftop.present import plain, whole
from apftop.records.frame import Replica, Request
from apftop.records.moment import Moment
from apftop.records.raw import Endpoint
from apftop.sheets import columns
from apftop.sheets.figures import BLANK, UNKNOWN, count, greatest, marked, seconds, words
from apftop.sheets.lacking import lacking
from apftop.sheets.look import SUM, Look, View
from apftop.sheets.scope import nobody, replicas_of, title, within
from apftop.sheets.sheet import Cell, Column, Row, RowKey
from apftop.sheets.table import Shown, Table, cells_of, columns_of

IN_DUMP = "dump_requests of the replicas in scope, without apftop's own questions"

Asked = tuple[Replica, Request]


@dataclass(frozen=True, slots=True)
class Client:
    """One user; None where the dump does not name users. What executes is None where a dump does not list it."""

    user: str | None
    waiting: int
    executing: int | None
    seats: int | None
    oldest_s: float | None
    levels: tuple[str, ...]
    kinds: tuple[tuple[str, int], ...]
    replicas: tuple[str, ...]
    flows: int

    @property
    def key(self) -> RowKey:
        return () if self.user is None else (self.user,)


def table(moment: Moment, look: Look) -> Table:
    """The clients in scope: most waiting requests first, then most seats."""
    found = sorted(_clients(moment, look), key=_rank)
    notes = lacking(moment, look, Endpoint.REQUESTS, lambda replica: replica.requests is not None)
    return Table(
        title=title(look, SUM),
        columns=columns_of(SHOWN, totals=False),
        rows=tuple(Row(one.key, cells_of(SHOWN, one), "", _about(one, look)) for one in found),
        idle=frozenset(),
        empty=nobody(moment, look) or (notes[0] if notes else "nobody's request waits or executes here"),
        notes=notes,
    )


def _clients(moment: Moment, look: Look) -> list[Client]:
    by_user: dict[str | None, list[Asked]] = defaultdict(list)
    for replica in replicas_of(moment, look):
        for one in replica.requests or ():
            if not one.own and within(look, level=one.level, schema=one.schema, client=one.user):
                by_user[one.user].append((replica, one))
    return [_client(user, asked) for user, asked in by_user.items()]


def _client(user: str | None, asked: list[Asked]) -> Client:
    waiting = [one for _, one in asked if not one.executing]
    executing = [one for _, one in asked if one.executing]
    listed = all(replica.lists_executing for replica, _ in asked)
    return Client(
        user=user,
        waiting=len(waiting),
        executing=len(executing) if listed else None,
        seats=sum(one.width for one in executing) if listed else None,
        oldest_s=greatest(one.age_s for one in waiting),
        levels=_most(one.level for _, one in asked),
        kinds=tuple(Counter(one.kind for _, one in asked if one.kind).most_common()),
        replicas=tuple(sorted({replica.name for replica, _ in asked})),
        flows=len({(one.level, one.schema, one.distinguisher) for _, one in asked}),
    )


def _most(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name, _ in Counter(names).most_common())


def _rank(one: Client) -> tuple[int, int, RowKey]:
    return -one.waiting, -(one.seats or 0), one.key


def _about(one: Client, look: Look) -> dict[str, str] | None:
    if one.user is None:
        return None
    return {"view": View.REQUESTS.value, "client": one.user, **{k: v for k, v in look.within.items() if k != "client"}}


def _kinds(one: Client) -> Cell:
    return words(", ".join(f"{kind} {number}" for kind, number in one.kinds)) if one.kinds else UNKNOWN


def _replicas(one: Client) -> Cell:
    names = ", ".join(map(plain, one.replicas))
    return Cell(names if len(one.replicas) == 1 else f"{whole(len(one.replicas))}: {names}", ", ".join(one.replicas))


SHOWN: tuple[Shown[Client], ...] = (
    Shown(
        Column(
            "user",
            "USER",
            24,
            "who asks; the impersonated one where there is one; - where the dump has no details",
            IN_DUMP,
            "text",
            most=70,
            ends=True,
        ),
        lambda one: words(one.user),
    ),
    Shown(
        replace(columns.WAITING, help="requests that wait now", source=IN_DUMP),
        lambda one: marked(one.waiting, whole, "warn"),
    ),
    Shown(
        Column("executing", "EXEC", 5, "requests that execute now", IN_DUMP),
        lambda one: count(one.executing),
    ),
    Shown(
        Column("seats", "SEATS", 5, "seats of the requests that execute, without lingering ones", IN_DUMP),
        lambda one: count(one.seats),
    ),
    Shown(
        replace(columns.OLDEST, help="age in seconds of its request that has waited longest"),
        lambda one: seconds(one.oldest_s) if one.waiting else BLANK,
    ),
    Shown(
        Column("flows", "FLOWS", 5, "flows that its requests are in", IN_DUMP, rank=4),
        lambda one: count(one.flows),
    ),
    Shown(
        Column(
            "levels",
            "LEVELS",
            14,
            "priority levels that its requests are in, most requests first",
            IN_DUMP,
            "text",
            most=60,
            rank=2,
        ),
        lambda one: words(", ".join(one.levels)),
    ),
    Shown(
        Column(
            "kinds",
            "WHAT",
            14,
            "verb and resource, or path, with the number of requests, most first",
            IN_DUMP,
            "text",
            most=90,
            rank=1,
        ),
        _kinds,
    ),
    Shown(
        Column(
            "replicas",
            "REPLICAS",
            8,
            "API servers that it asks, by number and names",
            IN_DUMP,
            "text",
            most=50,
            rank=3,
        ),
        _replicas,
    ),
)
