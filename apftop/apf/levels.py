"""The priority levels that one server runs: their configuration, demand, and limits as they move."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from apftop.apf.allocation import Limits, limits
from apftop.apf.borrowing import Adjustment, Borrower, adjust
from apftop.apf.builtins import mandatory_level
from apftop.apf.demand import DemandIntegrator, DemandStats, advance
from apftop.apf.objects import MANDATORY, PriorityLevelConfiguration
from apftop.apf.release import Release
from apftop.apf.shards import dealable


@dataclass(slots=True)
class Level:
    """One level as a server runs it. `quiescing`: its object is gone, but requests are still in it."""

    config: PriorityLevelConfiguration
    demand: DemandIntegrator
    limits: Limits
    current: int
    stats: DemandStats
    quiescing: bool = False


class Levels:
    """All levels of one server. Times are nanoseconds and must not go back."""

    __slots__ = ("_release", "_server", "by_name")

    def __init__(self, server: int, release: Release, now_ns: int = 0) -> None:
        """Start with the mandatory levels alone, as a server of `server` seats does before it has read any object."""
        self._server = server
        self._release = release
        self.by_name: dict[str, Level] = {}
        self.digest(now_ns, (), lambda _: True)

    def digest(
        self, now_ns: int, configs: Iterable[PriorityLevelConfiguration], is_idle: Callable[[str], bool]
    ) -> Adjustment:
        """Take a configuration and run an adjustment at once (1.26 to 1.37).

        A level without an object, or with one that is not `dealable`, goes if it is idle, else it is quiescing: it
        keeps its seats until the first digest that finds it idle (a server makes one when its last request ends). The
        mandatory levels stay as they were, and are imagined where there were none.
        """
        wanted = {config.name: config for config in dealable(configs)}
        for name, level in self.by_name.items():
            level.quiescing = name not in wanted and name not in MANDATORY
            if name not in wanted and (name in MANDATORY or not is_idle(name)):
                wanted[name] = level.config
        for name in MANDATORY - wanted.keys():
            wanted[name] = mandatory_level(name)
        found = limits(wanted.values(), self._server, self._release)
        nothing = Limits(0, 0, 0)
        self.by_name = {name: self._level(config, found.get(name, nothing), now_ns) for name, config in wanted.items()}
        return self.adjust(now_ns)

    def _level(self, config: PriorityLevelConfiguration, its: Limits, now_ns: int) -> Level:
        level = self.by_name.get(config.name)
        if level is None:
            return Level(config, DemandIntegrator(now_ns), its, its.initial, DemandStats())
        level.config = config
        level.limits = its
        return level

    def adjust(self, now_ns: int) -> Adjustment:
        """Run one borrowing round on the demand since the last one."""
        for level in self.by_name.values():
            level.stats = advance(level.stats, level.demand.reset(now_ns), self._release)
        found = adjust({name: _borrower(level) for name, level in self.by_name.items()}, self._release)
        for name, current in found.current.items():
            self.by_name[name].current = current
        return found


def _borrower(level: Level) -> Borrower:
    return Borrower(
        exempt=level.config.exempt,
        nominal=level.limits.nominal,
        lower=level.limits.lower,
        upper=level.limits.upper,
        current=level.current,
        high_watermark=level.stats.high_watermark,
        smoothed=level.stats.smoothed,
    )
