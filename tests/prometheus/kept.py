"""Answers of real servers as a Prometheus would keep them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from apftop.parse.metrics import parse_metrics
from apftop.records.parsed import Labels, Metrics
from apftop.records.raw import Endpoint, Sample
from tests.prometheus.api import Kept
from tests.tape.taping import samples

Key = tuple[str, Labels, str]


@cache
def _all() -> tuple[Sample, ...]:
    return tuple(one for one in samples() if one.endpoint is Endpoint.METRICS and one.ok)


def recorded(replica: str | None = None) -> list[Sample]:
    """The answers with metrics of a recording, of one server or all, in order."""
    return [one for one in _all() if replica is None or one.replica == replica]


def kept(
    some: Iterable[Sample], labels: Mapping[str, str] | None = None, *, three: bool = False, name: str | None = None
) -> list[Kept]:
    """The series of answers, with `job`, `instance` and more labels; `three` in the way of Prometheus 3."""
    given = {"job": "apiserver", **(labels or {})}
    found: dict[Key, list[tuple[float, str]]] = {}
    for sample in some:
        instance = name or sample.replica
        for family, own, value in _values(parse_metrics(sample.body, sample.content_type), three):
            at = round(sample.received or 0.0, 3)
            found.setdefault((family, own, instance), []).append((at, value))
    return [
        Kept({"__name__": family, **dict(own), **given, "instance": instance}, values)
        for (family, own, instance), values in found.items()
    ]


def _values(metrics: Metrics, three: bool) -> Iterable[tuple[str, Labels, str]]:
    for family in metrics.families.values():
        for labels, value in family.values.items():
            yield family.name, labels, repr(float(value))
        for labels, one in family.histograms.items():
            for bound, count in zip((*one.bounds, float("inf")), one.cumulative, strict=True):
                edge = "+Inf" if bound == float("inf") else str(float(bound)) if three else f"{bound:g}"
                yield f"{family.name}_bucket", (*labels, ("le", edge)), str(count)
            yield f"{family.name}_sum", labels, repr(one.sum)
            yield f"{family.name}_count", labels, str(one.count)
