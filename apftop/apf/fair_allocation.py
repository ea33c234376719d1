"""Sharing out a total in proportion to targets, each share within its bounds (1.26 to 1.37)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

LEAST_TARGET = 0.001
_EPSILON = 1e-7


class AllocationError(ValueError):
    """A problem that the server refuses; it then leaves all limits as they are."""


class Share(NamedTuple):
    """What one level wants, and the bounds of what it can get. Seats."""

    target: float
    lower: float
    upper: float


def fair_allocation(total: int, shares: Sequence[Share]) -> tuple[list[float], float]:
    """Find p such that the sum of p * target, each held within its bounds, is the total.

    Returns the shares in the order given, and p. Targets below 0.001 count as that. Raises AllocationError where the
    bounds contradict each other or the total, or a target is not a number.
    """
    _check(total, shares)
    if total == 0:
        return [0.0] * len(shares), 0.0
    targets = [max(share.target, LEAST_TARGET) for share in shares]
    starts = [share.lower / target for share, target in zip(shares, targets, strict=True)]
    stops = [share.upper / target for share, target in zip(shares, targets, strict=True)]
    lowest = sum(share.lower for share in shares)
    if lowest - total > -_EPSILON:
        return [share.lower for share in shares], min(starts)
    if total - sum(share.upper for share in shares) > -_EPSILON:
        return [share.upper for share in shares], max(stops)
    fair = total / sum(targets)
    if max(starts) <= fair <= min(stops):
        return [fair * target for target in targets], fair
    fair = _sweep(total, lowest, targets, starts, stops)
    return [
        min(max(fair * target, share.lower), share.upper) for share, target in zip(shares, targets, strict=True)
    ], fair


def _check(total: int, shares: Sequence[Share]) -> None:
    if total < 0:
        raise AllocationError(f"the total is {total}, below 0")
    for index, share in enumerate(shares):
        if math.isnan(share.target):
            raise AllocationError(f"target {index} is not a number")
        if share.lower < 0:
            raise AllocationError(f"lower bound {index} is {share.lower}, below 0")
        if share.target < share.lower:
            raise AllocationError(f"target {index} is {share.target}, below its lower bound {share.lower}")
        if share.upper < share.lower:
            raise AllocationError(f"upper bound {index} is {share.upper}, below the lower bound {share.lower}")
    lower, upper = sum(share.lower for share in shares), sum(share.upper for share in shares)
    if lower - total > _EPSILON:
        raise AllocationError(f"the lower bounds sum to {lower}, over the total {total}")
    if total - upper > _EPSILON:
        raise AllocationError(f"the upper bounds sum to {upper}, below the total {total}")


def _sweep(total: int, reached: float, targets: list[float], starts: list[float], stops: list[float]) -> float:
    """Raise p over the points where a share leaves its lower bound or meets its upper one, up to the total."""
    fair = min(starts)
    growing, count = 0.0, 0
    turns = [(start, target, 1) for start, target in zip(starts, targets, strict=True)]
    turns += [(stop, -target, -1) for stop, target in zip(stops, targets, strict=True)]
    for turn, target, change in sorted(turns, key=lambda one: one[0]):
        if turn > fair:
            if count:
                needed = fair + (total - reached) / growing
                if needed <= turn:
                    return needed
                reached += (turn - fair) * growing
            fair = turn
            if reached >= total:
                return fair
        growing += target
        count += change
    raise AllocationError("no proportion reaches the total")
