"""One kind of request, from many clients alike, that crowds out the rest of its level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from apftop.findings.changes.apart import EVENTS, kinds_apart
from apftop.findings.changes.resharing import taken_by_a_new_level
from apftop.findings.scene import Place, Scene, by_level, rows, servers
from apftop.findings.words.listing import few
from apftop.findings.words.told import listed, most, servers_named
from apftop.present import percent, plain
from apftop.records.findings import Change, Finding
from apftop.records.frame import Request
from apftop.rules import rules

NOT_A_CLIENT = "request-kind, not client"
SHARES = 5
"""Shares of a level for requests that are to crowd out nothing else."""


def request_kind(scene: Scene) -> Iterator[Finding]:
    """Many clients, evenly spread, and one kind of request that most of what waits and executes is."""
    for level, here in by_level(scene).items():
        found = [one for one in map(_kind, here) if one is not None]
        if found:
            yield _request_kind(scene, level, sorted(found, key=lambda one: -len(one.waiting)))


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of request that crowds a level on one server; `executing` is None where the dump does not list it."""

    place: Place
    kind: str
    waiting: list[Request]
    executing: list[Request] | None

    @property
    def mine(self) -> list[Request]:
        return [row for row in (*self.waiting, *(self.executing or ())) if row.kind == self.kind]

    @property
    def by_user(self) -> Counter[str]:
        return Counter(row.user for row in (*self.waiting, *(self.executing or ())) if row.user)


def _kind(place: Place) -> Kind | None:
    own, inside = rules().findings.flows, rows(place)
    waiting = [row for row in inside if not row.executing]
    executing = [row for row in inside if row.executing] if place.replica.lists_executing else None
    oldest = max((row.age_s for row in waiting if row.age_s is not None), default=0.0)
    if place.level.exempt or len(waiting) < own.waiting or oldest < own.oldest_s:
        return None
    kind, number = Counter(row.kind for row in waiting).most_common(1)[0]
    one = Kind(place, kind, waiting, executing)
    others = len(waiting) - number
    if not kind or number < own.kind_share * len(waiting) or others < 1:
        return None
    if executing and sum(row.kind == kind for row in executing) < own.kind_share * len(executing):
        return None
    flows, users = Counter((row.schema, row.distinguisher) for row in waiting), one.by_user
    if min(len(flows), len(users)) < own.even_clients:
        return None
    heaviest = max(max(flows.values()) / len(waiting), max(users.values()) / sum(users.values()))
    return one if heaviest <= own.client_share else None


def _request_kind(scene: Scene, level: str, found: list[Kind]) -> Finding:
    worst = found[0]
    kind, waiting = plain(worst.kind), len(worst.waiting)
    mine = sum(row.kind == worst.kind for row in worst.waiting)
    flows = Counter((row.schema, row.distinguisher) for row in worst.waiting)
    names = tuple(one.place.replica.name for one in found)
    executing = worst.executing
    runs = sum(row.kind == worst.kind for row in executing) if executing else None
    others = Counter(row.kind for row in worst.waiting if row.kind != worst.kind)
    advice, change = _kind_apart(scene, worst, level)
    return Finding(
        "request-kind",
        "warning",
        level,
        f"{kind} crowds {plain(level)} on {servers_named(names)}: {mine} of {waiting} waiting, "
        f"from {len(flows)} flows; a kind of request, not a client",
        names,
        level,
        "",
        (
            *few([_kinds(one) for one in found]),
            f"{len(flows)} flows wait, evenly spread: at most {max(flows.values())} of {waiting} are of one flow, "
            f"so this is no single client, and sharding by client cannot help",
            f"behind it wait: {most(others)}",
        ),
        advice,
        change,
        {
            "suspicion": NOT_A_CLIENT,
            "kind": worst.kind,
            "waiting": float(waiting),
            "waiting_of_kind": float(mine),
            "waiting_share": mine / waiting,
            "executing_share": runs / len(executing) if runs is not None and executing else None,
            "waiting_by_kind": {one: float(number) for one, number in _by_kind(worst).items()},
            "flows_waiting": float(len(flows)),
            "max_waiting_per_flow": float(max(flows.values())),
        },
        float(sum(len(one.waiting) for one in found)),
    )


def _by_kind(one: Kind) -> dict[str, int]:
    return dict(Counter(row.kind for row in one.waiting).most_common())


def _kinds(one: Kind) -> str:
    total = len(one.waiting)
    shares = ", ".join(
        f"{plain(kind)} {number} ({percent(number / total)})" for kind, number in list(_by_kind(one).items())[:5]
    )
    line = f"{plain(one.place.replica.name)}: of {total} waiting: {shares}"
    if one.executing:
        runs = sum(row.kind == one.kind for row in one.executing)
        line += f"; of {len(one.executing)} executing: {plain(one.kind)} {percent(runs / len(one.executing))}"
    return line


def _kind_apart(scene: Scene, worst: Kind, level: str) -> tuple[tuple[str, ...], Change | None]:
    mine = worst.mine
    resource = mine[0].resource or ""
    what = "events" if resource == EVENTS else plain(worst.kind)
    name = EVENTS if resource == EVENTS else worst.kind
    carriers = sorted({row.schema for row in mine})
    text = f"a schema for {what} ahead of {listed(carriers)}, to a small level of its own"
    change = kinds_apart(scene, text, name, mine, SHARES)
    first = f"add a FlowSchema for {what} ahead of {listed(carriers)}, to a small level of its own"
    note = f"{first} ({change.text.rpartition(', ')[2]})" if change is not None else first
    lines = [note]
    if resource == EVENTS:
        lines.append("events may be late or lost without harm; what else is in this level may not")
    else:
        lines.append(f"if {what} matters more than the rest, give {plain(level)} more seats instead")
    lines.append(taken_by_a_new_level((worst.place.replica, *servers(scene)), SHARES))
    return tuple(lines), change
