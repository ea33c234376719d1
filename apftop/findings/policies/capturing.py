"""Schemas of one's own that take the requests of built-in ones by meaning far more clients than these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from apftop.apf.containment import covers, shadowed, subject_covers
from apftop.apf.objects import EXEMPT, MANDATORY, FlowSchema
from apftop.findings.changes.patches import schema_change
from apftop.findings.policies.landed import Landed, landed, told
from apftop.findings.policies.order import free_behind, passed, tried
from apftop.findings.policies.owners import as_built, own
from apftop.findings.policies.shadowing import traffic
from apftop.findings.saturation.pressure import hurts
from apftop.findings.scene import Scene, places, servers
from apftop.findings.words.told import listed
from apftop.present import plain
from apftop.records.findings import Change, Finding, Severity
from apftop.rules import rules


def captured_builtins(scene: Scene) -> Iterator[Finding]:
    """Schemas of one's own whose wide subjects take what built-in schemas are for, and so their level."""
    order = tried(scene)
    for at, schema in enumerate(order):
        # What goes to exempt is not limited at all: that is another finding.
        if not own(schema) or schema.priority_level == EXEMPT:
            continue
        later = [one for one in order[at + 1 :] if _elsewhere(one, schema) and wider(schema, one)]
        whole = [one for one in later if covers(schema.rules, one.rules) and not covers(one.rules, schema.rules)]
        partly = {
            one.name: found
            for one in later
            if one not in whole
            and one.priority_level in rules().findings.alerts.protected
            and len(found := landed(scene, one, {schema.name})) >= rules().findings.policy.strays
        }
        hit = [one for one in later if one in whole or one.name in partly]
        if hit:
            yield _captured(scene, order, schema, hit, whole, partly)


def captured(order: Sequence[FlowSchema], schema: FlowSchema) -> list[FlowSchema]:
    """The built-in schemas behind this one that are never reached because of it."""
    at = order.index(schema)
    return [
        one
        for one in order[at + 1 :]
        if as_built(one) and one.name not in MANDATORY and covers(schema.rules, one.rules)
    ]


def _elsewhere(one: FlowSchema, schema: FlowSchema) -> bool:
    """Whether it is a built-in one for another level: in the same one its requests have the same seats."""
    return as_built(one) and one.name not in MANDATORY and one.priority_level != schema.priority_level


def wider(schema: FlowSchema, other: FlowSchema) -> bool:
    """Whether somebody whom the other names is meant here only as one of many: else that is on purpose."""
    mine = [one for rule in schema.rules for one in rule.subjects]
    theirs = [one for rule in other.rules for one in rule.subjects]
    return any(
        any(subject_covers(one, it) for one in mine)
        and not any(subject_covers(one, it) and subject_covers(it, one) for one in mine)
        for it in theirs
    )


def _captured(
    scene: Scene,
    order: Sequence[FlowSchema],
    schema: FlowSchema,
    hit: Sequence[FlowSchema],
    whole: Sequence[FlowSchema],
    partly: Mapping[str, Sequence[Landed]],
) -> Finding:
    name, level = plain(schema.name), plain(schema.priority_level)
    found = [*(landed(scene, one, {schema.name}) for one in whole), *partly.values()]
    seen = {(replica.name, row.key): (replica, row) for rows in found for replica, row in rows}
    change = _behind(order, schema, hit[-1])
    protected = [one for one in hit if one.priority_level in rules().findings.alerts.protected]
    first = listed(one.name for one in protected or hit)
    severity, hurt = _severity(scene, schema, bool(protected))
    return Finding(
        code="captures-builtin",
        severity=severity,
        subject=name,
        title=f"flow schema {name} takes the requests of {first} into {level}" + (", which is in need" if hurt else ""),
        replicas=tuple(one.name for one in servers(scene)),
        level=schema.priority_level,
        schema=schema.name,
        evidence=(
            f"{name} has precedence {schema.precedence} and means {_subjects(schema)}: it is tried before "
            + listed(f"{one.name} ({one.precedence}, for {one.priority_level})" for one in hit),
            *((f"never reached, by their rules: {listed([one.name for one in whole], 12)}",) if whole else ()),
            *((f"now in {name}: {told(list(seen.values()))}",) if seen else ()),
            *traffic(scene, (schema, *hit[:4])),
        ),
        advice=(
            *((f"set {change.text}",) if change is not None else ()),
            f"{'then ' if change is not None else ''}name in {name} only those whom it is for, instead of "
            f"{_subjects(schema)}",
        ),
        change=change,
        facts={
            "captured": [plain(one.name) for one in hit],
            "whole": [plain(one.name) for one in whole],
            "levels_meant": sorted({plain(one.priority_level) for one in hit}),
            "requests_seen": len(seen),
        },
        weight=float(len(seen)),
    )


def _severity(scene: Scene, schema: FlowSchema, protected: bool) -> tuple[Severity, bool]:
    """Critical where what keeps nodes and leaders alive is delayed or refused where it is taken."""
    hurt = any(place.level.name == schema.priority_level and hurts(place.level) for place in places(scene))
    if protected:
        return ("critical" if hurt else "warning"), hurt
    return ("warning" if hurt else "info"), hurt


def _behind(order: Sequence[FlowSchema], schema: FlowSchema, last: FlowSchema) -> Change | None:
    """The schema after the last one that it takes requests from; None where it would then be reached by none."""
    precedence = free_behind(order, last)
    if precedence is None:
        return None
    before = [one for one in order if one.precedence < precedence and one.name != schema.name]
    if shadowed(schema, before):
        return None
    others = passed(order, schema, precedence)
    text = (
        f"matchingPrecedence of {plain(schema.name)} from {schema.precedence} to {precedence}, just behind "
        f"{plain(last.name)} ({last.precedence}), so that {listed(others)} get their requests"
    )
    return schema_change(schema, text, precedence=precedence)


def _subjects(schema: FlowSchema) -> str:
    names = dict.fromkeys(
        f"{one.namespace}/{one.name}" if one.kind == "ServiceAccount" else one.name
        for rule in schema.rules
        for one in rule.subjects
    )
    return listed(names)
