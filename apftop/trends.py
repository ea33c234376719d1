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
        (name, level.name): _trend(before.get((name, level.name)), level, at)
        for name, replica in frame.replicas.items()
        for at in (_sampled(replica),)
        for level in replica.levels.values()
    }


def _trend(before: Trend | None, level: Level, at: float | None) -> Trend:
    before = before or Trend()
    if at is None or (before.at is not None and at <= before.at):
        return before
    return Trend(
        (*before.waiting, level.waiting)[-TREND_LENGTH:], (*before.seats, level.seats_in_use)[-TREND_LENGTH:], at
    )


def _sampled(replica: Replica) -> float | None:
    """When the levels were last sampled: by the dump, which comes at an even pace, and by metrics where there is none.

    A point for each of the two would draw the same seconds sometimes once and sometimes twice.
    """
    ages = (replica.samples.get(endpoint) for endpoint in (Endpoint.LEVELS, Endpoint.METRICS))
    return next((age.time for age in ages if age is not None and not age.stale), None)
