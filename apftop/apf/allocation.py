"""Seats of the levels of one server: what follows from configuration alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from apftop.apf.objects import PriorityLevelConfiguration
from apftop.apf.release import Release, holds
from apftop.apf.rounding import half_away

LEVEL_SEAT_CAP_SINCE = (">=1.26.8 <1.27", ">=1.27.5 <1.28", ">=1.28")
LIST_CAP_100_SINCE = (">=1.34",)
SEAT_CAP = 10
LIST_SEAT_CAP = 100
EXEMPT_IN_LIMITS_SINCE = (">=1.28",)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one level that follow from configuration, in seats of one server."""

    nominal: int
    lower: int
    upper: int

    @property
    def initial(self) -> int:
        """The current limit that a new level has until, and unless, an adjustment succeeds (1.26 to 1.37)."""
        return self.nominal - (self.nominal - self.lower) // 2


def server_seats(max_requests_inflight: int = 400, max_mutating_requests_inflight: int = 200) -> int:
    """The seats of one server, from its two flags; only their sum counts (1.26 to 1.37)."""
    return max_requests_inflight + max_mutating_requests_inflight


def limits(configs: Iterable[PriorityLevelConfiguration], server: int, release: Release) -> dict[str, Limits]:
    """The limits of all levels that one server of `server` seats runs, quiescing ones included.

    nominal = ceil(server * shares / sum of shares); of it, `lendable_percent` may be lent, and up to
    `borrowing_limit_percent` of it borrowed, both rounded; without a borrowing limit, the whole server. The exempt
    level takes part since 1.28, and has no limits before. The nominal limits sum to a little more than `server`.
    """
    counted = [config for config in configs if not config.exempt or holds(release, EXEMPT_IN_LIMITS_SINCE)]
    shares = sum(config.shares for config in counted)
    return {config.name: _limits(config, server, shares) for config in counted}


def _limits(config: PriorityLevelConfiguration, server: int, shares: int) -> Limits:
    nominal = math.ceil(float(server) * config.shares / shares) if shares else 0
    borrowing = server
    if config.borrowing_limit_percent is not None and not config.exempt:
        borrowing = half_away(nominal * config.borrowing_limit_percent / 100)
    return Limits(nominal, nominal - half_away(nominal * config.lendable_percent / 100), nominal + borrowing)


def reachable_maximum(upper: Mapping[str, float], lower: Mapping[str, float], nominal_sum: float) -> dict[str, float]:
    """The most seats that each level can get: its upper limit, and no more than the others' lower limits leave.

    All in seats, of one server, live levels only. Without a borrowing limit the reported upper limit is larger than the
    whole server, so that it says nothing about what can be had (1.26 to 1.37).
    """
    lower_sum = sum(lower.values())
    return {name: min(upper[name], nominal_sum - (lower_sum - lower[name])) for name in upper if name in lower}


def seat_cap(
    config: PriorityLevelConfiguration | None,
    nominal: float | None,
    release: Release | None,
    lists_by_size: bool | None = None,
) -> int | None:
    """The most seats that one request of a level can take; None where it cannot be known.

    A Queue level has its own cap (`level_seat_cap`); on top of that the server's cap is 10, and since 1.34 it is 100
    for LISTs, unless the gate SizeBasedListCostEstimate (`lists_by_size`, None where unknown) is off.
    """
    if release is None or config is None:
        return None
    server_cap = LIST_SEAT_CAP if holds(release, LIST_CAP_100_SINCE) and lists_by_size is not False else SEAT_CAP
    if config.queuing is None or not holds(release, LEVEL_SEAT_CAP_SINCE):
        return server_cap
    if nominal is None or config.queuing.hand_size < 1:
        return None
    return min(server_cap, level_seat_cap(int(nominal), config.queuing.hand_size))


def level_seat_cap(nominal: int, hand_size: int) -> int:
    """The most seats of one request of a Queue level (1.26.8, 1.27.5, since 1.28.0), before the server's own cap."""
    return max(1, min(math.ceil(0.15 * nominal), nominal // hand_size))
