"""What happened between two views of one server: the rise of counters and histograms."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from apftop.records.measures import Window
from apftop.records.parsed import Histogram
from apftop.records.view import Key, View


@dataclass(frozen=True, slots=True)
class Step:
    """Two views of one server. With `anew`, its counters began at 0 inside the window."""

    before: View
    after: View
    window: Window
    anew: bool

    def counters(self, measure: str) -> dict[Key, float]:
        """The rise of each counter of a measure; a series born inside the window counts from 0.

        Pairing has made sure that none fell, and that both views hold all that the server has.
        """
        later = self.after.values.get(measure, {})
        if self.anew:
            return dict(later)
        earlier, unknown = self.before.values.get(measure, {}), self.torn(measure)
        return {key: value - earlier.get(key, 0.0) for key, value in later.items() if key not in unknown}

    def histograms(self, measure: str) -> dict[Key, Histogram]:
        """The rise of each histogram of a measure; one whose buckets changed within one process is left out."""
        later = self.after.histograms.get(measure, {})
        if self.anew:
            return dict(later)
        earlier, unknown = self.before.histograms.get(measure, {}), self.torn(measure)
        rises = {key: subtract(value, earlier.get(key)) for key, value in later.items() if key not in unknown}
        return {key: rise for key, rise in rises.items() if rise is not None}

    def torn(self, measure: str) -> set[Key]:
        """Series of a measure whose rise is unknown, since one of the views could not tell their value."""
        torn = set(self.before.torn.get(measure, ())) | set(self.after.torn.get(measure, ()))
        if self.before.incomplete and not self.anew:
            # What seems to be born inside the window may have been left out before.
            both = (self.before.values.get(measure, {}), self.before.histograms.get(measure, {}))
            later = {*self.after.values.get(measure, {}), *self.after.histograms.get(measure, {})}
            torn |= {key for key in later if not any(key in view for view in both)}
        return torn


def subtract(later: Histogram, earlier: Histogram | None) -> Histogram | None:
    """The samples that were added; None where the two do not belong together."""
    if earlier is None:
        return later
    if earlier.bounds != later.bounds or later.count < earlier.count:
        return None
    cumulative = tuple(b - a for a, b in zip(earlier.cumulative, later.cumulative, strict=True))
    if any(count < 0 for count in cumulative) or any(b < a for a, b in pairwise(cumulative)):
        return None
    return Histogram(later.count - earlier.count, later.sum - earlier.sum, later.bounds, cumulative, later.native_only)


def add(parts: list[Histogram]) -> Histogram | None:
    """The sum of histograms that share their bounds; None when there is none, or when the bounds differ."""
    if not parts or any(part.bounds != parts[0].bounds for part in parts):
        return None
    return Histogram(
        count=sum(part.count for part in parts),
        sum=sum(part.sum for part in parts),
        bounds=parts[0].bounds,
        cumulative=tuple(sum(column) for column in zip(*(part.cumulative for part in parts), strict=True)),
        native_only=any(part.native_only for part in parts),
    )
