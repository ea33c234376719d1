"""Raw samples of one scrape as the exposition that it was: with the server's own labels, and none that scraping added.

Native histograms become classic ones at the edges of their own buckets, which are exact; nothing is interpolated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apftop.prometheus.client import Series
from apftop.prometheus.names import behind, parted

Labels = tuple[tuple[str, str], ...]
Native = Mapping[str, Any]
"""A native histogram as the API has it: `count`, `sum`, and `buckets` of rule, left edge, right edge and count."""

EXPORTED = "exported_"


@dataclass
class Scrapes:
    """The series of one server by time stamp (milliseconds), as they come in from several questions.

    `given` are the names of labels that scraping added. `lacking` are families of which the store has histograms
    without buckets.
    """

    given: frozenset[str]
    lacking: set[str] = field(default_factory=set)
    _classic: dict[int, dict[str, dict[str, dict[Labels, str]]]] = field(default_factory=dict)
    _native: dict[tuple[str, Labels], dict[int, Native]] = field(default_factory=dict)

    def add(self, series: Iterable[Series]) -> None:
        """Take in the series of an answer."""
        for one in series:
            metric = dict(one["metric"])
            name = metric.pop("__name__", "")
            found = parted(name)
            if found is None:
                continue
            family, suffix = found
            labels = self._own(metric)
            for time, value in one.get("values", ()):
                at = self._classic.setdefault(round(float(time) * 1000), {})
                at.setdefault(family, {}).setdefault(suffix, {})[labels] = str(value)
            for time, histogram in one.get("histograms", ()):
                self._native.setdefault((family, labels), {})[round(float(time) * 1000)] = histogram

    def _own(self, metric: Mapping[str, str]) -> Labels:
        """The labels that the server gave: where one had the name of one that scraping adds, it was renamed."""
        own = {name: value for name, value in metric.items() if name not in self.given}
        for name in [name for name in own if name.startswith(EXPORTED) and name.removeprefix(EXPORTED) in self.given]:
            own[name.removeprefix(EXPORTED)] = own.pop(name)
        return tuple(sorted(own.items()))

    @property
    def times(self) -> list[int]:
        """The time stamps of which there is anything (milliseconds), rising."""
        return sorted({*self._classic, *(time for some in self._native.values() for time in some)})

    def text(self, time: int) -> bytes:
        """The exposition at a time stamp (milliseconds), in the Prometheus text format."""
        families = {name: dict(parts) for name, parts in self._classic.get(time, {}).items()}
        for (family, labels), some in self._native.items():
            # One that is kept in both forms is read in the one that the server's own buckets have.
            if time in some and "_bucket" not in self._classic.get(time, {}).get(family, {}):
                _add_native(families.setdefault(family, {}), labels, some[time], _edges(some.values()))
        lines = (line for name in sorted(families) for line in self._family(name, families[name]))
        return "".join(lines).encode()

    def _family(self, name: str, parts: dict[str, dict[Labels, str]]) -> Iterator[str]:
        if "_count" not in parts and "_bucket" not in parts:
            if "" in parts:
                yield f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}\n"
                yield from (_line(name, labels, value) for labels, value in parts[""].items())
            return
        buckets = parts.get("_bucket", {})
        if not buckets and name in behind():
            # Only the sums and counts of these are asked for.
            buckets = {(*labels, ("le", "+Inf")): value for labels, value in parts.get("_count", {}).items()}
        if not buckets:
            self.lacking.add(name)
            return
        yield f"# TYPE {name} histogram\n"
        for suffix, some in (
            ("_bucket", buckets),
            ("_sum", parts.get("_sum", {})),
            ("_count", parts.get("_count", {})),
        ):
            yield from (_line(name + suffix, labels, value) for labels, value in some.items())


def _add_native(
    parts: dict[str, dict[Labels, str]], labels: Labels, histogram: Native, edges: Sequence[tuple[float, str]]
) -> None:
    """Add a native histogram as a classic one."""
    buckets = [(float(right), float(count)) for _, _, right, count in histogram.get("buckets") or ()]
    for edge, text in edges:
        below = sum(count for right, count in buckets if right <= edge)
        parts.setdefault("_bucket", {})[*labels, ("le", text)] = f"{below:.0f}"
    parts.setdefault("_bucket", {})[*labels, ("le", "+Inf")] = histogram["count"]
    parts.setdefault("_sum", {})[labels] = histogram["sum"]
    parts.setdefault("_count", {})[labels] = histogram["count"]


def _edges(histograms: Iterable[Native]) -> list[tuple[float, str]]:
    """The right edges of all buckets of one series but those that lie within a bucket of any of its histograms.

    A histogram halves its resolution when it has too many buckets: only edges of all of them can be compared.
    """
    spans = {(float(left), float(right)): right for one in histograms for _, left, right, _ in one.get("buckets") or ()}
    edges = {right: text for (_, right), text in spans.items()}
    return [
        (edge, text)
        for edge, text in sorted(edges.items())
        if edge != float("inf") and not any(left < edge < right for left, right in spans)
    ]


def _line(name: str, labels: Labels, value: str) -> str:
    inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
    return f"{name}{{{inside}}} {value}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
