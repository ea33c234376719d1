"""Priority levels compared: limits, load, use and waits, of one server or of all of a side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from apftop.diff.bounds import (
    Counted,
    Spot,
    averages,
    counted_of,
    exact,
    momentary,
    quantiles,
    rates,
    shares,
    together,
)
from apftop.diff.change import Change
from apftop.diff.pairs import Group
from apftop.records.frame import Level, Replica
from apftop.records.measures import Counts, Waits

LIMITS: tuple[tuple[str, Callable[[Level], float | None]], ...] = (
    ("nominal", lambda level: level.nominal),
    ("lower", lambda level: level.lower),
    ("upper", lambda level: level.upper),
    ("current", lambda level: level.current),
)
NOW: tuple[tuple[str, Callable[[Level], float | None], str], ...] = (
    ("waiting", lambda level: level.waiting, "requests"),
    ("executing", lambda level: level.executing, "requests"),
    ("seats_in_use", lambda level: level.seats_in_use, "seats"),
)
QUANTILES = (("p50", 0.5), ("p95", 0.05), ("p99", 0.01))
"""With the share of requests that lies beyond each."""


def level_changes(group: Group) -> Iterator[Change]:
    """All numbers of all levels of a group of servers."""
    was, now = _by_level(group.old), _by_level(group.new)
    for name in sorted({*was, *now}):
        old, new = was.get(name), now.get(name)
        if old is None or new is None:
            yield from _alone(group, name, added=old is None, told=bool(was if old is None else now))
            continue
        limits, load, waits = (Spot(section, group.name, name) for section in ("limits", "load", "waits"))
        for field, of in LIMITS:
            yield exact(limits, field, summed(map(of, old)), summed(map(of, new)), "seats")
        yield from _rates(load, old, new)
        for field, of, unit in NOW:
            yield momentary(load, field, summed(map(of, old)), summed(map(of, new)), unit)
        if len(old) == len(new) == 1:
            yield from _used(load, old[0], new[0])
            yield from _waits(waits, old[0].waits, new[0].waits)


def _by_level(replicas: Sequence[Replica]) -> dict[str, list[Level]]:
    found: dict[str, list[Level]] = {}
    for level in chain.from_iterable(one.levels.values() for one in replicas):
        found.setdefault(level.name, []).append(level)
    return found


def _alone(group: Group, name: str, *, added: bool, told: bool) -> Iterator[Change]:
    """A level that one side alone has; not known to be so where that side tells of no level at all."""
    if told:
        yield Change("limits", "level", "added" if added else "removed", replica=group.name, level=name)
    else:
        note = "unknown before" if added else "unknown after"
        yield Change("limits", "level", "unknown", replica=group.name, level=name, note=note)


def summed(values: Iterator[float | None]) -> float | None:
    """The sum; None where a term is not known, or where there is none."""
    terms = list(values)
    known = [one for one in terms if one is not None]
    return sum(known) if known and len(known) == len(terms) else None


def counted(levels: Sequence[Level], of: Callable[[Counts], float | None]) -> Counted | None:
    """A rate summed over servers; None where one of them does not know it."""
    found = []
    for level in levels:
        events = None if level.counts is None else of(level.counts)
        if events is None or level.window is None or level.window.seconds <= 0:
            return None
        found.append(counted_of(max(0.0, events), level.window.seconds))
    return together(found) if found else None


def _rates(spot: Spot, old: Sequence[Level], new: Sequence[Level]) -> Iterator[Change]:
    for field, of in (
        ("arrivals_per_s", lambda counts: counts.arrivals),
        ("dispatched_per_s", lambda counts: counts.dispatched),
        ("rejected_per_s", lambda counts: counts.rejected_total),
    ):
        yield rates(spot, field, counted(old, of), counted(new, of))
    for reason in sorted({one for level in (*old, *new) if level.counts for one in level.counts.rejected}):
        # A reason without a series has not been given.
        yield rates(spot, f"rejected_per_s.{reason}", counted(old, _given(reason)), counted(new, _given(reason)))
    yield shares(spot, "refused_share", _refused(old), _refused(new))


def _given(reason: str) -> Callable[[Counts], float]:
    return lambda counts: counts.rejected.get(reason, 0.0)


def _refused(levels: Sequence[Level]) -> tuple[Counted, Counted] | None:
    refused = counted(levels, lambda counts: counts.rejected_total)
    dispatched = counted(levels, lambda counts: counts.dispatched)
    return None if refused is None or dispatched is None else (refused, dispatched)


def _used(spot: Spot, old: Level, new: Level) -> Iterator[Change]:
    was, now = _utilization(old), _utilization(new)
    yield averages(spot, "utilization", was, now, "share of the limit")
    ends = [one.execution for one in (old, new)]
    least = min((one.count * 0.05 for one in ends if one is not None), default=0.0)
    p95s = [None if one is None else one.p95 for one in ends]
    yield quantiles(spot, "execution.p95", p95s[0], p95s[1], least)


def _utilization(level: Level) -> tuple[float, float | None] | None:
    used = level.utilization
    # An average over a life says nothing of a moment.
    if used is None or used.mean is None or used.lifetime:
        return None
    return used.mean, None if level.counts is None else level.counts.dispatched


def _waits(spot: Spot, old: Waits | None, new: Waits | None) -> Iterator[Change]:
    executed = [one.executed for one in (old, new) if one is not None]
    for field, beyond in QUANTILES:
        was, now = (None if one is None else getattr(one, field) for one in (old, new))
        yield quantiles(spot, field, was, now, min(executed, default=0) * beyond)
