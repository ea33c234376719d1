"""Series on their way to families: histograms put together, and what is torn, doubled or contradictory named."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from apftop.records.parsed import INSTANCE, Family, Histogram, Kind, Labels, Metrics, ParseError

_CACHED = 32768
_MOST_PROBLEMS = 50
_KINDS: Mapping[str, Kind] = {
    "counter": "counter",
    "gauge": "gauge",
    "histogram": "histogram",
    "summary": "summary",
    "info": "gauge",
    "stateset": "gauge",
}

NUMBER = re.compile(
    r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|nan|inf(?:inity)?)", re.IGNORECASE | re.ASCII
)


class Series(NamedTuple):
    """`bare` are the labels without `le`; `bound` is `le` as a number, NaN if it is none."""

    name: str
    labels: Labels
    bare: Labels
    bound: float | None


@dataclass(slots=True)
class Group:
    """The parts of one histogram series as they come in; `place` is the last line or message that brought one."""

    place: int = 0
    buckets: dict[float, float] = field(default_factory=dict)
    sum: float | None = None
    count: float | None = None
    native: bool = False
    clash: bool = False

    def add_bucket(self, bound: float, value: float) -> None:
        """A cumulative count; `bound` is NaN where `le` is missing or no number."""
        self.clash |= not _same(self.buckets.setdefault(bound, value), value)

    def add_sum(self, value: float) -> None:
        value = float(value)
        self.clash |= self.sum is not None and not _same(self.sum, value)
        self.sum = value

    def add_count(self, value: float) -> None:
        self.clash |= self.count is not None and not _same(self.count, value)
        self.count = value

    def missing(self) -> str:
        """The part that the group lacks, or nothing."""
        if math.inf not in self.buckets and not self.native:
            return "+Inf bucket"
        return "_sum" if self.sum is None else "_count" if self.count is None else ""


@dataclass(slots=True)
class Gathered:
    """The series of a body on their way to families. `unit` is what a place is: a line or a message."""

    unit: Literal["line", "message"]
    rows: dict[str, list[tuple[Series, float, int]]] = field(default_factory=dict)
    groups: dict[str, dict[Labels, Group]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    helps: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    stamps: dict[str, tuple[float, float]] = field(default_factory=dict)

    def add(self, series: Series, value: float, place: int) -> None:
        """Take one sample."""
        try:
            self.rows[series[0]].append((series, value, place))
        except KeyError:
            self.rows[series[0]] = [(series, value, place)]

    def stamp(self, labels: Labels, seconds: float) -> None:
        """Note the explicit time stamp of a series, in Unix seconds, for its server."""
        instance = next((value for name, value in labels if name == INSTANCE), "")
        first, last = self.stamps.get(instance, (seconds, seconds))
        self.stamps[instance] = (min(first, seconds), max(last, seconds))

    def metrics(self, form: Literal["text", "openmetrics", "protobuf"], end: int = 0) -> Metrics:
        """The families. Raises ParseError when the histogram series of the place `end` lacks a part."""
        for name in [name for name, kind in self.kinds.items() if kind == "gaugehistogram"]:
            self._drop_gauge_histogram(name)
        for name in self._histogram_names():
            self._group(name)
        families = {name: self._histograms(name, groups, end) for name, groups in self.groups.items()}
        for name, rows in self.rows.items():
            kind = self._kind(name)
            if kind == "histogram":
                self.problems.append(f"{name}: samples of a histogram without `_bucket`, `_sum` or `_count`, left out")
            elif kind is not None:
                families[name] = Family(name, kind, self._help(name), self._values(name, rows), {})
        kept = self.problems[:_MOST_PROBLEMS]
        if len(self.problems) > _MOST_PROBLEMS:
            kept.append(f"and {len(self.problems) - _MOST_PROBLEMS} more")
        return Metrics(families, form, self.stamps, tuple(kept))

    def _histogram_names(self) -> list[str]:
        # Federated histograms have no type; a `_bucket` with `le` tells them even where the body was cut after it.
        names = [name for name, kind in self.kinds.items() if kind == "histogram" and name not in self.groups]
        for name, rows in self.rows.items():
            stem = name.removesuffix("_bucket")
            untyped = self.kinds.get(name, "untyped") in ("untyped", "unknown")
            if stem != name and stem not in self.kinds and untyped and any(row[0].bound is not None for row in rows):
                names.append(stem)
        return names

    def _group(self, name: str) -> None:
        groups: dict[Labels, Group] = {}
        bare: Labels | None = None
        group = Group()
        for suffix, add in (("_sum", Group.add_sum), ("_count", Group.add_count), ("_bucket", None)):
            for series, value, place in self.rows.pop(name + suffix, ()):
                if series.bare is not bare:
                    bare = series.bare
                    group = groups.get(bare) or groups.setdefault(bare, Group())
                if place > group.place:
                    group.place = place
                if add:
                    add(group, value)
                else:
                    group.add_bucket(math.nan if series.bound is None else series.bound, value)
        if groups:
            self.groups[name] = groups

    def _histograms(self, name: str, groups: dict[Labels, Group], end: int) -> Family:
        made: dict[Labels, Histogram] = {}
        for labels, group in groups.items():
            if group.place == end and group.missing():
                series = _series_text(name, labels)
                raise ParseError(f"truncated at {self.unit} {end}: the histogram {series} has no {group.missing()}")
            result = _histogram(group)
            if isinstance(result, Histogram):
                made[labels] = result
            else:
                self._leave_out(name, labels, group.place, result)
        return Family(name, "histogram", self._help(name), {}, made)

    def _values(self, name: str, rows: list[tuple[Series, float, int]]) -> dict[Labels, float]:
        values: dict[Labels, float] = {}
        clashes: dict[Labels, int] = {}
        for series, value, place in rows:
            value = float(value)
            if not _same(values.setdefault(series.labels, value), value):
                clashes[series.labels] = place
        for labels, place in clashes.items():
            del values[labels]
            self._leave_out(name, labels, place, "it stands there twice with different values")
        return values

    def _kind(self, name: str) -> Kind | None:
        """The kind of a plain family; None for creation times, which no one reads."""
        own = self.kinds.get(name)
        if own is not None:
            return _KINDS.get(own, "untyped")
        stem, _, suffix = name.rpartition("_")
        of_stem = self.kinds.get(stem)
        if suffix == "created" and (of_stem is not None or f"{stem}_total" in self.kinds):
            return None
        fits = {"total": "counter", "sum": "summary", "count": "summary", "info": "info"}.get(suffix) == of_stem
        return _KINDS.get(of_stem, "untyped") if of_stem is not None and fits else "untyped"

    def _help(self, name: str) -> str:
        stem = name.rpartition("_")[0]
        return self.helps.get(stem if name not in self.kinds and stem in self.kinds else name, "")

    def _drop_gauge_histogram(self, name: str) -> None:
        parts = [self.rows.pop(name + suffix, None) for suffix in ("_bucket", "_gsum", "_gcount", "_sum", "_count")]
        if any(parts):
            self.problems.append(f"{name}: gauge histograms are not read, left out")

    def _leave_out(self, name: str, labels: Labels, place: int, why: str) -> None:
        self.problems.append(f"{_series_text(name, labels)} ({self.unit} {place}): {why}, left out")


def _histogram(group: Group) -> Histogram | str:
    """The histogram, or why it is none."""
    if group.clash:
        return "it stands there twice with different values"
    missing = group.missing()
    if missing or group.sum is None or group.count is None:
        return f"it has no {missing}"
    bounds = _rising(tuple(group.buckets))
    if bounds is None:
        return "it has a bucket without a readable `le`"
    try:
        cumulative = tuple(_whole(group.buckets[bound]) for bound in bounds)
        count = _whole(group.count)
    except (ValueError, OverflowError):
        return "it has a count that is no whole number"
    if group.native and not cumulative:
        return Histogram(count, group.sum, (), (count,), native_only=True)
    if cumulative[-1] != count:
        return f"its _count {count} contradicts its +Inf bucket {cumulative[-1]}"
    if cumulative[0] < 0 or sorted(cumulative) != list(cumulative):
        return "its buckets do not rise"
    return Histogram(count, group.sum, bounds[:-1], cumulative)


@lru_cache(maxsize=256)
def _rising(bounds: tuple[float, ...]) -> tuple[float, ...] | None:
    """Bounds of buckets in order, as all series of a family have them; None where one is not readable."""
    return tuple(sorted(bounds)) if all(bound > -math.inf for bound in bounds) else None


def _whole(value: float) -> int:
    whole = int(value)
    if whole != value:
        raise ValueError(value)
    return whole


def _same(one: float, other: float) -> bool:
    return one == other or (one != one and other != other)


def _series_text(name: str, labels: Labels) -> str:
    inside = ",".join(f"{key}={value!r}" for key, value in labels)
    return f"{name}{{{inside}}}"[:200]


def series_of(name: str, labels: Labels) -> Series:
    """The series of a sample name and its labels, which are sorted."""
    bound = next((_bound(value) for key, value in labels if key == "le"), None)
    bare = labels if bound is None else shared(tuple(pair for pair in labels if pair[0] != "le"))
    return Series(name, labels, bare, bound)


@lru_cache(maxsize=_CACHED)
def shared(labels: Labels) -> Labels:
    """One object for all equal labels, so that lines of one histogram are known by identity."""
    return labels


def _bound(text: str) -> float:
    return float(text) if NUMBER.fullmatch(text) else math.nan
