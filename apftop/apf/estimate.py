"""How many seats a request takes, and for how long beyond its end: the server's work estimate, by release."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from apftop.apf.allocation import LEVEL_SEAT_CAP_SINCE, LIST_CAP_100_SINCE, LIST_SEAT_CAP, SEAT_CAP
from apftop.apf.attributes import Attributes
from apftop.apf.gates import gate
from apftop.apf.list_options import ListOptions, list_options
from apftop.apf.release import Release, holds
from apftop.apf.work import duration_per_seat_ns, work

OBJECTS_PER_SEAT = 100
BYTES_PER_SEAT = 100_000
CACHE_BYTES = 1_000_000
UNKNOWN_OBJECT_BYTES = 1_500_000
STALE_OBJECTS = 1_000_000_000
WATCHERS_PER_SEAT = 10
EVENT_NS = 5_000_000

NAME_IS_ONE_SEAT_UNTIL = ("<1.34",)
STALE_TAKES_THE_CAP_UNTIL = ("<1.34",)
ANY_MATCH_IS_STORAGE_SINCE = (">=1.27",)
GATED_CONSISTENT_LIST_SINCE = (">=1.28",)
LIMIT_NEEDS_VERSION_SINCE = (">=1.31",)
MATCH_DECIDES_SINCE = (">=1.33",)
INITIAL_EVENTS_SINCE = (">=1.28",)
OLD_WATCH_LISTS_SINCE = (">=1.35",)

_MUTATING = ("create", "update", "patch", "delete")


@dataclass(frozen=True, slots=True)
class WorkEstimate:
    """Seats of a request while it executes, and those that it is charged for `additional_latency_ns` beyond its end.

    It holds the larger of both in both phases.
    """

    initial_seats: int = 1
    final_seats: int = 0
    additional_latency_ns: int = 0

    @property
    def width(self) -> int:
        return max(self.initial_seats, self.final_seats)


@dataclass(frozen=True, slots=True)
class Stored:
    """What the server knows of the stored objects of a resource.

    `unknown`: never polled, or removed; `stale`: not polled for 3 minutes, or any other failure. `average_bytes` 0
    means that the size is not known.
    """

    objects: int = 0
    average_bytes: int = 0
    state: Literal["known", "unknown", "stale"] = "known"


@dataclass(frozen=True, slots=True)
class Estimator:
    """The estimator of one server.

    `enabled` holds the gates that the server names. `consistent_read`: all members of etcd allow consistent reads from
    the watch cache; it counts only where the gate ConsistentListFromCache is on.
    """

    release: Release
    enabled: Mapping[str, bool]
    consistent_read: bool = True

    def estimate(
        self,
        request: Attributes,
        query: str = "",
        *,
        stored: Stored,
        watchers: int = 0,
        level_cap: int | None = None,
    ) -> WorkEstimate:
        """The estimate of one request (1.26 to 1.37).

        `watchers` are those registered on this server for what a mutating request changes; `level_cap` is the level's
        own cap of seats (`allocation.level_seat_cap`), None where it has none; releases without such caps ignore it.
        """
        if not holds(self.release, LEVEL_SEAT_CAP_SINCE):
            level_cap = None
        if request.verb == "list" or (request.verb == "watch" and gate("WatchList", self.enabled, self.release)):
            return WorkEstimate(self._list_seats(request, query, stored, level_cap))
        if request.verb in _MUTATING:
            return _mutating(request, watchers, _capped(level_cap, SEAT_CAP))
        return WorkEstimate()

    def _list_seats(self, request: Attributes, query: str, stored: Stored, level_cap: int | None) -> int:
        by_size = gate("SizeBasedListCostEstimate", self.enabled, self.release)
        wide = by_size and holds(self.release, LIST_CAP_100_SINCE)
        cap = _capped(level_cap, LIST_SEAT_CAP if wide else SEAT_CAP)
        if request.name and holds(self.release, NAME_IS_ONE_SEAT_UNTIL):
            return 1
        options = list_options(query)
        if options is None:
            return cap
        if request.verb == "watch" and not self._sends_initial_events(options):
            return 1
        if stored.state == "unknown":
            return 1
        if stored.state == "stale":
            if holds(self.release, STALE_TAKES_THE_CAP_UNTIL):
                return cap
            stored = Stored(STALE_OBJECTS, UNKNOWN_OBJECT_BYTES)
        from_cache = request.verb == "watch" or not self._from_storage(options)
        seats = (_seats_by_size if by_size else _seats_by_count)(
            stored, options, from_cache=from_cache, named=request.name != ""
        )
        return max(1, min(cap, seats))

    def _sends_initial_events(self, options: ListOptions) -> bool:
        if not holds(self.release, INITIAL_EVENTS_SINCE):
            return False
        if options.send_initial_events:
            return True
        return holds(self.release, OLD_WATCH_LISTS_SINCE) and options.resource_version in ("", "0")

    def _from_storage(self, options: ListOptions) -> bool:
        """Whether the server counts a LIST as one that etcd must answer."""
        release = self.release
        consistent = gate("ConsistentListFromCache", self.enabled, release) and self.consistent_read
        version, match = options.resource_version, options.resource_version_match
        limited = options.limit > 0 and version != "0"
        if holds(release, MATCH_DECIDES_SINCE):
            if match:
                return match != "NotOlderThan"
            return options.continues or (limited and version != "") or (version == "" and not consistent)
        if holds(release, LIMIT_NEEDS_VERSION_SINCE):
            return (
                (version == "" and not consistent)
                or options.continues
                or match not in ("", "NotOlderThan")
                or (limited and match == "" and version != "")
            )
        newest = version == ""
        if holds(release, GATED_CONSISTENT_LIST_SINCE):
            newest = newest and not gate("ConsistentListFromCache", self.enabled, release)
        chunked = gate("APIListChunking", self.enabled, release) and (options.continues or limited)
        if holds(release, ANY_MATCH_IS_STORAGE_SINCE):
            return newest or chunked or match not in ("", "NotOlderThan")
        return newest or chunked or match == "Exact"


def _capped(level_cap: int | None, server_cap: int) -> int:
    return min(level_cap, server_cap) if level_cap else server_cap


def _asked(stored: Stored, options: ListOptions) -> int:
    return options.limit if 0 < options.limit < stored.objects else stored.objects


def _seats_by_count(stored: Stored, options: ListOptions, *, from_cache: bool, named: bool) -> int:
    """One seat for 100 objects that are processed; up to 1.33, and where the gate SizeBasedListCostEstimate is off."""
    asked = _asked(stored, options)
    if named:
        objects = 1
    elif from_cache:
        objects = stored.objects
    elif options.selects:
        objects = stored.objects + asked
    else:
        objects = 2 * asked
    return math.ceil(objects / OBJECTS_PER_SEAT)


def _seats_by_size(stored: Stored, options: ListOptions, *, from_cache: bool, named: bool) -> int:
    """One seat for 100 kB that are processed, and at most 10 for a LIST from the cache; since 1.34."""
    objects = 1 if named else _asked(stored, options)
    if not named and not from_cache and options.selects:
        objects = max(objects, stored.objects // 2)
    size = objects * (stored.average_bytes or UNKNOWN_OBJECT_BYTES)
    return math.ceil((min(size, CACHE_BYTES) if from_cache else size) / BYTES_PER_SEAT)


def _mutating(request: Attributes, watchers: int, cap: int) -> WorkEstimate:
    """One seat, and for each 10 watchers one for 5 ms more, made narrower and longer to fit the cap."""
    # Making a token sends no event, though service accounts have watchers.
    token = request.resource == "serviceaccounts" and request.subresource == "token"
    if token or watchers < WATCHERS_PER_SEAT:
        return WorkEstimate()
    seats = math.ceil(watchers / WATCHERS_PER_SEAT)
    final = min(seats, cap)
    return WorkEstimate(1, final, duration_per_seat_ns(work(seats, EVENT_NS), final))
