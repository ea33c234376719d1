"""Resource rules as sets of requests: what one list of values leaves of another, and whether rules fill another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from apftop.apf.objects import ResourceRule

KEPT = 1 << 16


@dataclass(frozen=True, slots=True)
class Values:
    """The values of one list: these, or with `rest` all but these."""

    names: frozenset[str]
    rest: bool = False

    def __contains__(self, value: str | None) -> bool:
        """Whether it has a value; None stands for one that nobody lists."""
        return (value in self.names) != self.rest

    def __sub__(self, other: Values) -> Values:
        if self.rest and other.rest:
            return Values(other.names - self.names)
        if self.rest:
            return Values(self.names | other.names, True)
        return Values(self.names & other.names if other.rest else self.names - other.names)

    def __bool__(self) -> bool:
        return self.rest or bool(self.names)

    def within(self, other: Values) -> bool:
        if self.rest:
            return other.rest and other.names <= self.names
        return self.names.isdisjoint(other.names) if other.rest else self.names <= other.names

    def meets(self, other: Values) -> bool:
        if self.rest:
            return other.rest or not other.names <= self.names
        return not self.names <= other.names if other.rest else not self.names.isdisjoint(other.names)


Box = tuple[Values, Values, Values, Values]
"""Resources, verbs, API groups, and namespaces with `` for what has none: a request matches that is in all of them."""


def values(names: Sequence[str]) -> Values:
    return Values(frozenset(), True) if tuple(names) == ("*",) else Values(frozenset(names))


@lru_cache(maxsize=KEPT)
def box(rule: ResourceRule) -> Box:
    scope = values(rule.namespaces)
    if scope.rest:
        scope = Values(frozenset() if rule.cluster_scope else frozenset({""}), True)
    else:
        scope = Values(scope.names - {""} | ({""} if rule.cluster_scope else set()))
    return (values(rule.resources), values(rule.verbs), values(rule.api_groups), scope)


def boxes_meet(one: Box, other: Box) -> bool:
    # Namespaces first: of many rules they tell most apart.
    return one[3].meets(other[3]) and one[0].meets(other[0]) and one[1].meets(other[1]) and one[2].meets(other[2])


def filled(whole: Box, boxes: Sequence[Box]) -> bool:
    """Whether the boxes together have all that one has; exact, for any number of them."""
    return not all(whole) or _filled(whole, boxes, 0)


def _filled(whole: Box, boxes: Sequence[Box], at: int) -> bool:
    """The same from one list on, for boxes that have the values which were picked from the lists before."""
    if not boxes:
        return False
    mine = whole[at]
    if at == len(whole) - 1:
        for one in boxes:
            mine = mine - one[at]
        return not mine
    if any(all(map(Values.within, whole[at:], one[at:])) for one in boxes):
        return True
    return all(_filled(whole, [one for one in boxes if value in one[at]], at + 1) for value in _picked(mine, boxes, at))


def _picked(mine: Values, boxes: Sequence[Box], at: int) -> Iterator[str | None]:
    """Enough values of a list: those that no box lists are all alike, and one of them stands for them."""
    if not mine.rest:
        yield from mine.names
        return
    yield None
    yield from frozenset().union(*(one[at].names for one in boxes)) - mine.names
