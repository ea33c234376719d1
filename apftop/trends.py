"""How waiting requests and seats in use of each level went lately: a point for each time that they were sampled."""

from __future__ import annotations

from collections.abc import Mapping

from apftop.records.frame import Frame, Level, Replica
from apftop.records.moment import TREND_LENGTH, Trend
from apftop.records.raw import Endpoint

Trends = Mapping[tuple[str, str], Trend]
"""By replica and level."""


def trends(before: Trends, frame: Frame) -> Trends:
    """The trends with what this frame adds; levels and replicas that it does not have are left out.

    A frame that stands on no newer sample of a replica adds nothing to that replica's.
    """
    return {
        (name, level.name): _trend(before.get((name, level.name)), level, *sampled)
        for name, replica in frame.replicas.items()
        for sampled in (_sampled(replica),)
        for level in replica.levels.values()
    }


def _trend(before: Trend | None, level: Level, at: float | None, instead: bool) -> Trend:
    """With one more point, if it is a new one: an earlier time is that of a clock that was set back."""
    before = before or Trend()
    if at is None or at == before.at or (instead and before.at is not None and at < before.at):
        return before
    return Trend(
        (*before.waiting, level.waiting)[-TREND_LENGTH:], (*before.seats, level.seats_in_use)[-TREND_LENGTH:], at
    )


def _sampled(replica: Replica) -> tuple[float | None, bool]:
    """When the levels were last sampled: by the dump, which comes at an even pace, and by metrics where there is none.

    A point for each of the two would draw the same seconds sometimes once and sometimes twice. Metrics may also stand
    in for a dump that fails now, and then be older than its last one.
    """
    dump, metrics = (replica.samples.get(endpoint) for endpoint in (Endpoint.LEVELS, Endpoint.METRICS))
    if dump is not None and not dump.stale:
        return dump.time, False
    return metrics.time if metrics is not None and not metrics.stale else None, dump is not None
