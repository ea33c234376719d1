"""What limits become on one server when a level gets other shares or percentages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from apftop.apf.allocation import Limits, limits
from apftop.apf.builtins import mandatory_level
from apftop.apf.objects import MANDATORY, Meta, PriorityLevelConfiguration
from apftop.apf.release import parse_release
from apftop.present import plain, whole
from apftop.records.findings import Fact
from apftop.records.frame import Replica


@dataclass(frozen=True, slots=True)
class Resharing:
    """Limits of one level before and after, and of the other level that loses most nominal seats, if any does.

    All in seats of the server `replica`, which has `server` of them.
    """

    replica: str
    server: int
    level: str
    before: Limits
    after: Limits
    hit: str = ""
    hit_before: int = 0
    hit_after: int = 0

    @property
    def text(self) -> str:
        """One line of evidence."""
        made = (
            f"on {plain(self.replica)} ({self.server} seats) {plain(self.level)} goes from {_told(self.before)} "
            f"to {_told(self.after)}"
        )
        if not self.hit:
            return f"{made}; no other level loses nominal seats"
        return f"{made}; most hit: {plain(self.hit)}, nominal {self.hit_before} -> {self.hit_after}"

    @property
    def facts(self) -> Mapping[str, Fact]:
        """The same for machines."""
        return {
            "nominal_after": self.after.nominal,
            "upper_after": self.after.upper,
            "hit_level": self.hit or None,
            "hit_before": self.hit_before if self.hit else None,
            "hit_after": self.hit_after if self.hit else None,
        }


def resharing(replica: Replica, changed: PriorityLevelConfiguration) -> Resharing | None:
    """What a server's limits become with another object of a level.

    None where the objects, the release or the seats of the server are not known, or where the limits that follow from
    today's objects are not those that the server has.
    """
    release = parse_release(replica.version or "")
    configs = _running(replica)
    if release is None or configs is None or replica.server_concurrency is None:
        return None
    server = round(replica.server_concurrency)
    before = limits(configs.values(), server, release)
    after = limits({**configs, changed.name: changed}.values(), server, release)
    name = changed.name
    if name not in before or before[name].nominal != replica.levels[name].nominal:
        return None
    lost = {other: before[other].nominal - after[other].nominal for other in before if other != name}
    hit = max(lost, key=lambda other: (lost[other], other), default="")
    if not hit or lost[hit] <= 0:
        return Resharing(replica.name, server, name, before[name], after[name])
    return Resharing(
        replica.name, server, name, before[name], after[name], hit, before[hit].nominal, after[hit].nominal
    )


def taken_by_a_new_level(servers: Iterable[Replica], shares: int) -> str:
    """A line on what a new level with `shares` gets, and what the level that loses most has before and after.

    In nominal seats of the first of these servers whose limits follow from today's objects; in words where there is
    none.
    """
    return next(
        (line for one in servers if (line := _taken(one, shares)) is not None),
        f"the new level takes {shares} {'share' if shares == 1 else 'shares'}, so that all others shrink a little",
    )


def _taken(replica: Replica, shares: int) -> str | None:
    release = parse_release(replica.version or "")
    configs = _running(replica)
    if release is None or not configs or replica.server_concurrency is None:
        return None
    server = round(replica.server_concurrency)
    before = limits(configs.values(), server, release)
    if any(one.nominal != replica.levels[name].nominal for name, one in before.items()):
        return None
    # No level has an empty name.
    after = limits(
        (*configs.values(), PriorityLevelConfiguration(Meta(""), exempt=False, shares=shares)), server, release
    )
    hit = max(before, key=lambda name: (before[name].nominal - after[name].nominal, name))
    loses = (
        f"{plain(hit)} loses most, {before[hit].nominal} -> {after[hit].nominal}"
        if after[hit].nominal < before[hit].nominal
        else "no other level loses any"
    )
    gets = after[""].nominal
    return f"on {plain(replica.name)} the new level gets {gets} nominal {'seat' if gets == 1 else 'seats'}; {loses}"


def _running(replica: Replica) -> dict[str, PriorityLevelConfiguration] | None:
    """The objects of all levels that take shares; None where one of them is not known."""
    found: dict[str, PriorityLevelConfiguration] = {}
    for name, level in replica.levels.items():
        if level.state == "stale":
            continue
        config = level.config or (mandatory_level(name) if name in MANDATORY else None)
        if config is None:
            return None
        found[name] = config
    return found


def _told(its: Limits) -> str:
    return f"nominal {whole(its.nominal)}, lower {whole(its.lower)}, upper {whole(its.upper)}"
