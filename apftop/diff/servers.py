"""Servers compared: which there are, their versions, seats, starts, and how they share the load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from apftop.diff.bounds import Counted, Spot, counted_of, exact, momentary, rates, shares, together, told
from apftop.diff.change import Change
from apftop.diff.levels import counted, summed
from apftop.diff.pairs import ALL, Group, Pairs
from apftop.present import utc
from apftop.records.frame import Frame, Replica

SAME_START_S = 2.0
"""Starts are told in whole seconds, or by answers whose headers have whole seconds."""


def server_changes(old: Frame, new: Frame, pairs: Pairs) -> Iterator[Change]:
    """What is of whole servers."""
    for name in pairs.gone:
        yield Change("servers", "server", "removed", replica=name)
    for name in pairs.come:
        yield Change("servers", "server", "added", replica=name)
    spot = Spot("servers")
    yield exact(spot, "servers", len(old.servers), len(new.servers), "servers")
    yield exact(spot, "servers_alive", old.servers_alive, new.servers_alive, "servers")
    for group in pairs.groups:
        yield from _of_group(group)
        if group.name != ALL:
            yield from _of_one(group.name, group.old[0], group.new[0])
    yield from _shared(old, new, pairs)


def _of_group(group: Group) -> Iterator[Change]:
    spot = Spot("servers", group.name)
    yield told(spot, "version", _versions(group.old), _versions(group.new))
    for field, of in (
        ("server_concurrency", lambda one: one.server_concurrency),
        ("nominal_sum", lambda one: one.nominal_sum),
    ):
        yield exact(spot, field, summed(map(of, group.old)), summed(map(of, group.new)), "seats")


def _versions(replicas: tuple[Replica, ...]) -> str | None:
    known = {one.version for one in replicas if one.version}
    return ", ".join(sorted(known)) if known else None


def _of_one(name: str, old: Replica, new: Replica) -> Iterator[Change]:
    spot = Spot("servers", name)
    yield told(spot, "apf", old.apf, new.apf)
    borrowing = (None if one.borrowing == "unknown" else one.borrowing for one in (old, new))
    yield told(spot, "borrowing", *borrowing)
    if old.started is not None and new.started is not None and abs(old.started - new.started) <= SAME_START_S:
        yield told(spot, "started", utc(old.started), utc(old.started))
    else:
        was, now = (None if one.started is None else utc(one.started) for one in (old, new))
        yield told(spot, "started", was, now)


def _shared(old: Frame, new: Frame, pairs: Pairs) -> Iterator[Change]:
    """How requests of each level are spread over servers that both sides have; nothing where there is one."""
    names = [group.name for group in pairs.groups if group.name != ALL]
    if len(names) < 2 or pairs.gone or pairs.come:
        return
    yield _hot(old, new)
    for level in sorted(set(old.totals.levels) & set(new.totals.levels)):
        was, now = _dispatched(old, level), _dispatched(new, level)
        for name in names:
            spot = Spot("load", name, level)
            yield shares(spot, "share_of_dispatch", _of_all(was, name), _of_all(now, name))


def _hot(old: Frame, new: Frame) -> Change:
    """Which server hurts most: another one only where each stands out from the other by more than chance."""
    was, now = old.totals.hot, new.totals.hot
    found = told(Spot("servers"), "hot", was or "none", now or "none")
    if was == now or (_stands_out(old, was, now) and _stands_out(new, now, was)):
        return found
    return replace(found, how="within", note="by how many requests it stands on")


def _stands_out(frame: Frame, hot: str | None, other: str | None) -> bool:
    """Whether the hottest server refuses more than another one, or more wait there. None is no server at all."""
    if hot is None:
        return True
    (refused, waiting), (less, fewer) = _heat(frame, hot), _heat(frame, other)
    most = momentary(Spot("servers"), "waiting", fewer, waiting, "requests")
    refusals = rates(Spot("servers"), "rejected_per_s", less or _none_like(refused), refused)
    return any(one.how == "changed" and (one.difference or 0.0) > 0 for one in (most, refusals))


def _heat(frame: Frame, name: str | None) -> tuple[Counted | None, float]:
    """The refusals and the waiting requests of a server, as far as its levels tell."""
    levels = [
        level
        for one in frame.servers
        if one.name == name
        for level in one.levels.values()
        if level.state not in ("stale", "exempt")
    ]
    refused = [found for one in levels if (found := counted([one], lambda counts: counts.rejected_total)) is not None]
    return together(refused) if refused else None, sum(one.waiting or 0.0 for one in levels)


def _none_like(refused: Counted | None) -> Counted | None:
    return None if refused is None else counted_of(0.0, refused.seconds)


def _dispatched(frame: Frame, level: str) -> dict[str, Counted | None]:
    """As rates: the windows of servers are not of one length."""
    return {
        one.name: None if (of := one.levels.get(level)) is None else counted([of], lambda counts: counts.dispatched)
        for one in frame.servers
    }


def _of_all(dispatched: dict[str, Counted | None], name: str) -> tuple[Counted, Counted] | None:
    of = dispatched.get(name)
    others = [one for other, one in dispatched.items() if other != name]
    known = [one for one in others if one is not None]
    return (of, together(known)) if of is not None and known and len(known) == len(others) else None
