"""Light flows that shuffle sharding does not keep apart from heavy ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from apftop.apf.collisions import free_queues, shared_queues, squeezed_chance
from apftop.apf.objects import Queuing
from apftop.apf.shards import hand_fault
from apftop.findings.changes.patches import level_change
from apftop.findings.scene import Place, Scene, by_level, rows
from apftop.findings.words.listing import few
from apftop.findings.words.told import counted, most, servers_named
from apftop.present import percent, plain
from apftop.records.findings import Finding
from apftop.records.frame import Flow
from apftop.rules import rules


def shared(scene: Scene) -> Iterator[Finding]:
    """Light flows, all of whose queues are also those of flows that crowd them."""
    for level, here in by_level(scene).items():
        found = [one for one in map(_squeezed, here) if one is not None]
        if found:
            yield _shared(level, found)


@dataclass(frozen=True, slots=True)
class Squeezed:
    """On one server: flows that crowd their queues, and those that have no other queue to go to."""

    place: Place
    queuing: Queuing
    heavy: list[Flow]
    light: list[Flow]


def _squeezed(place: Place) -> Squeezed | None:
    own, level = rules().findings.flows, place.level
    queuing = level.config.queuing if level.config is not None else None
    if queuing is None or queuing.queues <= queuing.hand_size:
        return None
    flows = [one for one in place.replica.flows if one.level == level.name and one.waiting and one.hand]
    total = sum(one.waiting for one in flows)
    heavy = [one for one in flows if one.waiting >= max(own.waiting, own.heavy_share * total)]
    hands = [one.hand or () for one in heavy]
    late = {
        (row.schema, row.distinguisher)
        for row in rows(place)
        if not row.executing and row.age_s is not None and row.age_s >= own.oldest_s
    }
    light = [
        one
        for one in flows
        if one not in heavy and (one.schema, one.flow) in late and not free_queues(one.hand or (), hands)
    ]
    return Squeezed(place, queuing, heavy, light) if light else None


def _shared(level: str, found: list[Squeezed]) -> Finding:
    worst = max(found, key=lambda one: sum(flow.waiting for flow in one.light))
    names = tuple(one.place.replica.name for one in found)
    light, heavy = worst.light[0], worst.heavy[0]
    both = shared_queues(light.hand or (), heavy.hand or ())
    chance = squeezed_chance(worst.queuing.queues, worst.queuing.hand_size, len(worst.heavy))
    wanted = _more_queues(worst.queuing, len(worst.heavy))
    config, change = worst.place.level.config, None
    if wanted is not None and config is not None:
        text = f"queues of {plain(level)} from {worst.queuing.queues} to {wanted}"
        change = level_change(config, text, queues=wanted)
    return Finding(
        "shared-queues",
        "info",
        level,
        f"{counted(len(worst.light), 'light flow')} {'waits' if len(worst.light) == 1 else 'wait'} behind "
        f"{counted(len(worst.heavy), 'heavy one')} in {plain(level)} on "
        f"{servers_named(names)}: all of their queues are the same",
        names,
        level,
        "",
        (
            *few([_squeezed_line(one) for one in found]),
            f"flow {plain(light.flow) or '(empty)'} may use queues {_queues(light.hand)}; of these "
            f"{plain(heavy.flow) or '(empty)'} may use {_queues(both)} too",
            f"with {worst.queuing.queues} queues, handSize {worst.queuing.hand_size} and {len(worst.heavy)} heavy "
            f"flows this befalls {percent(chance)} of the other flows",
        ),
        (
            f"more queues make such meetings rarer: {wanted} of them bring it below "
            f"{percent(rules().findings.flows.squeezed)}"
            if wanted is not None
            else "more queues do not help here: fewer heavy flows do",
            "the heavy flows are the cause: see level-saturated",
        ),
        change,
        {
            "light": [flow.flow for flow in worst.light],
            "heavy": [flow.flow for flow in worst.heavy],
            "chance": chance,
            "queues": float(worst.queuing.queues),
            "hand_size": float(worst.queuing.hand_size),
        },
        float(sum(flow.waiting for one in found for flow in one.light)),
    )


def _squeezed_line(one: Squeezed) -> str:
    light = {flow.flow: float(flow.waiting) for flow in one.light}
    heavy = {flow.flow: float(flow.waiting) for flow in one.heavy}
    return f"{plain(one.place.replica.name)}: waiting are {most(light)}, behind {most(heavy)}"


def _queues(hand: Iterable[int] | None) -> str:
    return ", ".join(str(one) for one in sorted(hand or ())) or "none"


def _more_queues(queuing: Queuing, heavy: int) -> int | None:
    """So many queues that a flow rarely meets heavy flows in all of its own; None where hands cannot be dealt so."""
    queues = queuing.queues
    while squeezed_chance(queues, queuing.hand_size, heavy) > rules().findings.flows.squeezed:
        queues *= 2
        if hand_fault(queues, queuing.hand_size):
            return None
    return queues if queues > queuing.queues else None
