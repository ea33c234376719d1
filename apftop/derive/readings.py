"""Gauges of one view: unknown is None, and 0 only where the release is known to leave a zero out."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

from apftop.apf.objects import CATCH_ALL, EXEMPT
from apftop.apf.release import holds
from apftop.parse.vocabulary import vocabulary
from apftop.records.view import View


def by_level(view: View, measure: str) -> dict[str, float]:
    """A gauge by level, summed over schemas where it has them. NaN stays NaN for its level."""
    totals: dict[str, float] = defaultdict(float)
    for key, value in view.values.get(measure, {}).items():
        totals[key.level] += value
    return dict(totals)


def by_schema(view: View, measure: str) -> dict[str, float]:
    """A gauge by schema, summed over the levels that its series name."""
    totals: dict[str, float] = defaultdict(float)
    for key, value in view.values.get(measure, {}).items():
        totals[key.schema] += value
    return dict(totals)


def known(view: View, measure: str, totals: Mapping[str, float], name: str) -> float | None:
    """One reading out of totals: None where unknown or NaN, 0 where its series only appears at the first event."""
    value = totals.get(name)
    if value is None:
        return 0.0 if zero_if_absent(view, measure, name) else None
    # `DELETE /metrics` sets gauges to 0 under requests that are still to leave, and so below it.
    return None if math.isnan(value) or value < 0 else value


def zero_if_absent(view: View, measure: str, level: str) -> bool:
    """Whether a missing series of a measure means 0 on this server."""
    words = vocabulary()
    if not words.measures[measure].zero:
        return False
    exempt_absent = words.corrections["exempt-absent"]
    # Without a known release, a missing exempt level may be one that does not report it.
    if level == EXEMPT and measure in exempt_absent.measures:
        return view.release is not None and not holds(view.release, exempt_absent.holds)
    if measure in view.sources:
        return True
    return view.release is not None and holds(view.release, words.measures[measure].holds)


def server_concurrency(upper: Mapping[str, float], nominal: Mapping[str, float]) -> float | None:
    """The server's seats: upper minus nominal limit of a level that may borrow without limit.

    The exempt level always may (since 1.28), and the mandatory catch-all, which nobody can edit (1.26 to 1.37).
    """
    for name in (EXEMPT, CATCH_ALL):
        if name in upper and name in nominal:
            return upper[name] - nominal[name]
    return None
