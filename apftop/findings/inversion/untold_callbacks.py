"""What looks like requests that wait for a service whose own wait, where nobody told which services there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apftop.findings.inversion.called_back import SUSPICION
from apftop.findings.inversion.intercepted import OPERATIONS, account
from apftop.findings.scene import Place, Scene, places, rows
from apftop.findings.words.listing import few
from apftop.findings.words.told import most, servers_named
from apftop.present import percent, plain, seconds
from apftop.records.findings import Finding
from apftop.records.frame import Request
from apftop.rules import rules

LOOK = "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations,apiservices -o yaml"


@dataclass(frozen=True, slots=True)
class Alike:
    """Long writes of one kind that hold a level on one server, and what of other accounts waits there."""

    place: Place
    kind: str
    long: list[Request]
    seats: int
    namespace: str
    theirs: list[Request]
    waiting: int


def untold(scene: Scene) -> Iterator[Finding]:
    """By the rows alone: weaker than what the list of callbacks would tell, so that it is for information."""
    if scene.frame.callbacks is not None:
        return
    found: dict[str, list[Alike]] = {}
    for place in places(scene):
        one = _alike(place)
        if one is not None:
            found.setdefault(one.namespace, []).append(one)
    for namespace, alike in found.items():
        yield _untold(namespace, sorted(alike, key=lambda one: -len(one.theirs)))


def _alike(place: Place) -> Alike | None:
    own, inside = rules().findings.inversion, rows(place)
    runs, waiting = [row for row in inside if row.executing], [row for row in inside if not row.executing]
    long = [row for row in runs if row.verb in OPERATIONS and (row.executing_s or 0.0) >= own.alone_s]
    seats = sum(row.width for row in runs)
    if len(long) < own.requests or not waiting:
        return None
    kind = Counter(row.kind for row in long).most_common(1)[0][0]
    long = [row for row in long if row.kind == kind]
    namespace, theirs = _theirs(waiting)
    if not namespace or len(theirs) < max(own.requests, own.alone_share * len(waiting)):
        return None
    if sum(row.width for row in long) < own.alone_share * seats:
        return None
    # Those who do the same as what executes, or read nothing, are in the same queue, and no service behind it.
    if any(_namespace(row) == namespace for row in runs) or any(row.kind == kind for row in theirs):
        return None
    return Alike(place, kind, long, seats, namespace, theirs, len(waiting))


def _theirs(waiting: Sequence[Request]) -> tuple[str, list[Request]]:
    """The namespace whose accounts most of what has waited for some time is of, and that."""
    late = [row for row in waiting if (row.age_s or 0.0) >= rules().findings.inversion.waiting_s]
    counted = Counter(_namespace(row) for row in late if _namespace(row))
    if not counted:
        return "", []
    namespace = counted.most_common(1)[0][0]
    return namespace, [row for row in late if _namespace(row) == namespace]


def _namespace(row: Request) -> str:
    return (account(row.user) or ("", ""))[0]


def _untold(namespace: str, found: list[Alike]) -> Finding:
    worst, level = found[0], found[0].place.level.name
    names = tuple(one.place.replica.name for one in found)
    ages = [row.executing_s or 0.0 for row in worst.long]
    kinds = Counter(row.kind for row in worst.theirs)
    return Finding(
        "inversion-untold",
        "info",
        namespace,
        f"perhaps a priority inversion in {plain(level)} on {servers_named(names)}: {plain(worst.kind)} executes for "
        f"{seconds(min(ages))} to {seconds(max(ages))}, while accounts of namespace {plain(namespace)} wait",
        names,
        level,
        "",
        (
            *few([_line(one) for one in found]),
            f"what waits of namespace {plain(namespace)}: {most(kinds)}",
            "whether these requests wait for a service of that namespace is not known: nobody told of webhooks and "
            "API services",
        ),
        (
            f"look whether a service in namespace {plain(namespace)} is called for {plain(worst.kind)}: {LOOK}",
            "if so, put its service accounts by a schema into a level that does not carry those requests",
            "with these objects in webhooks.yaml of a bundle, or the right to list them, this tool tells it itself",
        ),
        None,
        {
            "suspicion": SUSPICION,
            "namespace": namespace,
            "kind": worst.kind,
            "executing": float(len(worst.long)),
            "waiting": float(len(worst.theirs)),
            "oldest_executing_s": max(ages),
        },
        float(sum(len(one.theirs) for one in found)),
    )


def _line(one: Alike) -> str:
    seats = sum(row.width for row in one.long)
    return (
        f"{plain(one.place.replica.name)}: {plain(one.kind)} holds {seats} of {one.seats} seats in use "
        f"({percent(seats / one.seats)}); {len(one.theirs)} of {one.waiting} waiting "
        f"({percent(len(one.theirs) / one.waiting)}) are of namespace {plain(one.namespace)}"
    )
