"""Where a request goes, and why: the model's classification with its flow, its hand, its seats and its wait limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from apftop.apf.allocation import LEVEL_SEAT_CAP_SINCE, level_seat_cap
from apftop.apf.attributes import bypasses
from apftop.apf.classify import Classifier, classify, explain
from apftop.apf.durations import go_duration_ns
from apftop.apf.estimate import Estimator, Stored
from apftop.apf.objects import FlowSchema, PriorityLevelConfiguration
from apftop.apf.release import Release, holds
from apftop.apf.replica import LAZY_WAIT_LIMIT_UNTIL
from apftop.apf.shards import hand
from apftop.classifying.words import why_not
from apftop.present import plain
from apftop.records.classified import Asked, Classified, Tried

SERVER_TIMEOUT_S = 60.0
"""--request-timeout of a server where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a request meets: the policy, one server's seats and flags, and what it knows of the stored objects.

    `objects`, `average_bytes` and `watchers` are of the resource that is asked for, None where nobody told.
    """

    classifier: Classifier
    release: Release
    nominal: Mapping[str, float] = field(default_factory=dict)
    request_timeout_s: float = SERVER_TIMEOUT_S
    objects: int | None = None
    average_bytes: int | None = None
    watchers: int | None = None


def classified(asked: Asked, setting: Setting, expect: str = "") -> Classified:
    """What a server of the release makes of a request (1.26 to 1.37).

    `expect` is a schema that it was thought to match: what came of it is then told too, though it stands behind.
    """
    if bypasses(asked.request):
        return Classified(asked, seen=False)
    found = classify(setting.classifier, asked.request)
    queuing = found.level.queuing
    told = queuing is not None and queuing.queues > 1
    least, most, seats_why = _seats(asked, setting, found.level)
    limit_s, limit_why = _limit(asked, setting, found.level)
    return Classified(
        asked,
        seen=True,
        schema=found.schema.name,
        level=found.level.name,
        distinguisher=found.distinguisher,
        hash=found.hash if told else None,
        hand=hand(found.schema.name, found.distinguisher, queuing.queues, queuing.hand_size)
        if queuing is not None and told
        else (),
        seats=(least, most),
        seats_why=seats_why,
        limit_s=limit_s,
        limit_why=limit_why,
        tried=tuple(_tried(asked, setting.classifier, found.schema, expect)),
    )


def _tried(asked: Asked, classifier: Classifier, match: FlowSchema, expect: str) -> Iterator[Tried]:
    """The schemas in the order in which they are tried, up to the match or the expected one, whichever is later."""
    explained = explain(classifier, asked.request)
    # `explain` has dangling ones first; here each stands where it would be tried.
    ordered = sorted(explained, key=lambda one: (one.schema.precedence, one.schema.name.encode()))
    names = [one.schema.name for one in ordered]
    last = max(names.index(name) for name in (match.name, expect) if name in names)
    for one in ordered[: last + 1]:
        schema = one.schema
        why = tuple(why_not(miss) for miss in one.misses)
        if one.outcome == "dangling":
            why = (f"its level {plain(schema.priority_level)} does not exist, so the server ignores it",)
        elif one.outcome == "missed" and not schema.rules:
            why = ("it has no rules, and so matches nothing",)
        elif one.outcome == "after":
            would = not any(
                of.schema.name == schema.name and of.outcome != "matched"
                for of in explain(_alone(schema, classifier), asked.request)
            )
            first = f"{plain(match.name)} comes before it (precedence {match.precedence}, then by name) and matches"
            why = (first if would else f"{first}; it would not match either",)
        yield Tried(schema.name, schema.priority_level, schema.precedence, one.outcome, why)


def _alone(schema: FlowSchema, classifier: Classifier) -> Classifier:
    return Classifier([schema], classifier.levels.values())


def _seats(asked: Asked, setting: Setting, level: PriorityLevelConfiguration) -> tuple[int, int, str]:
    """The fewest and the most seats, and what decides between them."""
    cap = None
    nominal = setting.nominal.get(level.name)
    if level.queuing is not None and nominal is not None and holds(setting.release, LEVEL_SEAT_CAP_SINCE):
        cap = level_seat_cap(int(nominal), level.queuing.hand_size)
    estimator = Estimator(setting.release, {})

    def width(objects: int, size: int, watchers: int) -> int:
        return estimator.estimate(
            asked.request, asked.query, stored=Stored(objects, size), watchers=watchers, level_cap=cap
        ).width

    verb = asked.request.verb
    if verb in ("list", "watch"):
        if setting.objects is not None:
            seats = width(setting.objects, setting.average_bytes or 0, 0)
            return seats, seats, f"{setting.objects} stored objects"
        least, most = width(0, 1, 0), width(MANY, MANY, 0)
        return least, most, "whatever is stored" if least == most else "by how much is stored of the resource"
    if setting.watchers is not None:
        seats = width(0, 0, setting.watchers)
        return seats, seats, f"{setting.watchers} watchers of what it changes"
    least, most = width(0, 0, 0), width(0, 0, MANY)
    return least, most, "which is what such requests take" if least == most else "by how many watch what it changes"


MANY = 1_000_000_000
"""More objects, bytes and watchers than any cap of seats lets count."""


def _limit(asked: Asked, setting: Setting, level: PriorityLevelConfiguration) -> tuple[float | None, str]:
    """How long the request may wait, and by what: a quarter of its time until its deadline (1.26 to 1.37).

    Until 1.28.4 it is a quarter of the server's --request-timeout whatever the request says; since then at most 60 s,
    and of the request's own `timeout` where that is shorter. Watches have no deadline of their own.
    """
    if level.exempt:
        return None, "exempt requests never wait"
    if level.queuing is None:
        return None, "its level has no queues: it is served or refused at once"
    server_s = setting.request_timeout_s
    if holds(setting.release, LAZY_WAIT_LIMIT_UNTIL):
        return server_s / 4, f"a quarter of the server's --request-timeout of {server_s:g} s"
    own_s = _timeout_s(asked)
    if own_s is not None and 0 < own_s < server_s:
        return min(60.0, own_s / 4), f"a quarter of its timeout of {own_s:g} s"
    return min(60.0, server_s / 4), f"a quarter of the server's --request-timeout of {server_s:g} s"


def _timeout_s(asked: Asked) -> float | None:
    """The `timeout` of the query string; None without one, for watches, and for one that the server refuses."""
    text = parse_qs(asked.query).get("timeout", [""])[0]
    if not text or asked.request.verb == "watch":
        return None
    nanoseconds = go_duration_ns(text)
    return None if nanoseconds is None else nanoseconds / 1e9
