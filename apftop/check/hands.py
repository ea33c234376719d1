"""Queues that requests lie in against the hands of their flows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from apftop.apf.shards import deal_fault
from apftop.check.in_force import in_force_s
from apftop.check.judge import judged, unknown
from apftop.check.window import LevelWindow
from apftop.derive.dealt import hand_of
from apftop.records.checks import Check
from apftop.records.measures import NANOSECONDS
from apftop.records.parsed import RequestRow
from apftop.rules import rules

UNIT = "requests"


@dataclass(frozen=True, slots=True)
class Dealt:
    """One request in a queue, and the hand that its flow has by the level's object."""

    row: RequestRow
    hand: tuple[int, ...]

    @property
    def place(self) -> int | None:
        """Which card of the hand its queue is, from 0; None for none of them."""
        return self.hand.index(self.row.queue) if self.row.queue in self.hand else None


@dataclass(frozen=True, slots=True)
class Fewer:
    """Fewer queues than the level's object asks for, although it has long been written."""

    there: int
    asked: int


def hand(window: LevelWindow) -> Check | None:
    """Each request lies in a queue of its flow's hand, and there are as many queues as the object says (1.26 to 1.37).

    Over all dumps of the window, each request once, if it came after the level's object was last written. Does not
    apply to levels with fewer than two queues.
    """
    law, seconds = "hand", window.seconds or None
    dealt = _dealt(window)
    if dealt is None:
        return None
    if isinstance(dealt, str):
        return unknown(law, dealt, seconds=seconds)
    if isinstance(dealt, Fewer):
        reason = "the server has fewer queues than the object asks for: it goes by another object"
        return judged(law, dealt.there, dealt.asked, dealt.asked, 0.0, "queues", seconds=seconds, reason=reason)
    outside = [one for one in dealt if one.place is None]
    return judged(
        law,
        len(outside),
        0.0,
        0.0,
        0.0,
        UNIT,
        seconds=seconds,
        about=_where(outside[0]) if outside else _of_flows(dealt),
        reason=f"{len(outside)} of {len(dealt)} requests outside of their hands: the server goes by another object",
    )


def whole_hand(window: LevelWindow) -> Check | None:
    """All cards are played: a hand that is told larger than it is has the same first cards, and others that never come.

    The card of a request depends on the load, but the first that is tried moves on by one with each that comes to the
    level, whatever its flow (1.26 to 1.37). So what is told is that no request of any flow lies in the last cards of
    its hand, where there are so many requests that this is no chance. Does not apply to levels with fewer than two
    queues, or hands of one card.
    """
    law, seconds = "whole-hand", window.seconds or None
    dealt = _dealt(window)
    if dealt is None:
        return None
    if not isinstance(dealt, list):
        return unknown(law, "queues as the object has them" if isinstance(dealt, Fewer) else dealt, seconds=seconds)
    size = len(dealt[0].hand)
    places = [place for one in dealt if (place := one.place) is not None]
    if size == 1:
        return None
    if not places:
        return unknown(law, "requests inside of their hands", seconds=seconds)
    used = max(places) + 1
    if used < size:
        needed = math.ceil(math.log(rules().check.hands.chance) / math.log(used / size))
        if len(places) < needed:
            missing = f"more requests: {len(places)} lie in the first {used} of {size} cards, which {needed} would tell"
            return unknown(law, missing, seconds=seconds)
    return judged(
        law,
        used,
        size,
        size,
        0.0,
        "cards",
        seconds=seconds,
        about=_of_flows(dealt),
        reason=f"no flow plays the last {size - used} of its {size} cards: the server deals smaller hands",
    )


def _dealt(window: LevelWindow) -> list[Dealt] | Fewer | str | None:
    """The requests that tell something, at least one; else what is missing. None where no hands are dealt."""
    config = window.config
    if window.exempt:
        return None
    if config is None:
        return "the level's object"
    if config.queuing is None or config.queuing.queues < 2:
        return None
    queuing = config.queuing
    if fault := deal_fault(queuing.queues, queuing.hand_size):
        return f"a hand that can be dealt: {fault}"
    if not window.same_config:
        return "one object of the level over all of the window: it changed"
    if all(one.rows is None for one in window.instants):
        return "a dump of requests"
    since = in_force_s(window)
    if since is None:
        return "since when the server goes by the level's object"
    there = list(_queues(window))
    if any(number > queuing.queues for number in there):
        return f"{queuing.queues} queues: after a change some more are still draining"
    if any(number < queuing.queues for number in there):
        long_written = window.first.dump_s is not None and since <= window.first.dump_s
        return Fewer(min(there), queuing.queues) if long_written else "queues as the object has them: it is new"
    rows = {
        row.key: row
        for one in window.instants
        for row in one.rows or ()
        if row.queue >= 0 and row.arrive_ns / NANOSECONDS >= since and _readable(row)
    }
    if not rows:
        return "a request in a queue that came after the level's object was written"
    flows = {(row.schema, row.distinguisher): row for row in rows.values()}
    hands = {flow: hand_of(row, queuing) for flow, row in flows.items()}
    told = {flow: one for flow, one in hands.items() if one is not None}
    if len(told) < len(flows):
        return "the hands of all flows: not all were kept"
    return [Dealt(row, told[row.schema, row.distinguisher]) for row in rows.values()]


def _queues(window: LevelWindow) -> Iterator[int]:
    """How many there are, by each dump of queues that has the level."""
    for one in window.instants:
        rows = one.point.queue_rows.get(window.name) if one.point.queue_rows is not None else None
        if rows:
            yield len(rows)


def _readable(row: RequestRow) -> bool:
    """Whether the flow is told as a server tells it: a tab in somebody's name takes a dump's columns apart."""
    return row.details is None or row.distinguisher in ("", row.details.user, row.details.namespace)


def _where(one: Dealt) -> str:
    flow = f"{one.row.schema}/{one.row.distinguisher}" if one.row.distinguisher else one.row.schema
    return f"{flow} in queue {one.row.queue}, its hand is {' '.join(str(queue) for queue in one.hand)}"


def _of_flows(dealt: list[Dealt]) -> str:
    flows = {(one.row.schema, one.row.distinguisher) for one in dealt}
    return f"{len(dealt)} requests of {len(flows)} flows"
