"""How a check comes out: two values and a tolerance, or what is missing to compare them."""

from __future__ import annotations

import math

from apftop.records.checks import Check

NO_NUMBERS = "finite numbers: some that the server tells are infinite or none at all"


def judged(
    law: str,
    observed: float,
    low: float | None,
    high: float | None,
    tolerance: float,
    unit: str,
    *,
    seconds: float | None = None,
    about: str = "",
    reason: str = "",
) -> Check:
    """Ok where the observed value is within [low, high] widened by the tolerance; an end None is open.

    `reason` is what it means otherwise. Numbers that no server can mean (NaN, infinite) are unknown.
    """
    ends = (low, high)
    if not all(math.isfinite(value) for value in (observed, tolerance, *(end for end in ends if end is not None))):
        return unknown(law, NO_NUMBERS, seconds=seconds)
    inside = (low is None or observed >= low - tolerance) and (high is None or observed <= high + tolerance)
    return Check(
        law=law,
        verdict="ok" if inside else "off",
        observed=observed,
        expected=ends,
        tolerance=tolerance,
        unit=unit,
        seconds=seconds,
        about=about,
        reason="" if inside else reason,
    )


def unless_blunt(check: Check) -> Check:
    """The check, but unknown where it is ok and its tolerance is no less than what it compares.

    Nothing against nothing is ok.
    """
    if check.verdict != "ok" or check.observed is None or check.expected is None or check.tolerance is None:
        return check
    most = max(abs(value) for value in (check.observed, *check.expected) if value is not None)
    if not 0 < most <= check.tolerance:
        return check
    few = f"more to compare: {most:.3g} {check.unit} are within the tolerance of {check.tolerance:.3g}"
    return unknown(check.law, few, seconds=check.seconds)


def unknown(law: str, missing: str, *, seconds: float | None = None) -> Check:
    """Not checked, since something is missing: in words, such as `no dump of requests next to the metrics`."""
    return Check(law, "unknown", seconds=seconds, missing=missing)
