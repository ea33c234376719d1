"""Exempt requests: schemas that exempt too many, and traffic that takes what others need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apftop.apf.containment import covers, overlap, shadowed
from apftop.apf.objects import EXEMPT, MANDATORY, FlowSchema, ResourceRule, Rule, Subject
from apftop.findings.changes.patches import schema_change
from apftop.findings.policies.order import free_behind, tried
from apftop.findings.policies.owners import built, own
from apftop.findings.policies.shadowing import traffic
from apftop.findings.saturation.who import Part, who
from apftop.findings.scene import Finder, Place, Scene, by_level, rows, servers
from apftop.findings.words.callers import behind
from apftop.findings.words.listing import few
from apftop.findings.words.told import listed
from apftop.present import percent, plain, rate, seconds, span, whole
from apftop.records.findings import Change, Finding
from apftop.rules import rules

EVERY = ("*",)


def broad_exempt(scene: Scene) -> Iterator[Finding]:
    """Schemas of one's own that exempt whole kinds of clients: nothing limits these any more."""
    order = tried(scene)
    for schema in _exempting(order):
        groups, verbs = broad(schema)
        if not groups:
            continue
        name, change = plain(schema.name), _limited(order, schema)
        yield Finding(
            code="broad-exempt",
            severity="warning",
            subject=name,
            title=f"flow schema {name} exempts {listed(groups)}: nothing limits their {listed(verbs, 7)} requests",
            replicas=tuple(one.name for one in servers(scene)),
            level=EXEMPT,
            schema=schema.name,
            evidence=(
                f"{name} (precedence {schema.precedence}) sends {listed(verbs, 7)} of all resources by "
                f"{listed(groups)} to level exempt, which has no queue and no limit",
                *traffic(scene, (schema,)),
                *_seats_of(scene, schema),
            ),
            advice=(
                *((f"set {change.text}",) if change is not None else ()),
                f"{'if some must stay exempt, ' if change is not None else ''}name single users or accounts in {name}",
            ),
            change=change,
            facts={"groups": groups, "verbs": verbs, "per_s": _rates(scene, schema)},
            weight=sum(one or 0.0 for one in _rates(scene, schema).values()),
        )


def exempt_traffic(scene: Scene) -> Iterator[Finding]:
    """Schemas of one's own, narrow ones, through which a steady stream goes to exempt."""
    limits = rules().findings.alerts
    order = tried(scene)
    for schema in _exempting(order):
        found = {
            name: one for name, one in _rates(scene, schema).items() if one is not None and one > limits.exempt_per_s
        }
        if schema.name in limits.exempt_schemas or broad(schema)[0] or not found:
            continue
        name, change = plain(schema.name), _limited(order, schema)
        yield Finding(
            code="exempt-traffic",
            severity="info",
            subject=name,
            title=f"flow schema {name} sends {rate(sum(found.values()))} requests/s past all limits",
            replicas=tuple(sorted(found, key=lambda one: -found[one])),
            level=EXEMPT,
            schema=schema.name,
            evidence=(
                f"{name} (precedence {schema.precedence}) sends what it matches to level exempt, which has no limit",
                *traffic(scene, (schema,)),
                *_seats_of(scene, schema),
            ),
            advice=(
                f"ask whether these clients must get through at any price; if not, set {change.text}"
                if change is not None
                else f"ask whether these clients must get through at any price; if not, give {name} another level",
            ),
            change=change,
            facts={"per_s": dict(found)},
            weight=sum(found.values()),
        )


@dataclass(frozen=True, slots=True)
class _Taken:
    """What exempt requests take of one server: seats now and on average over the window, and the share of all seats."""

    place: Place
    now: float | None
    mean: float | None
    seats: float

    @property
    def share(self) -> float:
        return max(self.now or 0.0, self.mean or 0.0) / self.seats


def exempt_dominates(scene: Scene) -> Iterator[Finding]:
    """Exempt requests that hold more than a fourth of the server: the limited ones get what they leave."""
    found = sorted(
        (one for place in by_level(scene).get(EXEMPT, ()) if (one := _taken(place)) is not None),
        key=lambda one: -one.share,
    )
    if not found:
        return
    first = found[0]
    there = who(first.place)
    client = there.clients[0] if there is not None else None
    schema = next((one for one in tried(scene) if there is not None and one.name == there.schema), None)
    mine = schema is not None and own(schema)
    change = _limited(tried(scene), schema) if schema is not None and mine else None
    yield Finding(
        code="exempt-dominates",
        severity="warning",
        subject=EXEMPT,
        title=f"exempt requests hold {percent(first.share)} of the seats of {plain(first.place.replica.name)}"
        + (f", most of them {plain(client.name)}" if client is not None and client.dominates else ""),
        replicas=tuple(one.place.replica.name for one in found),
        level=EXEMPT,
        schema=schema.name if schema is not None else "",
        evidence=(
            *few([_line(one) for one in found]),
            *_clients(scene, there.clients if there is not None else ()),
            *_schemas(first.place),
        ),
        advice=_advice(client, schema, change),
        change=change,
        facts={
            "share": {one.place.replica.name: one.share for one in found},
            "seats": {one.place.replica.name: one.now for one in found},
            "client": plain(client.name) if client is not None else None,
            "client_seats": client.seats if client is not None else None,
        },
        weight=sum(one.share * one.seats for one in found),
    )


def _taken(place: Place) -> _Taken | None:
    """What exempt requests take of a server, where that is too much; None where it is not, or not known."""
    level, total = place.level, place.replica.nominal_sum
    if not total:
        return None
    limits, share = rules().findings.exempt, rules().findings.alerts.exempt_share
    mean = level.load.demand if level.load is not None else None
    one = _Taken(place, level.seats_in_use, mean, total)
    if mean is not None and mean / total > share:
        return one
    oldest = level.inside.oldest_executing_s if level.inside is not None else None
    many = (level.executing or 0.0) >= limits.executing and (one.now or 0.0) / total > share
    # The mean counts what ended in the window: long requests are not in it yet.
    lasts = mean is None or (oldest is not None and oldest >= limits.oldest_s)
    return one if many and lasts else None


def _line(one: _Taken) -> str:
    counts, level = one.place.level.counts, one.place.level
    parts = [f"{whole(one.now)} seats now"] if one.now is not None else []
    if one.mean is not None and level.load is not None:
        parts.append(f"{whole(round(one.mean, 1))} on average over {span(level.load.seconds)}")
    every = [other.counts.dispatched for other in one.place.replica.levels.values() if other.counts is not None]
    if counts is not None and sum(every) > 0:
        parts.append(f"{percent(counts.dispatched / sum(every))} of all requests that were served")
    return f"exempt on {plain(one.place.replica.name)}: {', '.join(parts)}; the server has {whole(one.seats)} seats"


def _clients(scene: Scene, clients: Sequence[Part]) -> tuple[str, ...]:
    lines = [f"{plain(one.name) or '(no name)'} holds {one.seats} seats" for one in clients[:3] if one.seats]
    processes = behind(scene, clients[0].name) if clients else ()
    return (*lines, *processes)


def _schemas(place: Place) -> tuple[str, ...]:
    """Through which schemas it comes, by their rates."""
    told = {
        name: one.window.per_s(one.counts.dispatched)
        for name, one in place.replica.schemas.items()
        if one.level == place.level.name and one.counts is not None and one.window is not None
    }
    lines = [f"{plain(name)} {rate(one)}/s" for name, one in sorted(told.items(), key=lambda pair: -pair[1]) if one]
    return (f"on {plain(place.replica.name)} by schema: {', '.join(lines[:4])}",) if lines else ()


def _advice(client: Part | None, schema: FlowSchema | None, change: Change | None) -> tuple[str, ...]:
    who_ = plain(client.name) if client is not None and client.name else "the client that sends most"
    if change is not None:
        return (f"set {change.text}", f"then look at what {who_} does so much of")
    if schema is not None and schema.name == EXEMPT:
        return (
            f"give {who_} an identity outside group system:masters, which is what exempts it: no schema can limit it",
            "until then slow it down or stop it: no change of levels holds it back",
        )
    return (f"slow down or stop {who_}: no change of levels holds exempt requests back",)


def _exempting(order: Sequence[FlowSchema]) -> Iterator[FlowSchema]:
    """The schemas of one's own that exempt what reaches them."""
    for at, schema in enumerate(order):
        if schema.priority_level == EXEMPT and own(schema) and not shadowed(schema, order[:at]):
            yield schema


def broad(schema: FlowSchema) -> tuple[list[str], list[str]]:
    """The wide groups that it exempts, and the verbs for which it does so for all resources of all namespaces."""
    found = {
        group: verbs
        for group in rules().findings.exempt.broad
        if (verbs := [verb for verb in rules().findings.exempt.verbs if _all_of(schema, group, verb)])
    }
    return list(found), list(dict.fromkeys(verb for verbs in found.values() for verb in verbs))


def _all_of(schema: FlowSchema, group: str, verb: str) -> bool:
    everything = ResourceRule((verb,), EVERY, EVERY, EVERY)
    return covers(schema.rules, (Rule((Subject("Group", group),), (everything,)),))


def _limited(order: Sequence[FlowSchema], schema: FlowSchema) -> Change | None:
    """The schema as it was made, or behind all others that match some of the same: so these decide again."""
    made = built(schema.name)
    if made is not None and made.priority_level != schema.priority_level:
        text = (
            f"priorityLevelConfiguration of {plain(schema.name)} from {plain(schema.priority_level)} "
            f"back to {plain(made.priority_level)}"
        )
        return schema_change(schema, text, priority_level=made.priority_level)
    at = order.index(schema)
    others: list[FlowSchema] = []
    for one in order[at + 1 :]:
        if one.name not in MANDATORY and overlap(one.rules, schema.rules):
            others.append(one)
            if covers(one.rules, schema.rules):
                break
    precedence = free_behind(order, others[-1]) if others else None
    if precedence is None:
        return None
    text = (
        f"matchingPrecedence of {plain(schema.name)} from {schema.precedence} to {precedence}, behind "
        f"{plain(others[-1].name)}, so that {listed(one.name for one in others)} decide again"
    )
    return schema_change(schema, text, precedence=precedence)


def _rates(scene: Scene, schema: FlowSchema) -> dict[str, float | None]:
    """Requests a second that it sent to exempt, by server; None where that is not known."""
    found = {one.name: one.schemas.get(schema.name) for one in servers(scene)}
    return {
        name: one.window.per_s(one.counts.dispatched) if one and one.window and one.counts else None
        for name, one in found.items()
    }


def _seats_of(scene: Scene, schema: FlowSchema) -> tuple[str, ...]:
    """What its requests hold now, a line a server."""
    lines = []
    for place in by_level(scene).get(EXEMPT, ()):
        held = [row for row in rows(place) if row.schema == schema.name and row.executing]
        if held:
            oldest = max((row.executing_s for row in held if row.executing_s is not None), default=None)
            users = listed(dict.fromkeys(row.user or row.distinguisher for row in held))
            lines.append(
                f"now on {plain(place.replica.name)}: {len(held)} of its requests execute on "
                f"{sum(row.width for row in held)} seats, for up to {seconds(oldest)}, by {users}"
            )
    return few(lines)


FINDERS: tuple[Finder, ...] = (broad_exempt, exempt_traffic, exempt_dominates)
