"""LISTs that count as one seat whatever they cost, as their level is too small for a higher price."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from apftop.apf.allocation import level_seat_cap, limits
from apftop.apf.release import parse_release
from apftop.findings.changes.patches import level_change
from apftop.findings.scene import Place, Scene, by_level, levels, rows
from apftop.findings.words.listing import few
from apftop.findings.words.told import counted, servers_named
from apftop.present import plain, seconds, whole
from apftop.records.findings import Change, Finding
from apftop.records.frame import Request
from apftop.rules import rules

LEAST_NOMINAL = 7
"""The fewest nominal seats with which a request may take two: 15% of them, rounded up."""
MOST_TIMES = 10
"""No level is advised to have more shares than so many times today's."""


def seat_cap_one(scene: Scene) -> Iterator[Finding]:
    """Long LISTs in a level where no request takes more than one seat."""
    for level, here in by_level(scene).items():
        found = [place for place in here if _long_lists(place)]
        if found:
            yield _seat_cap_one(scene, level, sorted(found, key=lambda one: -len(_lists(one))))


def _lists(place: Place) -> list[Request]:
    return [row for row in rows(place) if row.verb == "list" and not row.name]


def _long_lists(place: Place) -> bool:
    own, level = rules().findings.widths, place.level
    if level.max_seats_per_request != 1 or level.config is None or level.config.queuing is None or not level.nominal:
        return False
    lists = _lists(place)
    return len(lists) >= own.lists and any((row.executing_s or 0.0) > own.list_s for row in lists)


def _seat_cap_one(scene: Scene, level: str, found: list[Place]) -> Finding:
    worst = found[0]
    lists, names = _lists(worst), tuple(one.replica.name for one in found)
    nominal, config = worst.level.nominal or 0.0, worst.level.config
    hand = config.queuing.hand_size if config is not None and config.queuing is not None else 0
    change = _priced(scene, worst)
    return Finding(
        "seat-cap-one",
        "info",
        level,
        f"{len(lists)} LISTs in {plain(level)} on {servers_named(names)} count as one seat each, however much they "
        f"read: {counted(nominal, 'nominal seat')} {'allows' if nominal == 1 else 'allow'} no higher price",
        names,
        level,
        "",
        (
            *few([_line(one) for one in found]),
            f"at most max(1, min(15% of {whole(nominal)} rounded up, {whole(nominal)} / handSize {hand} rounded down)) "
            f"= 1 seat a request",
        ),
        (
            change.text if change else f"more shares for {plain(level)}, or fewer levels beside it",
            "as it is, more LISTs run at once in this level than the server's storage is meant to bear",
        ),
        change,
        {"nominal": nominal, "hand_size": float(hand), "lists": float(len(lists)), "max_seats_per_request": 1.0},
        float(len(lists)),
    )


def _line(place: Place) -> str:
    lists = _lists(place)
    runs = [row.executing_s for row in lists if row.executing_s is not None]
    who = sorted({f"{row.kind} by {row.user or row.distinguisher}" for row in lists})
    return (
        f"{plain(place.replica.name)}: {len(runs)} LISTs execute, the oldest for "
        f"{seconds(max(runs, default=None))}, and {len(lists) - len(runs)} wait: {', '.join(map(plain, who[:3]))}"
    )


def _priced(scene: Scene, place: Place) -> Change | None:
    """A smaller hand where that is enough, else more shares; None where neither gives a price above one seat."""
    config, nominal = place.level.config, int(place.level.nominal or 0)
    if config is None or config.queuing is None:
        return None
    hand, name = config.queuing.hand_size, plain(config.name)
    if nominal >= LEAST_NOMINAL:
        smaller = max(1, nominal // math.ceil(0.15 * nominal))
        return level_change(config, f"handSize of {name} from {hand} to {smaller}", hand_size=smaller)
    release = parse_release(place.replica.version or "")
    server = place.replica.server_concurrency
    if release is None or server is None or config.name not in levels(scene):
        return None
    for shares in range(config.shares + 1, MOST_TIMES * max(1, config.shares) + 1):
        others = {**levels(scene), config.name: replace(config, shares=shares)}
        seats = limits(others.values(), int(server), release)[config.name].nominal
        if level_seat_cap(seats, hand) > 1:
            return level_change(config, f"shares of {name} from {config.shares} to {shares}", shares=shares)
    return None
