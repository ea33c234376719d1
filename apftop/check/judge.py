"""How a check comes out: two values and a tolerance, or what is missing to compare them."""

from __future__ import annotations

import math

from apftop.records.checks import Check


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

    `reason` is what it means otherwise. Raises ValueError for a value that is no number: that is unknown.
    """
    ends = (low, high)
    if any(math.isnan(value) for value in (observed, tolerance, *(end for end in ends if end is not None))):
        raise ValueError(f"{law}: NaN cannot be judged")
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


def unknown(law: str, missing: str, *, seconds: float | None = None) -> Check:
    """Not checked, since something is missing: in words, such as `no dump of requests next to the metrics`."""
    return Check(law, "unknown", seconds=seconds, missing=missing)
