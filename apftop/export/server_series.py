"""The series that API servers exposed, each at the time of its answer, as they would be had Prometheus asked then."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache

from apftop.export.openmetrics_text import bound_text, head, labels_text, number_text, time_text
from apftop.export.series import Point
from apftop.export.source import Asked, Source
from apftop.parse.instances import split_by_instance
from apftop.parse.metrics import parse_metrics
from apftop.played import moments
from apftop.records.parsed import INSTANCE, Family, Histogram, Kind, Labels, Metrics, ParseError
from apftop.records.raw import EXPOSITIONS, Sample
from apftop.tape.reading import Tape

JOB = "job"
_CACHED = 65536


class ServerSeries:
    """Answers in, points out. `heads` are those of the families so far by their name.

    `problems` are lines about what is left out, each once.
    """

    def __init__(self, job: str) -> None:
        self._job = job
        self._kinds: dict[str, Kind] = {}
        self._names: dict[str, str] = {}
        self._heads: dict[str, str] = {}
        self._problems: dict[str, None] = {}

    @property
    def heads(self) -> Mapping[str, str]:
        return self._heads

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(self._problems)

    def points(self, sample: Sample) -> Iterator[Point]:
        """The points of one answer."""
        try:
            metrics = parse_metrics(sample.body, sample.content_type)
        except ParseError as error:
            self._leave_out(f"{sample.replica}: {sample.origin or sample.endpoint}: {error}")
            return
        for instance, part in split_by_instance(metrics).items():
            at = _time(sample, part, instance)
            if at is None:
                where = sample.origin or sample.endpoint
                self._leave_out(f"{sample.replica}: {where}: nobody noted when this was said, left out")
            else:
                yield from self._of(part, sample.replica, round(at * 1000))

    def _of(self, metrics: Metrics, replica: str, at_ms: int) -> Iterator[Point]:
        end = f" {time_text(at_ms)}\n"
        for family in metrics.families.values():
            kind = self._kinds.setdefault(family.name, family.kind)
            if kind != family.kind:
                self._leave_out(f"{family.name}: {kind} and {family.kind}: only the first is exported")
                continue
            stem, type_ = _typed(family)
            if self._names.setdefault(stem, family.name) != family.name:
                self._leave_out(f"{family.name}: OpenMetrics cannot have it beside {self._names[stem]}, left out")
                continue
            self._heads.setdefault(stem, head(stem, type_, family.help))
            for labels, value in family.values.items():
                if type_ == "counter" and not value >= 0:
                    self._leave_out(f"{family.name}: a counter that is no number, or below 0, left out")
                    continue
                group = _group(labels, replica, self._job)
                yield Point(stem, group, at_ms, f"{family.name}{{{group}}} {number_text(value)}{end}")
            for labels, histogram in family.histograms.items():
                if histogram.native_only or math.isnan(histogram.sum):
                    self._leave_out(f"{family.name}: a histogram without classic buckets or a sum, left out")
                    continue
                group = _group(labels, replica, self._job)
                yield Point(stem, group, at_ms, _histogram(stem, group, histogram, end))

    def _leave_out(self, why: str) -> None:
        self._problems[why] = None


def answers(source: Source, asked: Asked) -> Iterator[Sample]:
    """The answers of the wanted time that hold series; on a tape those of an endpoint so many seconds apart."""
    last: dict[tuple[str, str], float] = {}
    every_s = asked.every_s if isinstance(source, Tape) and asked.at is None else None
    for at, sample in _samples(source, asked):
        if sample.endpoint not in EXPOSITIONS or not sample.ok:
            continue
        key = sample.replica, sample.endpoint
        if every_s is None or key not in last or not 0 <= at - last[key] < every_s:
            last[key] = at
            yield sample


def _samples(source: Source, asked: Asked) -> Iterator[tuple[float, Sample]]:
    if not isinstance(source, Tape):
        yield from ((sample.received or 0.0, sample) for sample in source.samples)
        return
    first, last = asked.span(source)
    if asked.at is not None:
        for moment in moments(source, first, last, 1.0, tell=lambda _: None):
            yield from ((sample.received or 0.0, sample) for sample in moment.samples)
        return
    for number in range(source.segment_at(first), source.segment_at(last) + 1):
        for one in source.taken(number):
            if isinstance(one.what, Sample) and first <= one.at <= last:
                yield one.at, one.what


def _time(sample: Sample, metrics: Metrics, instance: str) -> float | None:
    """When an answer was given (Unix seconds): by its own stamps, as measured, or as noted."""
    if instance in metrics.stamps:
        return sum(metrics.stamps[instance]) / 2
    if sample.sent is not None and sample.received is not None:
        return (sample.sent + sample.received) / 2
    return sample.received if sample.received is not None else sample.noted


def _typed(family: Family) -> tuple[str, str]:
    """Under what name and as what OpenMetrics has a family, so that its series keep their names."""
    if family.kind == "counter" and family.name.endswith("_total"):
        return family.name.removesuffix("_total"), "counter"
    return family.name, family.kind if family.kind in ("gauge", "histogram") else "unknown"


@lru_cache(maxsize=_CACHED)
def _group(labels: Labels, replica: str, job: str) -> str:
    """The labels of a series as text; it keeps an instance or a job of its own."""
    return labels_text({INSTANCE: replica, JOB: job, **dict(labels)})


@lru_cache(maxsize=_CACHED)
def _beginnings(stem: str, group: str, bounds: tuple[float, ...]) -> tuple[str, ...]:
    return tuple(f'{stem}_bucket{{{group},le="{bound_text(bound)}"}} ' for bound in (*bounds, math.inf))


def _histogram(stem: str, group: str, histogram: Histogram, end: str) -> str:
    begun = zip(_beginnings(stem, group, histogram.bounds), histogram.cumulative, strict=True)
    lines = [f"{beginning}{count}{end}" for beginning, count in begun]
    lines.append(f"{stem}_count{{{group}}} {histogram.count}{end}")
    lines.append(f"{stem}_sum{{{group}}} {number_text(histogram.sum)}{end}")
    return "".join(lines)
