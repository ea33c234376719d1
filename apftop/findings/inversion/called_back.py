"""Requests that wait for a service of the cluster while they execute, and that service's own requests in queues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from apftop.findings.changes.apart import ahead, free_name
from apftop.findings.changes.patches import a_level, a_schema, created, user_subject
from apftop.findings.changes.resharing import taken_by_a_new_level
from apftop.findings.inversion.intercepted import account, intercepts
from apftop.findings.scene import Place, Scene, api_version, levels, places, rows, schemas, servers
from apftop.findings.words.callers import behind
from apftop.findings.words.listing import few
from apftop.findings.words.told import listed, most, servers_named
from apftop.present import percent, plain, seconds, whole
from apftop.records.backend import Callback, Timed
from apftop.records.findings import Change, Finding
from apftop.records.frame import Replica, Request
from apftop.rules import rules

SUSPICION = "priority-inversion"
ABOVE = "workload-high"
SHARES = 10
"""Shares of a level for the requests of a service that others wait for, where there is none to put them in."""


@dataclass(frozen=True, slots=True)
class Held:
    """One request at a place."""

    place: Place
    row: Request


@dataclass(frozen=True, slots=True)
class Inversion:
    """What waits for the services of one namespace while it executes, and what of that namespace waits in queues."""

    namespace: str
    callbacks: tuple[Callback, ...]
    held: list[Held]
    waiting: list[Held]

    @property
    def servers(self) -> tuple[str, ...]:
        """Those on which the namespace's requests wait, most first, and those that hold what waits for them."""
        counted = Counter(one.place.replica.name for one in self.waiting)
        return tuple(dict.fromkeys((*(name for name, _ in counted.most_common()), *_names(self.held))))

    @property
    def level(self) -> str:
        """Where most of the namespace's requests wait."""
        return Counter(one.row.level for one in self.waiting).most_common(1)[0][0]


def called_back(scene: Scene) -> Iterator[Finding]:
    """One finding a namespace whose service is waited for, and whose own requests wait."""
    if not scene.frame.callbacks:
        return
    own = rules().findings.inversion
    everywhere = [Held(place, row) for place in places(scene) for row in rows(place)]
    long = [one for one in everywhere if (one.row.executing_s or 0.0) >= own.executing_s]
    late: dict[str, list[Held]] = {}
    for one in everywhere:
        asks = None if one.row.executing else account(one.row.user)
        if asks is not None and (one.row.age_s or 0.0) >= own.waiting_s:
            late.setdefault(asks[0], []).append(one)
    for namespace, waiting in late.items():
        of = tuple(one for one in scene.frame.callbacks if one.namespace == namespace)
        found = _inversion(scene, namespace, of, long, waiting)
        if found is not None:
            yield _called_back(scene, found, everywhere)


def _inversion(
    scene: Scene, namespace: str, of: tuple[Callback, ...], long: Sequence[Held], waiting: Sequence[Held]
) -> Inversion | None:
    """What executes for long and waits for a service of the namespace, and what of its accounts has waited for long."""
    own = rules().findings.inversion
    asked = [one for one in waiting if _of_service(one.row, namespace, of)]
    if not of or len(asked) < own.requests or _quick(scene, of):
        return None
    held = [one for one in long if any(intercepts(callback, one.row) for callback in of)]
    if len(held) < own.requests or _all_slow(long, held):
        return None
    called = tuple(one for one in of if any(intercepts(one, held_one.row) for held_one in held))
    return Inversion(namespace, called, held, asked)


def _all_slow(long: Sequence[Held], held: Sequence[Held]) -> bool:
    """Whether most of what executes for long beside them is not called back: then storage or the server is slow.

    LISTs and watches may be long for other reasons, and other levels may be full of what is slow by itself.
    """
    there = {(one.place.replica.name, one.row.level) for one in held}
    called = {id(one) for one in held}
    beside = [
        one
        for one in long
        if one.row.verb not in ("list", "watch")
        and (one.place.replica.name, one.row.level) in there
        and id(one) not in called
    ]
    return len(beside) > len(held)


def _quick(scene: Scene, of: Sequence[Callback]) -> bool:
    """Whether servers say that these webhooks answer at once; one that hangs is counted when it times out."""
    took = [
        timed.mean_s
        for replica in scene.frame.servers
        if replica.backend is not None
        for one in of
        if (timed := replica.backend.webhooks.get(one.name)) is not None and timed.mean_s is not None
    ]
    return bool(took) and max(took) < rules().findings.inversion.executing_s


def _of_service(row: Request, namespace: str, of: Sequence[Callback]) -> bool:
    """Whether an account of the namespace may be the service's."""
    if namespace not in rules().findings.inversion.crowded_namespaces:
        return True
    name = (account(row.user) or ("", ""))[1]
    return any(one.service in name or name in one.service for one in of)


def _called_back(scene: Scene, found: Inversion, everywhere: Sequence[Held]) -> Finding:
    stuck = _stuck(found, everywhere)
    kinds = Counter(one.row.kind for one in found.held)
    accounts = Counter(one.row.user or "" for one in found.waiting)
    level, namespace = found.level, plain(found.namespace)
    oldest = max(one.row.age_s or 0.0 for one in found.waiting)
    longest = [one.row.executing_s or 0.0 for one in found.held]
    lines = [_server_line(name, found, everywhere) for name in found.servers]
    above = _has_room_above(scene, found)
    change = _out_of_the_way(scene, found, above=above)
    grave = stuck is not None and stuck >= rules().findings.inversion.stuck_share
    return Finding(
        "priority-inversion",
        "critical" if grave else "warning",
        found.namespace,
        f"priority inversion suspected in {plain(level)} on {servers_named(found.servers)}: {len(found.held)} "
        f"executing requests wait for namespace {namespace}, of whose accounts {len(found.waiting)} wait for seats",
        found.servers,
        level,
        "",
        (
            *few(lines),
            f"they execute for {seconds(min(longest))} to {seconds(max(longest))} now: {most(kinds)}{_ended(found)}",
            *(_callback_line(scene, one) for one in found.callbacks[:3]),
            f"accounts of that namespace that wait, the oldest request for {seconds(oldest)}: {most(accounts)}",
            *(line for user, _ in accounts.most_common(1) for line in behind(scene, user)),
            *_refused(scene, found.namespace),
        ),
        (
            (change.text if change is not None else f"put the accounts of namespace {namespace} in another level")
            + ": one that does not carry the requests that wait for it",
            *((taken_by_a_new_level(_hit_first(scene, found), SHARES),) if change is not None and not above else ()),
            "only as a last resort make these accounts exempt: nothing limits them then",
            "a service that answers from an informer's cache asks nothing back, and rules that match less hold up less",
        ),
        change,
        {
            "suspicion": SUSPICION,
            "webhook_namespace": found.namespace,
            "callbacks": [one.name for one in found.callbacks],
            "timeout_s": max((one.timeout_s for one in found.callbacks if one.timeout_s is not None), default=None),
            "executing": float(len(found.held)),
            "executing_by_kind": {kind: float(number) for kind, number in kinds.most_common()},
            "oldest_executing_s": max(longest),
            "waiting": float(len(found.waiting)),
            "waiting_by_user": {user: float(number) for user, number in accounts.most_common()},
            "oldest_waiting_s": oldest,
            "seats_held_share": stuck,
        },
        float(len(found.waiting)),
    )


def _stuck(found: Inversion, everywhere: Sequence[Held]) -> float | None:
    """Of the seats for which the namespace's requests wait, the share that requests hold which wait for it."""
    there = {(one.place.replica.name, one.row.level) for one in found.waiting}
    held = _seats(found.held, there)
    taken = _seats([one for one in everywhere if one.row.executing], there)
    return held / taken if taken else None


def _seats(many: Sequence[Held], there: set[tuple[str, str]]) -> int:
    return sum(one.row.width for one in many if (one.place.replica.name, one.row.level) in there)


def _server_line(server: str, found: Inversion, everywhere: Sequence[Held]) -> str:
    held = [one for one in found.held if one.place.replica.name == server]
    waiting = [one for one in found.waiting if one.place.replica.name == server]
    here = [one for one in everywhere if one.place.replica.name == server]
    parts = []
    for level, seats in _by_level(held).items():
        of = sum(one.row.width for one in here if one.row.executing and one.row.level == level)
        parts.append(f"{whole(seats)} of {of} seats in use of {plain(level)} are held by requests that wait for it")
    for level, number in Counter(one.row.level for one in waiting).most_common():
        of = sum(not one.row.executing and one.row.level == level for one in here)
        parts.append(f"{number} of {of} waiting in {plain(level)} ({percent(number / of)}) are of its accounts")
    return f"{plain(server)}: " + "; ".join(parts)


def _by_level(held: Sequence[Held]) -> dict[str, int]:
    seats: Counter[str] = Counter()
    for one in held:
        seats[one.row.level] += one.row.width
    return dict(seats.most_common())


def _callback_line(scene: Scene, one: Callback) -> str:
    what = "API service" if one.kind == "apiservice" else f"{one.kind} webhook"
    limit = "" if one.timeout_s is None else f", timeout {seconds(one.timeout_s)}"
    policy = "" if one.fails_closed is None else ", Fail" if one.fails_closed else ", Ignore"
    took = [
        f"; on {plain(replica.name)} it took {seconds(timed.mean_s)} on average over "
        f"{seconds(replica.backend.window.seconds)}"
        for replica in scene.frame.servers
        if replica.backend is not None and (timed := _timed(replica.backend.webhooks, one)) is not None
    ]
    return (
        f"{what} {plain(one.name)} ({plain(one.config)}) is service {plain(one.service)} in namespace "
        f"{plain(one.namespace)}{limit}{policy}{''.join(took[:1])}"
    )


def _ended(found: Inversion) -> str:
    limits = [one.timeout_s for one in found.callbacks if one.timeout_s is not None]
    return f"; the time-out of the webhook ends such a wait after {seconds(max(limits))}" if limits else ""


def _timed(webhooks: Mapping[str, Timed], one: Callback) -> Timed | None:
    timed = webhooks.get(one.name)
    return timed if timed is not None and timed.mean_s is not None else None


def _refused(scene: Scene, namespace: str) -> tuple[str, ...]:
    refused = sum(one.refused for one in scene.logs.callers if (account(one.user) or ("",))[0] == namespace)
    return (f"by the log {refused} requests of its accounts were refused (429)",) if refused else ()


def _hit_first(scene: Scene, found: Inversion) -> list[Replica]:
    return sorted(servers(scene), key=lambda one: one.name not in found.servers)


def _has_room_above(scene: Scene, found: Inversion) -> bool:
    """Whether `ABOVE` carries none of what waits for the namespace, and nothing else waits in it."""
    busy = {one.row.level for one in (*found.held, *found.waiting)}
    return ABOVE in levels(scene) and ABOVE not in busy and not crowded(scene, ABOVE)


def _out_of_the_way(scene: Scene, found: Inversion, *, above: bool) -> Change | None:
    """A schema for the accounts of the namespace to `ABOVE`, or to a level of their own.

    None where the objects cannot be read, or there is no room ahead of the schemas by which they come now.
    """
    carriers = {one.row.schema for one in found.waiting}
    precedence = ahead(schemas(scene), carriers)
    if precedence is None:
        return None
    users = sorted({one.row.user or "" for one in found.waiting})
    every = {"kind": "ServiceAccount", "serviceAccount": {"namespace": found.namespace, "name": "*"}}
    several = found.namespace in rules().findings.inversion.crowded_namespaces
    subjects = [user_subject(user) for user in users] if several else [every]
    who = listed(users) if several else f"the service accounts of namespace {plain(found.namespace)}"
    name = free_name(scene, f"{found.namespace}-callbacks")
    if above:
        text = f"a schema for {who} to {ABOVE}, at precedence {precedence}, ahead of {listed(sorted(carriers))}"
        return created(text, api_version(scene), a_schema(name, ABOVE, precedence, subjects))
    text = (
        f"a schema for {who} to a level of their own, at precedence {precedence}, ahead of {listed(sorted(carriers))}"
    )
    level = a_level(name, SHARES, borrowing_limit_percent=None)
    return created(text, api_version(scene), level, a_schema(name, name, precedence, subjects))


def crowded(scene: Scene, level: str) -> bool:
    """Whether requests wait in a level, on any server: then no others are helped by coming to it."""
    least = rules().findings.inversion.requests
    return any((place.level.waiting or 0.0) >= least for place in places(scene) if place.level.name == level)


def _names(many: Sequence[Held]) -> list[str]:
    return [name for name, _ in Counter(one.place.replica.name for one in many).most_common()]
