"""The order in which schemas are tried: which never get a request, and which share a precedence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import groupby, islice, product

from apftop.apf.builtins import builtin_levels
from apftop.apf.classify import Classifier
from apftop.apf.containment import Order, overlap, subject_covers
from apftop.apf.objects import MANDATORY, FlowSchema, Rule
from apftop.apf.subjects import EVERYBODY, USER, Key, key_of
from apftop.findings.policies.owners import as_built
from apftop.lint.captures import captures
from apftop.lint.nominal import nominal_seats
from apftop.lint.policy import Policy
from apftop.present import plain
from apftop.records.linting import Fault, Gravity

AT = "spec.matchingPrecedence"
FIRST_FREE = 2
"""The smallest precedence that a schema may have; 1 is for `exempt` alone."""

MOST_TOLD = 3
"""Of the schemas that one is tied with so many are named."""


def order(policy: Policy) -> Iterator[Fault]:
    """Faults of the order by (precedence, name); schemas whose level is missing are not tried."""
    order = tried(policy)
    tries = Order.of(order)
    reached: list[FlowSchema] = []
    for at, schema in enumerate(order):
        by = tries.shadowed(at)
        if not by:
            reached.append(schema)
            yield from _rules(policy, schema, tries, at)
        elif not as_built(schema):
            yield _never(policy, schema, by)
    yield from captures(policy, order, tries)
    yield from _ties(policy, reached)
    yield from _idle(policy, {one.priority_level for one in order}, {one.priority_level for one in reached})


def tried(policy: Policy) -> Sequence[FlowSchema]:
    """The schemas that servers try, in their order."""
    return Classifier(policy.after.schemas.values(), policy.after.levels.values()).schemas


def _never(policy: Policy, schema: FlowSchema, by: Sequence[FlowSchema]) -> Fault:
    text = f"it is never reached: {_named(by)} each of its requests before"
    gravity: Gravity = "error"
    if {one.priority_level for one in by} == {schema.priority_level}:
        gravity, text = "warning", f"{text}, for the same level"
    return policy.fault("FlowSchema", schema.name, "shadowed-schema", gravity, text, _way_out(by), AT)


def _rules(policy: Policy, schema: FlowSchema, tries: Order, place: int) -> Iterator[Fault]:
    """Rules of a given schema, some of which get requests, that get none."""
    if policy.document("FlowSchema", schema.name) is None or as_built(schema):
        return
    for number in range(len(schema.rules)):
        by = tries.shadowed(place, number)
        if by and {one.priority_level for one in by} != {schema.priority_level}:
            text = f"rule {number + 1} is never reached: {_named(by)} each of its requests before"
            at = f"spec.rules[{number}]"
            yield policy.fault("FlowSchema", schema.name, "shadowed-rule", "note", text, _way_out(by, "the rule"), at)


def _ties(policy: Policy, reached: Sequence[FlowSchema]) -> Iterator[Fault]:
    """Schemas that share a precedence and requests: once for each given one, with the first few of the others."""
    for _, group in groupby(reached, key=lambda one: one.precedence):
        tied = list(group)
        about: dict[Key, list[int]] = defaultdict(list)
        for place, one in enumerate(tied):
            for client in _clients(one):
                about[client].append(place)
        for place, mine in enumerate(tied):
            if policy.document("FlowSchema", mine.name) is None:
                continue
            clients = _clients(mine)
            # Those who name other single users share nothing with one that names single users.
            near = {at for client in {*clients, EVERYBODY} for at in about.get(client, ())}
            others = (
                tied[at]
                for at in (range(len(tied)) if EVERYBODY in clients else sorted(near))
                if at != place and _may_tie(policy, mine, tied[at], at < place)
            )
            if found := list(islice((other for other in others if overlap(mine.rules, other.rules)), MOST_TOLD + 1)):
                yield _tie(policy, mine, found)


def _may_tie(policy: Policy, mine: FlowSchema, other: FlowSchema, earlier: bool) -> bool:
    """Of two given schemas the later one is told of; what is built in is as it is meant."""
    if mine.priority_level == other.priority_level:
        return False
    if not earlier and policy.document("FlowSchema", other.name) is not None:
        return False
    return not (as_built(mine) and as_built(other))


def _clients(schema: FlowSchema) -> AbstractSet[Key]:
    """The single users that it names; everybody where it names others too."""
    keys = {key_of(subject) for rule in schema.rules for subject in rule.subjects}
    return keys if all(key[0] == USER for key in keys) else {EVERYBODY}


def _tie(policy: Policy, mine: FlowSchema, others: Sequence[FlowSchema]) -> Fault:
    surely = any(_share_surely(mine.rules, other.rules) for other in others)
    names = ", ".join(plain(other.name) for other in others[:MOST_TOLD])
    more = " and others" if len(others) > MOST_TOLD else ""
    share = "share requests" if surely else "share requests if somebody is meant by both"
    first = min((mine, *others), key=lambda one: one.name.encode())
    gets = f"then {plain(first.name)} gets them, by its name" if len(others) == 1 else "the first by name gets them"
    text = f"it and {names}{more} have precedence {mine.precedence} and {share}: {gets}"
    gravity: Gravity = "warning" if surely else "note"
    return policy.fault(
        "FlowSchema", mine.name, "precedence-tie", gravity, text, "give each a precedence of its own", AT
    )


def _idle(policy: Policy, meant: AbstractSet[str], reached: AbstractSet[str]) -> Iterator[Fault]:
    """Given levels to which only such schemas lead as get no requests."""
    nominal = nominal_seats(policy.after, policy)
    for name in sorted(meant - reached - MANDATORY - builtin_levels().keys()):
        if policy.document("PriorityLevelConfiguration", name) is None:
            continue
        leading = [plain(one.name) for one in policy.after.schemas.values() if one.priority_level == name]
        text = (
            f"only {' and '.join(leading)} would lead here, and no request comes that way: it takes "
            f"{nominal.get(name, 0)} of {policy.concurrency} nominal seats for nothing"
        )
        advice = "mend the order of the schemas, or delete it"
        yield policy.fault("PriorityLevelConfiguration", name, "idle-level", "warning", text, advice)


def _share_surely(rules: Sequence[Rule], others: Sequence[Rule]) -> bool:
    """Whether they share requests whatever groups users are in."""
    return any(
        (subject_covers(mine, its) or subject_covers(its, mine))
        and overlap([replace(rule, subjects=(mine,))], [replace(other, subjects=(its,))])
        for rule, other in product(rules, others)
        for mine, its in product(rule.subjects, other.subjects)
    )


def _named(by: Sequence[FlowSchema]) -> str:
    names = " and ".join(f"{plain(one.name)} ({one.precedence})" for one in by)
    return f"FlowSchema {names} matches" if len(by) == 1 else f"FlowSchemas {names} together match"


def _way_out(by: Sequence[FlowSchema], what: str = "it") -> str:
    first = min(one.precedence for one in by)
    # An object is never tried before `exempt`, and nobody's before precedence 2.
    if first <= FIRST_FREE:
        return f"delete {what}, or match other requests"
    return f"give the schema a precedence below {first}, or delete {what}"
