"""Queues of levels that do other than most people mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from apftop.apf.allocation import LEVEL_SEAT_CAP_SINCE, level_seat_cap
from apftop.apf.collisions import squeezed_chance
from apftop.apf.objects import PriorityLevelConfiguration, Queuing
from apftop.apf.release import holds
from apftop.apf.shards import hand_fault
from apftop.lint.flows import is_one_user
from apftop.lint.nominal import nominal_seats
from apftop.lint.policy import Document, Policy
from apftop.lint.unchanged import is_old
from apftop.present import percent
from apftop.records.linting import Fault

CAUGHT = 0.01
"""A greater chance than this that one heavy flow takes all queues of a light one is told."""

SHORT = 0.5
"""A flow whose places to wait are fewer than this share of the level's seats is refused in each burst."""

AT = "spec.limited.limitResponse.queuing"


def queues(policy: Policy) -> Iterator[Fault]:
    """Faults of the given levels' queues; those whose hand cannot be dealt are told elsewhere."""
    before, nominal = nominal_seats(policy.before, policy), nominal_seats(policy.after, policy)
    for document in policy.given:
        level = document.object
        if not isinstance(level, PriorityLevelConfiguration) or level.queuing is None:
            continue
        if hand_fault(level.queuing.queues, level.queuing.hand_size):
            continue
        if not is_old(level, policy):
            yield from _apart(document, level, level.queuing, policy)
            yield from _short(document, level.queuing, nominal.get(level.name, 0))
        had = _cap(policy.before.levels.get(level.name), before) if is_old(level, policy) else None
        if holds(policy.target, LEVEL_SEAT_CAP_SINCE) and _cap(level, nominal) == 1 != had:
            yield _capped(document, level.queuing.hand_size, nominal[level.name])


def _apart(document: Document, level: PriorityLevelConfiguration, queuing: Queuing, policy: Policy) -> Iterator[Fault]:
    """How far flows are out of each other's way; nobody knows of a level whose schemas are not here."""
    leading = [one for one in policy.after.schemas.values() if one.priority_level == level.name]
    if not leading or (len(leading) == 1 and is_one_user(leading[0])):
        return
    if queuing.queues == 1:
        text = "it has one queue: flows are not told apart, whatever the schemas say"
        yield document.fault("one-queue", "warning", text, "more queues tell flows apart", f"{AT}.queues")
        return
    chance = squeezed_chance(queuing.queues, queuing.hand_size, heavy=1)
    if chance <= CAUGHT:
        return
    text = f"a flow that fills its queues leaves another one none of its own with a chance of {percent(chance)}"
    if queuing.hand_size == queuing.queues:
        text = "handSize is as large as queues: one flow can fill them all, and then all others wait behind it"
    advice = "more queues, such as 64 with a handSize of 6"
    yield document.fault("hands-collide", "warning", text, advice, f"{AT}.handSize")


def _short(document: Document, queuing: Queuing, seats: int) -> Iterator[Fault]:
    places = queuing.hand_size * queuing.queue_length_limit
    if places < SHORT * seats:
        text = (
            f"{places} requests of one flow can wait ({queuing.hand_size} x {queuing.queue_length_limit}), and "
            f"{seats} are served at once: what comes in a burst is refused that could soon be served"
        )
        advice = "a larger queueLengthLimit"
        yield document.fault("short-queues", "note", text, advice, f"{AT}.queueLengthLimit")


def _capped(document: Document, hand: int, seats: int) -> Fault:
    """Of a level whose requests all count as one seat."""
    text = f"each request counts as one seat, lists of everything too: {seats} nominal seats, hand {hand}"
    advice = f"with {max(2 * hand, 7)} seats or more wide requests cost more"
    if seats >= 7:
        advice += ", or with a smaller handSize"
    return document.fault("seat-cap-one", "note", text, advice, f"{AT}.handSize")


def _cap(level: PriorityLevelConfiguration | None, nominal: Mapping[str, int]) -> int | None:
    if level is None or level.queuing is None or not nominal.get(level.name):
        return None
    return level_seat_cap(nominal[level.name], level.queuing.hand_size)
