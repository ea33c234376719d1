"""Whether two numbers differ by more than chance and buckets explain; each gives one change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apftop.diff.change import Change, How, Section
from apftop.present import rate, seconds
from apftop.records.measures import Quantile

SIGMAS = 3.0
"""A count of n events is known to n +- 3 sqrt(n). Hundreds of numbers are compared at once: 2 would call some of them
changed each time. As with the bounds of buckets, two numbers differ where what is known of them does not overlap."""

FEW = 9
"""Fewer events beyond a quantile may as well have been none: 3 sqrt(9) is 9."""

BLUR = "within the buckets' blur"


@dataclass(frozen=True, slots=True)
class Spot:
    """What a number is of."""

    section: Section
    replica: str = ""
    level: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Counted:
    """Events over a time, as a rate (per second) with its variance."""

    per_s: float
    variance: float
    seconds: float

    @property
    def bound(self) -> float:
        """By how much chance alone moves it."""
        return SIGMAS * math.sqrt(self.variance)


def counted_of(events: float, over_s: float) -> Counted:
    """So many events in so many seconds. None at all may have been one: its variance is that of one."""
    return Counted(events / over_s, max(events, 1.0) / over_s**2, over_s)


def together(some: Sequence[Counted]) -> Counted:
    """The sum of some rates, one at least; its time is the shortest of theirs."""
    per_s, variance = sum(one.per_s for one in some), sum(one.variance for one in some)
    return Counted(per_s, variance, min(one.seconds for one in some))


def told(spot: Spot, field: str, old: str | None, new: str | None) -> Change:
    """Two words; None is unknown."""
    return Change(spot.section, field, _how(old, new, same=old == new), old, new, *_at(spot), note=_unknown(old, new))


def exact(spot: Spot, field: str, old: float | None, new: float | None, unit: str) -> Change:
    """Two numbers that are what they are, such as limits."""
    old, new = finite(old), finite(new)
    how = _how(old, new, same=old == new)
    return Change(spot.section, field, how, old, new, *_at(spot), _less(old, new), None, unit, _unknown(old, new))


def momentary(spot: Spot, field: str, old: float | None, new: float | None, unit: str) -> Change:
    """Two counts at one moment each, such as requests that wait: chance moves each by 3 sqrt(n)."""
    old, new = finite(old), finite(new)
    known = old is not None and new is not None
    bound = sum(SIGMAS * math.sqrt(max(1.0, one or 0.0)) for one in (old, new)) if known else None
    return _bounded(spot, field, old, new, bound, unit, "at one moment of each")


def rates(spot: Spot, field: str, old: Counted | None, new: Counted | None, unit: str = "1/s") -> Change:
    """Two rates of counted events: chance alone moves them apart by up to 3 sqrt(n1) / T1 + 3 sqrt(n2) / T2."""
    bound, note = None, ""
    if old is not None and new is not None:
        bound = old.bound + new.bound
        note = f"over {seconds(old.seconds)} and {seconds(new.seconds)}, chance gives +-{rate(bound)}"
    was, now = (None if one is None else one.per_s for one in (old, new))
    return _bounded(spot, field, was, now, bound, unit, note)


def shares(spot: Spot, field: str, old: tuple[Counted, Counted] | None, new: tuple[Counted, Counted] | None) -> Change:
    """Two shares, each as rates of (those, the others): the windows of the two may differ in length.

    Chance moves a / (a + b) by 3 sqrt(b^2 var(a) + a^2 var(b)) / (a + b)^2; over one window 3 sqrt(p (1 - p) / n).
    """
    ways = [one if one is not None and one[0].per_s + one[1].per_s > 0 else None for one in (old, new)]
    was, now = (None if one is None else one[0].per_s / (one[0].per_s + one[1].per_s) for one in ways)
    bounds = [SIGMAS * _share_deviation(*one) for one in ways if one is not None]
    bound = sum(bounds) if len(bounds) == 2 else None
    return _bounded(spot, field, was, now, bound, "share", "by how many requests it stands on")


def _share_deviation(those: Counted, others: Counted) -> float:
    spread = others.per_s**2 * those.variance + those.per_s**2 * others.variance
    return math.sqrt(spread) / (those.per_s + others.per_s) ** 2


def averages(
    spot: Spot,
    field: str,
    old: tuple[float, float | None] | None,
    new: tuple[float, float | None] | None,
    unit: str,
) -> Change:
    """Two means over time of seats that requests took, each as (mean, requests that it is made of).

    n requests whose times spread as much as their mean move such a mean by 3 sqrt(2 / n) of itself.
    """
    was, now = (None if one is None else finite(one[0]) for one in (old, new))
    parts = [
        SIGMAS * one[0] * math.sqrt(2 / max(1.0, one[1]))
        for one in (old, new)
        if one is not None and one[1] is not None
    ]
    bound = sum(parts) if len(parts) == 2 else math.inf
    note = "by how many requests it stands on" if bound < math.inf else "how many requests it stands on is not known"
    return _bounded(spot, field, was, now, bound, unit, note)


def quantiles(spot: Spot, field: str, old: Quantile | None, new: Quantile | None, least_beyond: float) -> Change:
    """Two quantiles as intervals (seconds): another one only where these do not overlap.

    `least_beyond` is how many requests lie beyond the quantile, on the side where they are fewest.
    """
    was, now = (None if one is None else (one.low, one.high) for one in (old, new))
    note, how = _unknown(was, now), _how(was, now, same=was == now)
    if how == "changed" and was is not None and now is not None:
        # Buckets are (low, high]: those that only touch share no value.
        if was[0] < _top(now) and now[0] < _top(was):
            how, note = "within", BLUR
        elif least_beyond < FEW:
            how, note = "within", f"fewer than {FEW} requests lie beyond it on one side"
    return Change(spot.section, field, how, was, now, *_at(spot), unit="s", note=note)


def finite(value: float | None) -> float | None:
    """A number; NaN and infinities are unknown."""
    return value if value is not None and math.isfinite(value) else None


def _top(interval: tuple[float, float | None]) -> float:
    return math.inf if interval[1] is None else interval[1]


def _bounded(
    spot: Spot, field: str, old: float | None, new: float | None, bound: float | None, unit: str, note: str
) -> Change:
    difference = _less(old, new)
    how = _how(old, new, same=old == new)
    if how == "changed" and difference is not None and bound is not None and abs(difference) <= bound:
        how = "within"
    said = _unknown(old, new) or (note if how != "equal" else "")
    shown = bound if bound is not None and bound < math.inf else None
    return Change(spot.section, field, how, old, new, *_at(spot), difference, shown, unit, said)


def _how(old: object, new: object, *, same: bool) -> How:
    if (old is None) != (new is None):
        return "unknown"
    return "equal" if same else "changed"


def _unknown(old: object, new: object) -> str:
    if (old is None) == (new is None):
        return ""
    return "unknown before" if old is None else "unknown after"


def _less(old: float | None, new: float | None) -> float | None:
    return None if old is None or new is None else new - old


def _at(spot: Spot) -> tuple[str, str, str]:
    return spot.replica, spot.level, spot.name
