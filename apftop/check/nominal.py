"""Nominal, lower and upper limits, out of the objects and the server's seats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from apftop.apf.allocation import EXEMPT_IN_LIMITS_SINCE, Limits, limits
from apftop.apf.builtins import mandatory_level
from apftop.apf.objects import EXEMPT, MANDATORY, PriorityLevelConfiguration
from apftop.apf.release import holds
from apftop.apf.shards import dealable
from apftop.check.in_force import written_s
from apftop.check.judge import judged, unknown
from apftop.check.point import Point
from apftop.records.checks import Check
from apftop.rules import rules

LAWS = ("nominal", "lower", "upper")
LAGS = "objects and gauges that stood: the server may not have taken a change yet"


def nominal(points: tuple[Point, ...]) -> dict[str, tuple[Check, ...]]:
    """Nominal, lower and upper limit of each level = what the objects and the server's seats give, exactly, by level.

    nominal = ceil(server's seats x shares / sum of shares); lower = nominal - round(lendable share of it); upper =
    nominal + round(share of it that may be borrowed), or + the server's seats without a limit (1.26 to 1.37). The
    exempt level is left out up to 1.27. A server and its reader do not hear of a change at once: what differs is judged
    only where objects and gauges have stood over all of the points.
    """
    last = points[-1]
    names = sorted(last.levels.keys() & last.live)
    if last.release is not None and not holds(last.release, EXEMPT_IN_LIMITS_SINCE):
        names = [name for name in names if name != EXEMPT]
    expected = _expected(last)
    if isinstance(expected, str):
        return {name: tuple(unknown(law, expected) for law in LAWS) for name in names}
    stood = _stood(points)
    return {name: tuple(_check(points, name, law, expected, stood=stood) for law in LAWS) for name in names}


def _check(points: Sequence[Point], name: str, law: str, expected: Mapping[str, Limits], *, stood: bool) -> Check:
    last, ours = points[-1], expected.get(name)
    told = getattr(last.levels[name], law)
    if told is None or ours is None:
        return unknown(law, "the gauge of this limit" if told is None else "the level's object")
    its = float(getattr(ours, law))
    moved = any(getattr(point.levels[name], law) != told for point in points if name in point.levels)
    if told != its and (moved or not stood):
        return unknown(law, LAGS)
    return judged(
        law,
        told,
        its,
        its,
        0.0,
        "seats",
        about=f"of the server's {last.server_concurrency:g}",
        reason="not what the objects give: the server has not taken them, or they are of another cluster",
    )


def _expected(point: Point) -> dict[str, Limits] | str:
    """The limits of all levels that the server runs, else what is missing."""
    if point.configs is None:
        return "the objects of the priority levels"
    if point.release is None:
        return "the server's release"
    if point.server_concurrency is None:
        return "the server's seats"
    configs = {config.name: config for config in dealable(point.configs.values())}
    for name in MANDATORY - configs.keys():
        configs[name] = mandatory_level(name)
    # Without a dump, a level in the metrics that has no object may be one of the past, or one that still drains.
    runs = point.levels.keys() if point.dumped is None else point.dumped.keys()
    if lost := sorted(runs - configs.keys()):
        return f"the objects of all levels: {lost[0]} has none, and keeps its shares until it is idle"
    if more := sorted(configs.keys() - runs - {EXEMPT}):
        return f"a server that runs all levels that there are objects of: {more[0]} is not among them"
    return limits(configs.values(), round(point.server_concurrency), point.release)


def _stood(points: tuple[Point, ...]) -> bool:
    """Whether the objects were the same at all points, and last written some time before the last one."""
    last = points[-1]
    shares = [_shares(point.configs) for point in points]
    if any(one != shares[-1] for one in shares):
        return False
    now = last.metrics.time if last.clock.dump_time is None else last.clock.dump_time
    written = [time for config in (last.configs or {}).values() if (time := written_s(config)) is not None]
    return now is None or not written or now - max(written) >= rules().check.objects.settled_s


def _shares(configs: Mapping[str, PriorityLevelConfiguration] | None) -> dict[str, tuple[object, ...]] | None:
    """What limits follow from, by level."""
    if configs is None:
        return None
    return {
        name: (config.exempt, config.shares, config.lendable_percent, config.borrowing_limit_percent)
        for name, config in configs.items()
    }
