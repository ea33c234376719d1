"""What would help a level that is full: the one change that fits the cause, or none where policy cannot help."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from apftop.apf.allocation import limits
from apftop.apf.identity import SERVICE_ACCOUNT_PREFIX
from apftop.apf.objects import MANDATORY, FlowSchema, Meta, PriorityLevelConfiguration
from apftop.apf.release import parse_release
from apftop.findings.changes.patches import a_level, a_schema, created, level_change, user_subject
from apftop.findings.changes.resharing import taken_by_a_new_level
from apftop.findings.saturation.demand import Split
from apftop.findings.saturation.slow import LOOK, became_slow, risen
from apftop.findings.saturation.who import Part, Who, share
from apftop.findings.scene import Place, Scene, api_version, by_level, levels, schemas, servers
from apftop.findings.words.callers import of_the_cluster, process_of
from apftop.present import plain, whole
from apftop.records.findings import Change
from apftop.rules import rules

Cause = Literal[
    "skew",
    "execution",
    "held",
    "width",
    "client",
    "own",
    "kind",
    "borrowing-limit",
    "server-full",
    "storm",
    "load",
    "unknown",
]
DUMP = "kubectl get --raw '/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1'"
LEAST_PRECEDENCE = 3
"""Before these come `exempt` and `probes`."""

RETRIES = (
    "have the clients honour Retry-After, wait longer each time, with jitter, and try again in one layer only",
    "more seats do not end this: what is refused comes back at once, and takes them",
)
SLOW_DOWN = "it must send less, and honour Retry-After with jitter where it is refused"


@dataclass(frozen=True, slots=True)
class Relief:
    """Why a level is full, what to do, the one change first, and that as commands where there is one."""

    cause: Cause
    advice: tuple[str, ...]
    change: Change | None = None


def relief(scene: Scene, place: Place, inside: Who | None, compared: Split | None) -> Relief:
    """What would help a level on the server where it is worst."""
    level = place.level
    if compared is not None and became_slow(scene, place, compared):
        behind = risen(place.replica)
        first = f"find out why {behind[0].told()}" if behind else f"find what became slow behind the server: {LOOK}"
        return Relief("execution", (first, "more seats would put more load on what is slow"))
    held = _held(inside, level.load.execution_s if level.load is not None else None)
    if held is not None:
        first = f"find out what the requests that hold the seats wait for: {plain(held.name)}, {share(held)}"
        return Relief("held", (first, "if they wait for those in the queue, these need a level of their own"))
    if compared is not None and compared.dominant == "width":
        return Relief(
            "width",
            (
                "have the wide requests made narrow: lists by pages (limit=500), from the cache (resourceVersion=0), "
                "or a watch in place of lists",
                "the evidence says who sends them, by seats",
            ),
        )
    if inside is not None and inside.client is not None and inside.client.name:
        return _for_client(scene, place, inside, inside.client)
    calm = _calm_elsewhere(scene, place)
    if calm:
        return Relief(
            "skew",
            (
                f"spread the clients over the servers: {plain(calm)} has nearly all seats of this level free",
                "set --goaway-chance=0.001 on the servers, or restart the clients that hold connections to this one; "
                "more shares would not move them",
            ),
        )
    if inside is not None and inside.kind is not None and inside.kind.name:
        many = len(inside.clients)
        first = f"give {plain(inside.kind.name)} a level of its own: it is one kind of request, from {many} clients"
        return Relief("kind", (first, "a larger share of this level would be taken by the same requests"))
    if _at_borrowing_limit(place) and not server_full(place):
        return _borrow(place)
    if server_full(place):
        return Relief(
            "server-full",
            (
                "have clients send less, or add an API server: "
                f"{_taken(place)} of this server are in use, and shares only move them about",
                "raise --max-requests-inflight only where the server has CPU and memory to spare",
            ),
        )
    refused = level.counts.refused_share if level.counts is not None else None
    if refused is not None and refused > rules().findings.load.storm_share:
        return Relief("storm", RETRIES)
    if inside is None:
        return Relief("unknown", (f"find out who sends the requests: {DUMP}", "then slow that client down"))
    asking = f"{len(inside.clients)} clients ask" if len(inside.clients) > 1 else "its clients ask"
    return _more(scene, place, "load", f"give the level a larger share: {asking} for more than it has")


def server_full(place: Place) -> bool:
    """Whether nearly all seats of a server are taken, so that no level can be given more of them."""
    taken, seats = _seats_taken(place), place.replica.nominal_sum
    return taken is not None and bool(seats) and taken >= rules().findings.load.server_full * (seats or 0.0)


def _seats_taken(place: Place) -> float | None:
    known = [one.seats_in_use for one in place.replica.levels.values() if one.state != "stale" and not one.exempt]
    return sum(one for one in known if one is not None) if any(one is not None for one in known) else None


def _taken(place: Place) -> str:
    return f"{whole(_seats_taken(place))} of {whole(place.replica.nominal_sum)} seats"


def _calm_elsewhere(scene: Scene, place: Place) -> str:
    """Another server on which the same level is nearly idle; empty where there is none, or nobody knows."""
    for other in by_level(scene).get(place.level.name, ()):
        level = other.level
        used = level.utilization_now
        calm = used is not None and used <= rules().findings.load.calm_share and not level.waiting
        if other.replica.name != place.replica.name and calm and level.state in ("idle", "busy"):
            return other.replica.name
    return ""


def _held(inside: Who | None, execution_s: float | None) -> Part | None:
    """The kind that holds nearly all seats for long while others wait."""
    if inside is None or execution_s is None or execution_s < rules().findings.load.long_s:
        return None
    return next(
        (
            part
            for part in inside.kinds
            if part.name
            and part.holds
            and part.of_waiting is not None
            and part.of_waiting <= 1 - rules().findings.load.held_share
        ),
        None,
    )


def _for_client(scene: Scene, place: Place, inside: Who, client: Part) -> Relief:
    name = plain(client.name)
    matched = next((one for one in schemas(scene) if one.name == inside.schema), None)
    if _is_its_own(scene, place.level.name, client.name):
        more = _more(scene, place, "own", f"slow {name} down: the level is its own, and nobody else is hurt")
        return Relief("own", (more.advice[0], f"or give it more: {more.change.text}") if more.change else more.advice)
    if of_the_cluster(client.name):
        return Relief(
            "client",
            (
                f"find out why {name} asks for so much, and do not confine it: the cluster itself may live by it",
                process_of(client.name),
            ),
        )
    if matched is None or not inside.users or matched.precedence <= LEAST_PRECEDENCE:
        return Relief("client", (f"slow {name} down: {SLOW_DOWN}",))
    change = _own_level(scene, place, matched, client.name)
    return Relief(
        "client",
        (
            f"give {name} a level of its own, so that it delays itself only: {change.text}",
            taken_by_a_new_level((place.replica, *servers(scene)), rules().findings.load.own_shares),
            SLOW_DOWN,
        ),
        change,
    )


def _is_its_own(scene: Scene, level: str, user: str) -> bool:
    """Whether all schemas of a level are for this one user, or for the accounts of its namespace."""
    subjects = {
        (who.kind, who.namespace, who.name)
        for one in schemas(scene)
        if one.priority_level == level
        for rule in one.rules
        for who in rule.subjects
    }
    account = user_subject(user).get("serviceAccount", {"namespace": "", "name": ""})
    mine = {("ServiceAccount", account["namespace"], name) for name in (account["name"], "*")} | {("User", "", user)}
    return bool(subjects) and subjects <= mine


def _own_level(scene: Scene, place: Place, matched: FlowSchema, user: str) -> Change:
    """A small level, and a schema before the one that matches now, for one user."""
    taken = {*levels(scene), *(one.name for one in schemas(scene))}
    name = object_name(user, taken)
    shares, precedence = rules().findings.load.own_shares, _before(schemas(scene), matched)
    config = PriorityLevelConfiguration(meta=Meta(name), exempt=False, shares=shares, borrowing_limit_percent=0)
    nominal = nominal_seats(place, (*levels(scene).values(), config))
    size = f"{nominal[name]} seats a server" if name in nominal else f"{shares} shares"
    text = f"level and schema {name} ({size}, no borrowing; precedence {precedence}, before {plain(matched.name)})"
    return created(
        text,
        api_version(scene),
        a_level(name, shares),
        a_schema(name, name, precedence, [user_subject(user)]),
    )


def _before(order: Iterable[FlowSchema], matched: FlowSchema) -> int:
    """A precedence before the schema that matches now, and behind what goes before it, as leases of leaders do."""
    last = max((one.precedence for one in order if one.precedence < matched.precedence), default=0)
    return matched.precedence - 100 if last < matched.precedence - 100 else matched.precedence - 1


def object_name(user: str, taken: Iterable[str]) -> str:
    """A name for new objects after a user, as Kubernetes allows it, and not in use."""
    tail = user.removeprefix(SERVICE_ACCOUNT_PREFIX)
    name = re.sub(r"[^a-z0-9]+", "-", tail.lower()).strip("-")[:50].strip("-") or "client"
    known = set(taken)
    return next(one for one in (name, *(f"{name}-own{number or ''}" for number in range(99))) if one not in known)


def nominal_seats(place: Place, configs: Iterable[PriorityLevelConfiguration]) -> Mapping[str, int]:
    """The nominal seats that these levels would get on one server; empty where its seats or release are not known."""
    release = parse_release(place.replica.version or "")
    if release is None or not place.replica.server_concurrency:
        return {}
    found = limits(configs, round(place.replica.server_concurrency), release)
    return {name: one.nominal for name, one in found.items()}


def _at_borrowing_limit(place: Place) -> bool:
    """Whether a level has borrowed as much as its own limit lets it, or will have, while other levels lend more."""
    level, replica = place.level, place.replica
    capped = level.config is not None and level.config.borrowing_limit_percent is not None
    if not capped or level.current is None or level.upper is None:
        return False
    # Limits move each 10 s: until then a level that has just become full has not borrowed what it may. The smoothed
    # demand is what seats are shared out by.
    told = level.demand.smoothed if level.demand is not None else None
    wanted = max(level.current, level.load.demand or 0.0 if level.load is not None else 0.0, told or 0.0)
    if wanted < level.upper - 0.5:
        return False
    if replica.nominal_sum is None or replica.lower_sum is None or level.lower is None:
        return True
    return replica.nominal_sum - (replica.lower_sum - level.lower) > level.upper + 0.5


def _borrow(place: Place) -> Relief:
    config = place.level.config
    if config is None:
        return Relief("borrowing-limit", ("let the level borrow more",))
    text = f"borrowingLimitPercent of {plain(config.name)}: {config.borrowing_limit_percent} -> unset (no limit)"
    change = level_change(config, text, borrowing_limit_percent="unset")
    limit = f"its limit of borrowing leaves it {whole(place.level.upper)}"
    first = f"let the level borrow: {_taken(place)} of this server are in use, and {limit}"
    return Relief("borrowing-limit", (first,), change)


def _more(scene: Scene, place: Place, cause: Cause, lead: str) -> Relief:
    """A larger share, with what all levels have then; no change where it cannot be worked out or made."""
    level, configs = place.level, levels(scene)
    config, before = level.config, nominal_seats(place, levels(scene).values())
    if level.name in MANDATORY:
        first = f"have a schema take these requests to another level: every server keeps {plain(level.name)} as it is"
        return Relief(cause, (first, "requests come here that no other schema takes: see which one is missing"))
    if config is None or level.name not in before:
        return Relief(cause, (lead,))
    offered = level.load.demand if level.load is not None else None
    if offered is None and level.demand is not None:
        offered = level.demand.smoothed
    wanted = max(offered or 0.0, level.current or 0.0)
    most = max(config.shares + 1, math.ceil(config.shares * rules().findings.load.more_shares))
    after: Mapping[str, int] = before
    shares = config.shares
    while shares < most and (shares == config.shares or after[level.name] < wanted):
        shares += 1
        changed = PriorityLevelConfiguration(
            config.meta, config.exempt, shares, config.lendable_percent, config.borrowing_limit_percent, config.queuing
        )
        after = nominal_seats(place, {**configs, level.name: changed}.values())
    moved = [f"{plain(name)} {before[name]} -> {after[name]}" for name in before if after[name] != before[name]]
    moved.sort(key=lambda text: not text.startswith(plain(level.name) + " "))
    text = f"shares {config.shares} -> {shares}; nominal seats on each server: {', '.join(moved)}"
    return Relief(
        cause, (f"{lead}: {text}",) if cause == "load" else (lead,), level_change(config, text, shares=shares)
    )
