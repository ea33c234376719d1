"""Whether rules of flow schemas cover those of others: each request that these match, those match too (1.26 to 1.37).

It goes by what API servers give out. Taken for granted is: each request is in `system:authenticated`, or is
`system:anonymous` and in `system:unauthenticated` alone; a user whose name begins with `system:serviceaccount:` is a
service account, in its three groups and no others; a user `system:node:NAME` is in `system:nodes`. Who impersonates
somebody with other groups than these, or brings such a name by a certificate, a proxy or a webhook, is none of them.

Names and values that no rule lists are taken for possible, and so is each request that can be written. Hence these
false negatives, where `covers` is False (and `overlap` True) though no request of the cluster at hand shows it:

- members: a group all of whose members are named, or a user by a group that it is in: rules do not tell who is in one.
- accounts: all service accounts, of all namespaces or of one, by rules that name each that there is.
- namespaces: all namespaces, by rules that name each that there is.
- resources: all resources or API groups, by rules that name each that there is.
- unserved: what no server answers, such as pods of the group apps, nodes in a namespace, a list of `pods/status`,
  OPTIONS of a resource, or a method LIST of a URL: it can be sent, and is classified before it fails.
- unseen: what flow control never sees, such as `pods/exec`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Self

from apftop.apf.boxes import Box, box, boxes_meet, filled, values
from apftop.apf.objects import FlowSchema, NonResourceRule, Rule, Subject
from apftop.apf.request_path import path_parts
from apftop.apf.subjects import Key, covering, halves, key_of, meet


def covers(rules: Iterable[Rule], others: Iterable[Rule]) -> bool:
    """Whether every request that any of `others` matches is matched by one of `rules`: a proof, never a guess.

    False means that some request can be written that is not.
    """
    given = _parts(rules)
    for key, target in (piece for other in _parts(others) for piece in other.pieces()):
        clients = covering(key)
        about = (part for part in given if not clients.isdisjoint(part.keys))
        if not _filled(target, [one for part in about for one in part.meeting(target)]):
            return False
    return True


def overlap(rules: Iterable[Rule], others: Iterable[Rule]) -> bool:
    """Whether there is a request that one of `rules` and one of `others` match."""
    given = _parts(others)
    return any(
        any(meet(*keys) for keys in product(one.keys, other.keys)) and _targets_meet(one, other)
        for one in _parts(rules)
        for other in given
    )


def shadowed(schema: FlowSchema, earlier: Iterable[FlowSchema]) -> tuple[FlowSchema, ...]:
    """Of the schemas tried before, those that leave none of its requests to it: one where one is enough.

    Empty where some request gets through to it, or where it matches none at all. For each of many schemas, `Order` is
    the quicker way.
    """
    order = (*earlier, schema)
    return Order.of(order).shadowed(len(order) - 1)


@dataclass(frozen=True, slots=True)
class Order:
    """Schemas in their order, with their rules by whom and which namespace they are about, each with the place of its
    schema: under each namespace that they name, under `*` those that may be for any, and under None all.
    """

    order: Sequence[FlowSchema]
    parts: Sequence[Sequence[_Part]]
    about: Mapping[tuple[Key, str | None], Sequence[tuple[int, _Part]]]

    @classmethod
    def of(cls, order: Sequence[FlowSchema]) -> Self:
        parts = [_parts(schema.rules) for schema in order]
        about = defaultdict(list)
        for place, its in enumerate(parts):
            for part in its:
                for at in product(part.keys, {None, *(part.namespaces() or "*")}):
                    about[at].append((place, part))
        return cls(order, parts, dict(about))

    def shadowed(self, place: int, rule: int | None = None) -> tuple[FlowSchema, ...]:
        """As `shadowed` says of the schema at a place, or of one of its rules alone."""
        wanted: list[_Wanted] = []
        own = self.parts[place] if rule is None else self.parts[place][rule : rule + 1]
        for key, target in (piece for part in own for piece in part.pieces()):
            scope = None if isinstance(target, NonResourceRule) or target[3].rest else target[3].names
            names = {None} if scope is None else {"*", *scope}
            near = product(covering(key), names)
            before = (one for at in near for one in self.about.get(at, ()) if one[0] < place)
            wanted.append((target, [(at, one) for at, part in before for one in part.meeting(target)]))
            if not _filled(target, [one for _, one in wanted[-1][1]]):
                return ()
        if not wanted:
            return ()
        alone = set.intersection(*({at for at, _ in its} for _, its in wanted))
        for at in sorted(alone):
            if _enough(wanted, {at}):
                return (self.order[at],)
        return tuple(self.order[at] for at in _needed(wanted))


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
    return key_of(one) in covering(key_of(other))


@dataclass(frozen=True, slots=True)
class _Part:
    """One rule: who is meant, and its targets."""

    keys: frozenset[Key]
    boxes: tuple[Box, ...]
    urls: tuple[NonResourceRule, ...]

    def pieces(self) -> Iterator[_Piece]:
        """One key and one target each that some request has, everybody by halves."""
        targets: list[_Target] = [one for one in self.boxes if all(one)]
        for rule in self.urls:
            targets += [NonResourceRule(rule.verbs, (url,)) for url in rule.urls if rule.verbs and _has_paths(url)]
        yield from product(dict.fromkeys(half for key in self.keys for half in halves(key)), targets)

    def namespaces(self) -> frozenset[str]:
        """All namespaces that it names, `` for what has none; empty where it is for any, or has URLs."""
        scopes = [one[3] for one in self.boxes]
        if self.urls or any(one.rest for one in scopes):
            return frozenset()
        return frozenset().union(*(one.names for one in scopes))

    def meeting(self, target: _Target) -> Sequence[_Target]:
        """Its own targets that may share requests with another one."""
        if isinstance(target, NonResourceRule):
            return self.urls
        return [one for one in self.boxes if boxes_meet(one, target)]


_Target = Box | NonResourceRule
_Piece = tuple[Key, _Target]
_Wanted = tuple[_Target, Sequence[tuple[int, _Target]]]
"""A target, and those of the rules before that have to do with it, each with the place of its schema."""


def _parts(rules: Iterable[Rule]) -> list[_Part]:
    return [
        _Part(frozenset(map(key_of, one.subjects)), tuple(map(box, one.resource_rules)), one.non_resource_rules)
        for one in rules
    ]


def _filled(target: _Target, others: Sequence[_Target]) -> bool:
    """Whether the others match all requests to one target."""
    if not isinstance(target, NonResourceRule):
        return filled(target, [one for one in others if not isinstance(one, NonResourceRule)])
    verbs, (url,) = values(target.verbs), target.urls
    for other in others:
        # A URL that others cover together is covered by one of them: only verbs add up.
        if isinstance(other, NonResourceRule) and any(_url_covers(one, url) for one in other.urls):
            verbs = verbs - values(other.verbs)
    return not verbs


def _enough(wanted: Iterable[_Wanted], places: Container[int]) -> bool:
    return all(_filled(target, [one for at, one in its if at in places]) for target, its in wanted)


def _needed(wanted: Sequence[_Wanted]) -> Sequence[int]:
    """Of the places that are enough together, so many that none can be left out."""
    left = sorted({at for _, its in wanted for at, _ in its})
    needed: set[int] = set()
    while not _enough(wanted, needed):
        # Of the shortest beginning that is enough, the last one is needed.
        last = bisect_left(range(len(left)), True, key=lambda end: _enough(wanted, needed.union(left[: end + 1])))
        needed.add(left[last])
        left = left[:last]
    return sorted(needed)


def _url_covers(one: str, other: str) -> bool:
    """Whether all paths of a URL of a rule are those of another: itself, and what is below it."""
    if one in ("*", other):
        return True
    return other != "*" and other.startswith(_below(one)) and _below(other).startswith(_below(one))


def _below(url: str) -> str:
    prefix = url.removesuffix("*")
    return prefix if prefix.endswith("/") else prefix + "/"


def _has_paths(url: str) -> bool:
    """Whether it has a path that is not a resource's, and so is looked for among non-resource rules."""
    return not path_parts(url.removesuffix("*")).resource_request


def _targets_meet(one: _Part, other: _Part) -> bool:
    if any(boxes_meet(mine, its) for mine, its in product(one.boxes, other.boxes)):
        return True
    return any(
        values(mine.verbs).meets(values(its.verbs)) and any(_urls_meet(*urls) for urls in product(mine.urls, its.urls))
        for mine, its in product(one.urls, other.urls)
    )


def _urls_meet(one: str, other: str) -> bool:
    if not _has_paths(one) or not _has_paths(other):
        return False
    if "*" in (one, other) or one == other:
        return True
    mine, its = _below(one), _below(other)
    return one.startswith(its) or other.startswith(mine) or mine.startswith(its) or its.startswith(mine)
