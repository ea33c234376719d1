"""Whether rules of flow schemas cover those of others: each request that these match, those match too (1.26 to 1.37).

Of users and groups it takes for granted what API servers give out: each request is in `system:authenticated` or is
`system:anonymous` in `system:unauthenticated`; a service account is in its three groups and no others; a user
`system:node:NAME` is in `system:nodes`. Names and values that no rule lists are taken for possible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from apftop.apf.matching import SERVICE_ACCOUNT_PREFIX
from apftop.apf.objects import FlowSchema, NonResourceRule, ResourceRule, Rule, Subject

ANONYMOUS = "system:anonymous"
UNAUTHENTICATED = "system:unauthenticated"
AUTHENTICATED = "system:authenticated"
ACCOUNTS = "system:serviceaccounts"
NODES = "system:nodes"
NODE_PREFIX = "system:node:"
MOST_PARTS = 1000
"""What is left of one rule may fall into so many parts before the proof is given up."""


def covers(rules: Iterable[Rule], others: Iterable[Rule]) -> bool:
    """Whether every request that any of `others` matches is matched by one of `rules`: a proof, never a guess.

    False means that some request is not, or (after `MOST_PARTS`) that it would take too long to tell.
    """
    given = tuple(rules)
    return all(_covered(piece, given) for other in others for piece in pieces(other))


def overlap(rules: Iterable[Rule], others: Iterable[Rule]) -> bool:
    """Whether there is a request that one of `rules` and one of `others` match."""
    return any(
        any(_meet(one, another) for one in rule.subjects for another in other.subjects) and _targets_meet(rule, other)
        for rule, other in product(tuple(rules), tuple(others))
    )


def shadowed(schema: FlowSchema, earlier: Sequence[FlowSchema]) -> tuple[FlowSchema, ...]:
    """Of the schemas tried before, those that leave none of its requests to it: one where one is enough.

    Empty where some request gets through to it, or where it matches none at all.
    """
    if not any(True for rule in schema.rules for _ in pieces(rule)):
        return ()
    # Most schemas are about other clients: a look at the subjects leaves few.
    halves = {half for rule in schema.rules for subject in rule.subjects for half in _halves(subject)}
    needed = [one for one in earlier if _about_any(one, halves)]
    for one in needed:
        if covers(one.rules, schema.rules):
            return (one,)
    if not covers(_all_rules(needed), schema.rules):
        return ()
    for one in reversed(needed.copy()):
        rest = [other for other in needed if other is not one]
        if covers(_all_rules(rest), schema.rules):
            needed = rest
    return tuple(needed)


def pieces(rule: Rule) -> Iterator[Rule]:
    """A rule as rules of one subject and one target each; a target is one resource rule, or one URL."""
    for subject in rule.subjects:
        for resource_rule in rule.resource_rules:
            yield Rule((subject,), (resource_rule,))
        for other in rule.non_resource_rules:
            for url in other.urls:
                yield Rule((subject,), (), (NonResourceRule(other.verbs, (url,)),))


def subject_covers(one: Subject, other: Subject) -> bool:
    """Whether each request of the other subject is one of this."""
    if _anyone(one):
        return True
    if _anyone(other):
        return False
    if one.kind == "Group":
        return one.name in _groups(other)
    user, of = _user(one), _user(other)
    if user is not None:
        return user == of or (user == ANONYMOUS and other == Subject("Group", UNAUTHENTICATED))
    # All service accounts of a namespace.
    return f"{ACCOUNTS}:{one.namespace}" in _groups(other)


def groups_by_name(user: str) -> tuple[str, ...]:
    """The groups that a server gives a user of this name, whatever else the user is in."""
    if user == ANONYMOUS:
        return (UNAUTHENTICATED,)
    namespace, colon, _ = user.removeprefix(SERVICE_ACCOUNT_PREFIX).partition(":")
    if user.startswith(SERVICE_ACCOUNT_PREFIX) and colon:
        return (ACCOUNTS, f"{ACCOUNTS}:{namespace}", AUTHENTICATED)
    return (NODES, AUTHENTICATED) if user.startswith(NODE_PREFIX) else (AUTHENTICATED,)


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of one list: these, or all but these."""

    names: frozenset[str]
    rest: bool = False

    def __and__(self, other: _Values) -> _Values:
        if self.rest and other.rest:
            return _Values(self.names | other.names, True)
        if self.rest:
            return _Values(other.names - self.names)
        return _Values(self.names - other.names if other.rest else self.names & other.names)

    def __sub__(self, other: _Values) -> _Values:
        return self & _Values(other.names, not other.rest)

    def __bool__(self) -> bool:
        return self.rest or bool(self.names)


_Box = tuple[_Values, ...]
"""Verbs, resources, API groups, and namespaces with `` for what has none: a request matches that is in all of them."""


def _values(names: tuple[str, ...]) -> _Values:
    return _Values(frozenset(), True) if names == ("*",) else _Values(frozenset(names))


def _box(rule: ResourceRule) -> _Box:
    scope = _values(rule.namespaces) - _Values(frozenset({""}))
    if rule.cluster_scope:
        scope = _Values(scope.names - {""}, True) if scope.rest else _Values(scope.names | {""})
    return (_values(rule.verbs), _values(rule.resources), _values(rule.api_groups), scope)


def _covered(piece: Rule, rules: Sequence[Rule]) -> bool:
    """Whether the rules match all requests of one subject to one target."""
    (subject,) = piece.subjects
    for half in _halves(subject):
        about = [rule for rule in rules if any(subject_covers(one, half) for one in rule.subjects)]
        if piece.resource_rules:
            found = _filled(_box(piece.resource_rules[0]), [_box(one) for rule in about for one in rule.resource_rules])
        else:
            found = _url_filled(piece.non_resource_rules[0], [one for rule in about for one in rule.non_resource_rules])
        if not found:
            return False
    return True


def _halves(subject: Subject) -> tuple[Subject, ...]:
    """The subject; everybody by the two groups of which each request is in one."""
    if not _anyone(subject):
        return (subject,)
    return (Subject("Group", AUTHENTICATED), Subject("Group", UNAUTHENTICATED))


def _about_any(schema: FlowSchema, subjects: Iterable[Subject]) -> bool:
    mine = [one for rule in schema.rules for one in rule.subjects]
    return any(subject_covers(one, subject) for subject in subjects for one in mine)


def _filled(box: _Box, boxes: Iterable[_Box]) -> bool:
    """Whether the boxes together fill another one: what each leaves of it is cut into parts."""
    left = [box] if all(box) else []
    for one in boxes:
        left = [part for has in left for part in _outside(has, one)]
        if len(left) > MOST_PARTS:
            return False
    return not left


def _outside(box: _Box, other: _Box) -> Iterator[_Box]:
    if not all(mine & its for mine, its in zip(box, other, strict=True)):
        yield box
        return
    for at, (mine, its) in enumerate(zip(box, other, strict=True)):
        if beyond := mine - its:
            yield (*box[:at], beyond, *box[at + 1 :])
        box = (*box[:at], mine & its, *box[at + 1 :])


def _url_filled(rule: NonResourceRule, others: Iterable[NonResourceRule]) -> bool:
    verbs, (url,) = _values(rule.verbs), rule.urls
    for other in others:
        if any(_url_covers(one, url) for one in other.urls):
            verbs = verbs - _values(other.verbs)
    return not verbs


def _url_covers(one: str, other: str) -> bool:
    """Whether all paths of a URL of a rule are those of another: itself, and what is below it."""
    if one in ("*", other):
        return True
    return other != "*" and other.startswith(_below(one)) and _below(other).startswith(_below(one))


def _below(url: str) -> str:
    prefix = url.removesuffix("*")
    return prefix if prefix.endswith("/") else prefix + "/"


def _targets_meet(rule: Rule, other: Rule) -> bool:
    for one, another in product(map(_box, rule.resource_rules), map(_box, other.resource_rules)):
        if all(mine & its for mine, its in zip(one, another, strict=True)):
            return True
    return any(
        bool(_values(mine.verbs) & _values(its.verbs))
        and any(_urls_meet(*urls) for urls in product(mine.urls, its.urls))
        for mine, its in product(rule.non_resource_rules, other.non_resource_rules)
    )


def _urls_meet(one: str, other: str) -> bool:
    if "*" in (one, other) or one == other:
        return True
    mine, its = _below(one), _below(other)
    return one.startswith(its) or other.startswith(mine) or mine.startswith(its) or its.startswith(mine)


def _anyone(subject: Subject) -> bool:
    return subject.kind != "ServiceAccount" and subject.name == "*"


def _user(subject: Subject) -> str | None:
    """The one user that a subject is, if it is one."""
    if subject.kind == "User":
        return subject.name
    if subject.kind == "Group" or subject.name == "*":
        return None
    return f"{SERVICE_ACCOUNT_PREFIX}{subject.namespace}:{subject.name}"


def _groups(subject: Subject) -> tuple[str, ...]:
    """The groups that all of a subject are in."""
    if subject.kind == "ServiceAccount":
        return groups_by_name(f"{SERVICE_ACCOUNT_PREFIX}{subject.namespace}:{subject.name}")
    if subject.kind == "User":
        return groups_by_name(subject.name)
    if subject.name == UNAUTHENTICATED:
        return (UNAUTHENTICATED,)
    accounts = (ACCOUNTS,) if subject.name.startswith(f"{ACCOUNTS}:") else ()
    return (subject.name, *accounts, AUTHENTICATED)


def _meet(one: Subject, other: Subject) -> bool:
    """Whether a request can be of both."""
    if _anyone(one) or _anyone(other) or subject_covers(one, other) or subject_covers(other, one):
        return True
    # What is left of anonymous requests, and of two service accounts or namespaces of them, has nothing in common.
    closed = (UNAUTHENTICATED, ACCOUNTS)
    if any(group in _groups(subject) for group in closed for subject in (one, other)):
        return False
    return _user(one) is None or _user(other) is None


def _all_rules(schemas: Iterable[FlowSchema]) -> list[Rule]:
    return [rule for schema in schemas for rule in schema.rules]
