"""How many seats a request takes (the estimators of 1.35 to 1.37, which price LISTs by their bytes)."""

from __future__ import annotations

import math

from apftop.demo.request import Work

BYTES_PER_SEAT = 100_000
MOST_CACHED_BYTES = 1_000_000
MOST_MUTATING_SEATS = 10
WATCHERS_PER_SEAT = 10
EVENT_NS = 5_000_000
MUTATING = ("create", "update", "patch", "delete")


def estimate(verb: str, listed_bytes: int, from_etcd: bool, watchers: int, most_seats: int) -> Work:
    """The work of a request.

    `listed_bytes` is the size of the objects that a LIST or the beginning of a watch goes through, and from the watch
    cache counts up to 1 MB only. Whoever changes something holds seats while its watchers are told. No request is wider
    than `most_seats`, the cap of its level.
    """
    if verb in ("list", "watch"):
        size = listed_bytes if from_etcd else min(listed_bytes, MOST_CACHED_BYTES)
        return Work(max(1, min(most_seats, math.ceil(size / BYTES_PER_SEAT))))
    if verb not in MUTATING:
        return Work()
    if watchers < WATCHERS_PER_SEAT:
        return Work(watchers=watchers)
    events = math.ceil(watchers / WATCHERS_PER_SEAT)
    final = min(events, most_seats, MOST_MUTATING_SEATS)
    return Work(1, final, events * EVENT_NS // final, watchers)
