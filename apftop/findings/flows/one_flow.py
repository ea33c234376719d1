"""One flow by accident: many clients in the few queues of one flow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from apftop.apf.objects import FlowSchema, Queuing
from apftop.findings.changes.patches import schema_change
from apftop.findings.scene import Place, Scene, places, rows
from apftop.findings.words.callers import behind
from apftop.findings.words.listing import few
from apftop.findings.words.told import most, servers_named, wait
from apftop.present import plain, rate, seconds, whole
from apftop.records.findings import Change, Finding
from apftop.records.frame import Request, Schema
from apftop.rules import rules


@dataclass(frozen=True, slots=True)
class Crowd:
    """A flow in which several clients are, on one server; `clients` are requests in it by client, None unknown.

    `by` says what the clients are told apart by. `queues` is how many of the level's hold what waits in it.
    """

    place: Place
    schema: Schema
    config: FlowSchema
    queuing: Queuing
    flow: str | None
    waiting: float
    of: float
    queues: int | None
    refused: float
    clients: Mapping[str, float] | None
    by: str

    @property
    def weight(self) -> float:
        return self.waiting + self.refused_per_s

    @property
    def refused_per_s(self) -> float:
        return self.schema.window.per_s(self.refused) if self.schema.window else 0.0


def one_flow(scene: Scene) -> Iterator[Finding]:
    """Several clients in one flow that crowds its few queues, while the others of the level are free."""
    found: dict[str, list[Crowd]] = {}
    for place in places(scene):
        for crowd in _crowds(scene, place):
            found.setdefault(crowd.schema.name, []).append(crowd)
    for crowds in found.values():
        yield _one_flow(scene, sorted(crowds, key=lambda one: -one.weight))


def _crowds(scene: Scene, place: Place) -> Iterator[Crowd]:
    level, own = place.level, rules().findings.flows
    queuing = level.config.queuing if level.config is not None else None
    if queuing is None or queuing.queues <= queuing.hand_size or level.quiescing:
        return
    inside = rows(place)
    for schema in place.replica.schemas.values():
        if schema.level != level.name or schema.config is None or schema.deleted:
            continue
        refused = schema.counts.rejected.get("queue-full", 0.0) if schema.counts else 0.0
        crowd = (
            _by_rows(scene, place, inside, schema, schema.config, queuing, refused)
            if inside
            else _by_counts(place, schema, schema.config, queuing, refused)
        )
        if crowd is not None and (crowd.waiting >= own.waiting or crowd.refused > own.refused):
            yield crowd


def _by_rows(
    scene: Scene,
    place: Place,
    inside: Sequence[Request],
    schema: Schema,
    config: FlowSchema,
    queuing: Queuing,
    refused: float,
) -> Crowd | None:
    """The heaviest flow of a schema, if most of what waits in the level is in it and several clients share it."""
    waiting = [row for row in inside if not row.executing]
    counted = Counter(row.distinguisher for row in waiting if row.schema == schema.name)
    if not counted:
        return None
    flow, number = counted.most_common(1)[0]
    if number < rules().findings.flows.flow_share * len(waiting):
        return None
    mine = [row for row in inside if row.schema == schema.name and row.distinguisher == flow]
    oldest = max((row.age_s for row in mine if not row.executing and row.age_s is not None), default=0.0)
    if oldest < rules().findings.flows.oldest_s and refused <= rules().findings.flows.refused:
        return None
    clients, by = _clients(scene, config, mine)
    if len(clients) < 2 or _parted_better(config, [row for row in inside if row.schema == schema.name]):
        return None
    queues = len({row.queue for row in mine if not row.executing})
    return Crowd(place, schema, config, queuing, flow, float(number), float(len(waiting)), queues, refused, clients, by)


def _parted_better(config: FlowSchema, rows_of_schema: Iterable[Request]) -> bool:
    """Whether namespaces tell more flows apart than users would."""
    if config.distinguisher != "ByNamespace":
        return False
    several = list(rows_of_schema)
    return len({row.distinguisher for row in several}) >= len({row.user for row in several})


def _clients(scene: Scene, config: FlowSchema, mine: Iterable[Request]) -> tuple[Mapping[str, float], str]:
    """Who is in a flow: users, or of a user who has a flow of their own, the addresses that logs tell of."""
    users: Counter[str] = Counter(row.user for row in mine if row.user)
    if config.distinguisher != "ByUser" or len(users) != 1:
        return users, "users"
    sources: Counter[str] = Counter()
    for caller in scene.logs.callers:
        if caller.user in users and caller.source:
            sources[caller.source] += caller.requests
    return sources, "addresses"


def _by_counts(place: Place, schema: Schema, config: FlowSchema, queuing: Queuing, refused: float) -> Crowd | None:
    """A schema whose requests are all one flow, by its object and by metrics: refused beside queues that are free."""
    level = place.level
    if config.distinguisher is not None or level.waiting is None or not _for_many(config):
        return None
    own = rules().findings.flows
    if refused <= own.refused or level.waiting > own.fill * queuing.queues * queuing.queue_length_limit:
        return None
    waiting = schema.waiting if schema.waiting is not None else 0.0
    return Crowd(place, schema, config, queuing, None, waiting, level.waiting, level.active_queues, refused, None, "")


def _for_many(config: FlowSchema) -> bool:
    subjects = {one for rule in config.rules for one in rule.subjects}
    return len(subjects) > 1 or any(one.kind == "Group" or one.name == "*" for one in subjects)


def _one_flow(scene: Scene, crowds: list[Crowd]) -> Finding:
    worst = crowds[0]
    level, schema = worst.place.level.name, worst.schema.name
    method = worst.config.distinguisher
    why = "has no distinguisher" if method is None else f"tells flows apart {method}"
    hand, queues = worst.queuing.hand_size, worst.queuing.queues
    names = tuple(one.place.replica.name for one in crowds)
    harm = wait(worst.waiting)
    if worst.refused:
        harm += f", {rate(worst.refused_per_s)}/s refused"
    advice, change = _separated(worst)
    who = worst.clients and f"{len(worst.clients)} {worst.by} are in that flow: {most(worst.clients)}"
    users = worst.clients if worst.by == "users" else {}
    user = max(users, key=lambda one: users[one]) if users else worst.flow if worst.by == "addresses" else None
    return Finding(
        "one-flow",
        "warning",
        schema,
        f"requests of schema {plain(schema)} are one flow in {plain(level)} on {servers_named(names)}: "
        f"{hand} of {queues} queues for all of its clients, {harm}",
        names,
        level,
        schema,
        (
            *few([_crowded(one) for one in crowds]),
            f"schema {plain(schema)} {why}; a flow may use {hand} of the {queues} queues (handSize)",
            *((who,) if who else ()),
            *(line for line in (behind(scene, user) if user else ())),
        ),
        advice,
        change,
        {
            "distinguisher": method,
            "flow": worst.flow,
            "clients": worst.clients and float(len(worst.clients)),
            "waiting": worst.waiting,
            "waiting_share": worst.waiting / worst.of if worst.of else None,
            "queues_used": worst.queues,
            "queues": float(queues),
            "hand_size": float(hand),
            "refused_per_s": worst.refused_per_s,
        },
        sum(one.weight for one in crowds),
    )


def _crowded(one: Crowd) -> str:
    window = one.schema.window
    what = "requests of that schema" if one.flow is None else f"requests of one flow ({plain(one.flow) or 'no name'})"
    held = "" if one.queues is None else f", in {one.queues} of {one.queuing.queues} queues"
    refused = f"; {whole(one.refused)} refused queue-full over {seconds(window.seconds)}" if window else ""
    return f"{plain(one.place.replica.name)}: {whole(one.waiting)} of {whole(one.of)} waiting are {what}{held}{refused}"


def _separated(worst: Crowd) -> tuple[tuple[str, ...], Change | None]:
    """What gives each client a flow of its own."""
    schema, name = worst.config, plain(worst.schema.name)
    if schema.distinguisher != "ByUser":
        today = schema.distinguisher or "none"
        text = f"distinguisherMethod of schema {name} from {today} to ByUser"
        change = schema_change(schema, text, distinguisher="ByUser")
        return (
            f"set distinguisherMethod ByUser on schema {name}: each user then has a flow, and queues, of its own",
            "if one user alone does all the work for many namespaces, set ByNamespace instead",
        ), change
    return (
        "give each workload a service account of its own: requests of one account are one flow, whoever sends them",
        "where that is not possible, a schema for this account alone with distinguisherMethod ByNamespace parts its "
        "requests by the namespace that they are for",
        "a DaemonSet or a fleet of one kind: let it watch (an informer), or ask less often; no policy does that",
    ), None
