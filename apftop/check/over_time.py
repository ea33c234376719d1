"""Histograms over time: what their ratios were divided by, and how far apart those of one answer were read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from apftop.check.judge import unknown
from apftop.check.missing import Missing, needed, summed
from apftop.check.window import Instant, LevelWindow
from apftop.records.checks import Check
from apftop.records.measures import NANOSECONDS
from apftop.rules import rules

MAY_HAVE_MOVED = "the current limit between two answers: it may have moved"


@dataclass(frozen=True, slots=True)
class Divisor:
    """What ratios were divided by from one instant to the next, in seats: between `least` and `most`.

    Limits move each 10 s, and when objects change: in a short step they move once at most, else this is not `sure`.
    """

    least: float
    most: float
    sure: bool

    @property
    def middle(self) -> float:
        return (self.least + self.most) / 2

    @property
    def half(self) -> float:
        return (self.most - self.least) / 2


def by_current(window: LevelWindow) -> tuple[Divisor, ...]:
    """The current limits of each step (1.26 to 1.37): divisors of seats, executing requests, and of demand since 1.28.

    Raises Missing where a limit is unknown, or 0 up to 1.27.
    """
    what = "the current limit, or what times are divided by where it is 0"
    return _steps(window, [needed(one.divisor, what) for one in window.instants])


def by_nominal(window: LevelWindow) -> tuple[Divisor, ...]:
    """The nominal limits of each step: divisors of demand up to 1.27. Raises Missing where one is unknown."""
    return _steps(window, [needed(one.level.nominal, "the nominal limit") for one in window.instants])


def ratios_s(window: LevelWindow, measure: str, what: str) -> tuple[float, ...]:
    """The rise of a histogram over each step, in seconds of its ratio. Raises Missing for one that is unknown."""
    sums = [summed(getattr(one.level, measure), what).sum for one in window.instants]
    return tuple((after - before) / NANOSECONDS for before, after in pairwise(sums))


def undivided_s(ratios: Sequence[float], divisors: Iterable[float]) -> float:
    """Ratios of all steps, each times what it was divided by: the time that requests or seats were there."""
    return sum(ratio * divisor for ratio, divisor in zip(ratios, divisors, strict=True))


def unless_moved(check: Check, divisors: Sequence[Divisor]) -> Check:
    """The check, but unknown where it is off and a limit may have moved and moved back between two instants."""
    if check.verdict == "off" and not all(divisor.sure for divisor in divisors):
        return unknown(check.law, MAY_HAVE_MOVED, seconds=check.seconds)
    return check


def step_s(before: Instant, after: Instant) -> float | None:
    """From one instant to the next by the server's count of nanoseconds; None where unknown."""
    earlier, later = before.level.executing_time, after.level.executing_time
    return None if earlier is None or later is None else (later.count - earlier.count) / NANOSECONDS


def tears_s(window: LevelWindow, measure: str, divisors: Sequence[Divisor], ratios: Sequence[float]) -> float:
    """What a histogram over time may lack or have beyond that of requests, which was not read at once; seat-seconds.

    `ratios` are the most that its ratio may have been at each instant. What one step lacks the next has, so that it
    tells at the ends of the window, and between steps as far as their divisors differ.
    """
    middles = (0.0, *(divisor.middle for divisor in divisors), 0.0)
    return sum(
        abs(after - before) * ratio * tear_s(one, measure)
        for one, ratio, (before, after) in zip(window.instants, ratios, pairwise(middles), strict=True)
    )


def tear_s(one: Instant, measure: str) -> float:
    """How far apart a histogram over time and that of requests were read in one answer, in seconds.

    Both count nanoseconds from the moment at which their level was made (1.26 to 1.37).
    """
    histogram, other = getattr(one.level, measure), one.level.executing_time
    if histogram is None or other is None:
        raise Missing("the histograms over time")
    return float(abs(histogram.count - other.count)) / NANOSECONDS


def _steps(window: LevelWindow, seats: Sequence[float]) -> tuple[Divisor, ...]:
    return tuple(
        Divisor(min(pair), max(pair), _sure(before, after))
        for pair, (before, after) in zip(pairwise(seats), window.steps, strict=True)
    )


def _sure(before: Instant, after: Instant) -> bool:
    seconds = step_s(before, after)
    # Schemas that change let limits be adjusted too, without another nominal limit.
    schemas, others = before.point.schemas, after.point.schemas
    same_objects = before.level.nominal == after.level.nominal and (schemas is others or schemas == others)
    return seconds is not None and seconds <= rules().check.seats.longest_step_s and same_objects
