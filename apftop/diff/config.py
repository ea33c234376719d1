"""FlowSchemas and PriorityLevelConfigurations field by field, in the names that kubectl shows.

Only what a spec means counts: the API version, what a server fills in, `metadata` and `status` do not. The order of
rules and of what they list says nothing, nor does a repeat (1.26 to 1.37: any subject and any target may match).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from apftop.apf.objects import (
    FlowSchema,
    NonResourceRule,
    PriorityLevelConfiguration,
    ResourceRule,
    Rule,
    Subject,
)
from apftop.diff.change import Change, How, Value
from apftop.records.frame import Frame, Replica
from apftop.records.raw import Endpoint

Made = FlowSchema | PriorityLevelConfiguration
KINDS = {"FlowSchema": Endpoint.SCHEMAS, "PriorityLevelConfiguration": Endpoint.CONFIGS}


@dataclass(frozen=True, slots=True)
class Policy:
    """The objects of one kind that a side shows, by name: `unclear` are those on which its servers do not agree.

    `whole` is False where some could not be read, so that one that is missing may be there.
    """

    objects: Mapping[str, Made]
    unclear: frozenset[str] = frozenset()
    whole: bool = True


def policy_of(frame: Frame, kind: str) -> Policy | None:
    """What the servers of a frame show of one kind; None where no server tells."""
    shown = [found for one in frame.servers if (found := _shown(one, kind)) is not None]
    if not shown:
        return None
    names = {name for one in shown for name in one}
    unclear = {name for name in names if any(_meant(one.get(name)) != _meant(shown[0].get(name)) for one in shown)}
    objects = {name: made for one in reversed(shown) for name, made in one.items()}
    problems = [line for one in frame.servers for line in one.problems]
    whole = not any(kind in line or KINDS[kind] in line for line in problems)
    return Policy(objects, frozenset(unclear), whole)


def _shown(replica: Replica, kind: str) -> dict[str, Made] | None:
    some = replica.schemas if kind == "FlowSchema" else replica.levels
    found = {one.name: one.config for one in some.values() if one.config is not None}
    # No server is without objects of its own: it shows none where they were not read.
    return found or None


def _meant(made: Made | None) -> object:
    return None if made is None else dict(fields(made))


def config_changes(old: Frame, new: Frame) -> Iterator[Change]:
    """Every field of every object that either side shows."""
    for kind in KINDS:
        was, now = policy_of(old, kind), policy_of(new, kind)
        if was is None or now is None:
            if was is not None or now is not None:
                yield Change("config", kind, "unknown", name=kind, note=_unread(was))
            continue
        for name in sorted({*was.objects, *now.objects}):
            yield from _object(f"{kind}/{name}", name, was, now)


def _unread(was: Policy | None) -> str:
    return f"not read {'before' if was is None else 'after'}: objects of this kind are not compared"


def _object(label: str, name: str, was: Policy, now: Policy) -> Iterator[Change]:
    if name in was.unclear or name in now.unclear:
        side = "before" if name in was.unclear else "after"
        yield Change("config", "spec", "unknown", name=label, note=f"servers showed different objects {side}")
        return
    old, new = was.objects.get(name), now.objects.get(name)
    if old is not None and new is not None:
        yield from spec_changes(label, old, new)
    elif not (was if old is None else now).whole:
        side = "before" if old is None else "after"
        yield Change("config", "spec", "unknown", name=label, note=f"not all objects could be read {side}")
    elif old is None and new is not None:
        yield Change("config", "spec", "added", None, _words(new), name=label)
    elif old is not None:
        yield Change("config", "spec", "removed", _words(old), None, name=label)


def _words(made: Made) -> tuple[str, ...]:
    return tuple(f"{field}={_text(value)}" for field, value in fields(made) if field != "spec.rules")


def spec_changes(label: str, old: Made, new: Made) -> Iterator[Change]:
    """The fields of two objects of one kind and name; a field that is not set on one of the sides is None there."""
    was, now = dict(fields(old)), dict(fields(new))
    if isinstance(old, FlowSchema) and isinstance(new, FlowSchema):
        left, right = _rules_apart(old.rules, new.rules)
        was |= left
        now |= right
    for field in [*was, *(one for one in now if one not in was)]:
        before, after = was.get(field), now.get(field)
        how: How = "equal" if before == after else "changed"
        yield Change("config", field, how, before, after, name=label, difference=_less(before, after))


def _less(old: Value, new: Value) -> float | None:
    return new - old if isinstance(old, int) and isinstance(new, int) else None


def fields(made: Made) -> Iterator[tuple[str, Value]]:
    """What a spec says by field; rules are in `spec.rules`, a text each."""
    if isinstance(made, FlowSchema):
        yield "spec.priorityLevelConfiguration.name", made.priority_level
        yield "spec.matchingPrecedence", made.precedence
        yield "spec.distinguisherMethod.type", made.distinguisher
        yield "spec.rules", _texts(made.rules)
        return
    part = "spec.exempt" if made.exempt else "spec.limited"
    yield "spec.type", "Exempt" if made.exempt else "Limited"
    yield f"{part}.nominalConcurrencyShares", made.shares
    yield f"{part}.lendablePercent", made.lendable_percent
    if made.exempt:
        return
    yield f"{part}.borrowingLimitPercent", made.borrowing_limit_percent
    yield f"{part}.limitResponse.type", "Reject" if made.queuing is None else "Queue"
    if made.queuing is not None:
        yield f"{part}.limitResponse.queuing.queues", made.queuing.queues
        yield f"{part}.limitResponse.queuing.handSize", made.queuing.hand_size
        yield f"{part}.limitResponse.queuing.queueLengthLimit", made.queuing.queue_length_limit


def _rules_apart(old: tuple[Rule, ...], new: tuple[Rule, ...]) -> tuple[dict[str, Value], dict[str, Value]]:
    """The rules of both sides by field, where as many differ on both; they are paired in their order."""
    was, now = _texts(old), _texts(new)
    gone = [(number, one) for number, one in enumerate(old) if _text(one) not in now]
    come = [(number, one) for number, one in enumerate(new) if _text(one) not in was]
    if not gone or len(gone) != len(come):
        return {}, {}
    left: dict[str, Value] = {"spec.rules": ()}
    right: dict[str, Value] = {"spec.rules": ()}
    for pair, ((first, before), (second, after)) in enumerate(zip(gone, come, strict=True)):
        # The pair's own number names it, where the rule has moved.
        place = f"spec.rules[{first}]" if first == second else f"spec.rules[{pair} of those that differ]"
        left |= {f"{place}.{name}": value for name, value in _parts(before)}
        right |= {f"{place}.{name}": value for name, value in _parts(after)}
    return left, right


def _parts(rule: Rule) -> Iterator[tuple[str, Value]]:
    yield "subjects", _texts(rule.subjects)
    yield "resourceRules", _texts(rule.resource_rules)
    yield "nonResourceRules", _texts(rule.non_resource_rules)


def _texts(some: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(sorted({_text(one) for one in some}))


def _text(one: object) -> str:
    return one if isinstance(one, str) else json.dumps(_json(one), ensure_ascii=False)


def _json(one: object) -> object:
    """A part of a rule as kubectl shows it, its lists sorted and without repeats."""
    match one:
        case Subject(kind="ServiceAccount"):
            return {"kind": one.kind, "serviceAccount": {"namespace": one.namespace, "name": one.name}}
        case Subject():
            return {"kind": one.kind, one.kind.lower(): {"name": one.name}}
        case ResourceRule():
            return {
                "verbs": _set(one.verbs),
                "apiGroups": _set(one.api_groups),
                "resources": _set(one.resources),
                "namespaces": _set(one.namespaces),
                "clusterScope": one.cluster_scope,
            }
        case NonResourceRule():
            return {"verbs": _set(one.verbs), "nonResourceURLs": _set(one.urls)}
        case Rule():
            return {
                "subjects": [json.loads(text) for text in _texts(one.subjects)],
                "resourceRules": [json.loads(text) for text in _texts(one.resource_rules)],
                "nonResourceRules": [json.loads(text) for text in _texts(one.non_resource_rules)],
            }
    return one


def _set(some: tuple[str, ...]) -> list[str]:
    return sorted(set(some))
