"""The server's clock, as its dumps of requests tell it, against this machine's."""

from __future__ import annotations

from dataclasses import dataclass

from apftop.check.instants import ahead_s, taken_s
from apftop.check.judge import judged, unknown
from apftop.check.point import Point
from apftop.records.checks import Check
from apftop.rules import rules


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the server's clock: what it showed after the question was sent, and how long the answer took."""

    after_s: float
    trip_s: float

    @property
    def beyond(self) -> float:
        """How far it is outside of the trip; below 0 inside."""
        return max(-self.after_s, self.after_s - self.trip_s)


def clock(points: tuple[Point, ...]) -> Check | None:
    """The server's clock at each dump of requests lies between question and first byte by this machine's clock.

    It is told by the dump's own row, which starts after the question was sent (since 1.28), or noted with the dump. The
    worst look is shown. The check is as sharp as the round trip is short.
    """
    law = "clock"
    looks = [look for point in points if (look := _look(point)) is not None]
    if not looks:
        dumps = [point for point in points if point.requests is not None]
        if not dumps:
            return unknown(law, "a dump of requests")
        told = any(taken_s(point) is not None for point in dumps)
        return unknown(law, "when the dump of requests was asked for" if told else "the row of the dump's own request")
    worst = max(looks, key=lambda look: look.beyond)
    way = "ahead of" if worst.after_s > 0 else "behind"
    return judged(
        law,
        worst.after_s,
        0.0,
        worst.trip_s,
        rules().check.clock.tolerance_s,
        "s",
        about=f"to within the {worst.trip_s * 1000:.0f} ms that the answer took",
        reason=f"the server's clock is at least {worst.beyond:.3g} s {way} this machine's",
    )


def _look(point: Point) -> Look | None:
    ahead = ahead_s(point)
    return None if ahead is None else Look(ahead[1], ahead[1] - ahead[0])
