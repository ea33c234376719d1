"""Schemas that are never reached, or not by all whom they name, since one that is tried before takes the requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from apftop.apf.containment import covers, pieces, shadowed, subject_covers
from apftop.apf.objects import EXEMPT, FlowSchema, Rule, Subject
from apftop.findings.changes.patches import schema_change
from apftop.findings.policies.landed import Landed, landed, told
from apftop.findings.policies.order import free_before, passed, tried
from apftop.findings.policies.owners import as_built, guard, own
from apftop.findings.saturation.pressure import hurts
from apftop.findings.scene import Scene, places, servers
from apftop.findings.words.listing import few
from apftop.findings.words.told import listed
from apftop.present import plain, rate, span
from apftop.records.findings import Change, Finding, Severity
from apftop.rules import rules

Lost = tuple[Rule, tuple[FlowSchema, ...]]
"""One subject with one target, and the schemas that take its requests."""


def shadowed_schemas(scene: Scene) -> Iterator[Finding]:
    """Schemas of one's own that no request reaches, as a proof by their rules tells."""
    order = tried(scene)
    for schema, by in _unreached(order):
        if not any(map(guard, by)):
            yield _shadowed(scene, order, schema, by)


def partly_shadowed(scene: Scene) -> Iterator[Finding]:
    """Schemas of one's own that lose some of those whom they name to a schema which means many more."""
    order = tried(scene)
    for schema, lost in _partly_unreached(order):
        yield _partly(scene, order, schema, lost)


@lru_cache(maxsize=4)
def _unreached(order: tuple[FlowSchema, ...]) -> list[tuple[FlowSchema, tuple[FlowSchema, ...]]]:
    """What follows from the objects alone, which seldom change."""
    found = ((one, shadowed(one, order[:at])) for at, one in enumerate(order) if own(one))
    return [(one, by) for one, by in found if by]


@lru_cache(maxsize=4)
def _partly_unreached(order: tuple[FlowSchema, ...]) -> list[tuple[FlowSchema, list[Lost]]]:
    gone = {one.name for one, _ in _unreached(order)}
    found = []
    for at, schema in enumerate(order):
        if not own(schema) or schema.name in gone:
            continue
        earlier = [one for one in order[:at] if not guard(one) and not (as_built(one) and one.priority_level == EXEMPT)]
        lost = [pair for one in _by_subject(schema) for pair in _lost(schema, one, earlier)]
        if lost:
            found.append((schema, lost))
    return found


def _shadowed(scene: Scene, order: Sequence[FlowSchema], schema: FlowSchema, by: Sequence[FlowSchema]) -> Finding:
    strays = landed(scene, schema, {one.name for one in by})
    twin = len(by) == 1 and covers(schema.rules, by[0].rules) and not as_built(by[0])
    change = None if twin else _forward(order, schema, by)
    names = _told(by)
    if twin:
        advice = [f"{names} and {plain(schema.name)} match the same requests: delete the one that is not meant"]
    elif change is None:
        advice = [f"give {plain(schema.name)} a lower matchingPrecedence than {names}, or delete it: it does nothing"]
    else:
        advice = [f"set {change.text}, so that it is tried first", "or delete it, if nobody misses it: it does nothing"]
    return Finding(
        code="shadowed-schema",
        severity=_severity(scene, schema, by, strays),
        subject=plain(schema.name),
        title=f"flow schema {plain(schema.name)} is never reached: {names} takes all its requests",
        replicas=tuple(one.name for one in servers(scene)),
        level=schema.priority_level,
        schema=schema.name,
        evidence=(
            f"{_place(schema)} is tried after {listed(map(_place, by))}, and by their rules "
            "each request that it matches is matched there first",
            *_strays(schema, strays),
            *traffic(scene, (schema, *by)),
        ),
        advice=tuple(advice),
        change=change,
        facts={
            "by": [plain(one.name) for one in by],
            "whole": True,
            "level_meant": plain(schema.priority_level),
            "levels_met": [plain(one.priority_level) for one in by],
            "requests_elsewhere": len(strays),
        },
        weight=float(len(strays)),
    )


def _partly(scene: Scene, order: Sequence[FlowSchema], schema: FlowSchema, lost: Sequence[Lost]) -> Finding:
    names = {one.name for _, by in lost for one in by}
    by = [one for one in order if one.name in names]
    strays = landed(scene, replace(schema, rules=tuple(piece for piece, _ in lost)), names)
    who = list(dict.fromkeys(_who(piece) for piece, _ in lost))
    change = _forward(order, schema, by)
    return Finding(
        code="partly-shadowed",
        severity=_severity(scene, schema, by, strays, counted=False),
        subject=plain(schema.name),
        title=f"flow schema {plain(schema.name)} is not reached by {listed(who)}: {_told(by)} takes the requests",
        replicas=tuple(one.name for one in servers(scene)),
        level=schema.priority_level,
        schema=schema.name,
        evidence=(
            f"{_place(schema)} is tried after {listed(map(_place, by))}, which matches all requests "
            f"that {plain(schema.name)} has rules for of {listed(who)}",
            *_strays(schema, strays),
            *traffic(scene, (schema, *by)),
        ),
        advice=(
            f"set {change.text}, so that it is tried first"
            if change is not None
            else f"give {plain(schema.name)} a lower matchingPrecedence than {_told(by)}",
        ),
        change=change,
        facts={
            "by": [plain(one.name) for one in by],
            "whole": False,
            "who": who,
            "level_meant": plain(schema.priority_level),
            "levels_met": [plain(one.priority_level) for one in by],
            "requests_elsewhere": len(strays),
        },
        weight=float(len(strays)),
    )


def traffic(scene: Scene, schemas: Sequence[FlowSchema]) -> tuple[str, ...]:
    """What came to each of these schemas over the window, a line a server; empty where that is not known."""
    lines = []
    for replica in servers(scene):
        found = [replica.schemas[one.name] for one in schemas if one.name in replica.schemas]
        window = found[0].window if found else None
        if window is None or window.seconds <= 0 or any(one.counts is None for one in found):
            continue
        rates = [f"{plain(one.name)} {rate(window.per_s(one.counts.arrivals))}/s" for one in found if one.counts]
        lines.append(f"arrivals on {plain(replica.name)} over {span(window.seconds)}: {', '.join(rates)}")
    return few(lines)


def _severity(
    scene: Scene, schema: FlowSchema, by: Sequence[FlowSchema], strays: Sequence[Landed], *, counted: bool = True
) -> Severity:
    """A warning where requests that are meant for another level are seen, or are delayed or refused where they go."""
    if all(one.priority_level == schema.priority_level for one in by):
        return "info"
    if len(strays) >= rules().findings.policy.strays:
        return "warning"
    taken = {one.priority_level for one in by}
    hurt = any(place.level.name in taken and hurts(place.level) for place in places(scene))
    return "warning" if counted and hurt else "info"


def _forward(order: Sequence[FlowSchema], schema: FlowSchema, by: Sequence[FlowSchema]) -> Change | None:
    first = min(by, key=order.index)
    precedence = free_before(order, first)
    if precedence is None:
        return None
    others = [name for name in passed(order, schema, precedence) if name not in {plain(one.name) for one in by}]
    also = f" (that is before {listed(others)} as well, with which it shares requests)" if others else ""
    text = (
        f"matchingPrecedence of {plain(schema.name)} from {schema.precedence} to {precedence}, "
        f"just before {_place(first)}{also}"
    )
    return schema_change(schema, text, precedence=precedence)


def _by_subject(schema: FlowSchema) -> list[list[Rule]]:
    found: dict[Subject, list[Rule]] = {}
    for piece in (one for rule in schema.rules for one in pieces(rule)):
        found.setdefault(piece.subjects[0], []).append(piece)
    return list(found.values())


def _lost(schema: FlowSchema, parts: Sequence[Rule], earlier: Sequence[FlowSchema]) -> list[Lost]:
    """All that the schema has rules for of one subject, with who takes it; empty where some of it gets through."""
    (subject,) = parts[0].subjects
    wider = [one for one in (_wider(it, subject) for it in earlier) if one.rules]
    found = [(one, shadowed(replace(schema, rules=(one,)), wider)) for one in parts] if wider else []
    return found if all(by for _, by in found) else []


def _wider(schema: FlowSchema, subject: Subject) -> FlowSchema:
    """A schema with no more than its rules for wider subjects: who names the very same one does so on purpose."""
    kept = [
        replace(rule, subjects=wide)
        for rule in schema.rules
        if (wide := tuple(s for s in rule.subjects if subject_covers(s, subject) and not subject_covers(subject, s)))
    ]
    return replace(schema, rules=tuple(kept))


def _who(piece: Rule) -> str:
    (subject,) = piece.subjects
    name = f"{subject.namespace}/{subject.name}" if subject.kind == "ServiceAccount" else subject.name
    return plain(f"{subject.kind} {name}")


def _strays(schema: FlowSchema, strays: Sequence[Landed]) -> tuple[str, ...]:
    if not strays:
        return ()
    into = listed(dict.fromkeys(f"{row.schema} ({row.level})" for _, row in strays))
    return (f"now {len(strays)} requests that {plain(schema.name)} matches too are in {into}: {told(strays)}",)


def _place(schema: FlowSchema) -> str:
    return f"{plain(schema.name)} (precedence {schema.precedence})"


def _told(by: Sequence[FlowSchema]) -> str:
    return listed(one.name for one in by)
