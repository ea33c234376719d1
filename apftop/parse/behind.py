"""What lies behind the queues: families of thousands of series, summed up to what is read of them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from apftop.parse.vocabulary import START, Calls, vocabulary
from apftop.records.parsed import Behind, Family, Labels, Metrics, Spent

FORBIDDEN = 403
TOO_MANY = 429


def without_behind(metrics: Metrics) -> tuple[Metrics, Behind | None]:
    """The metrics without the families of what lies behind the queues, and these summed up; None without any."""
    names = vocabulary().behind.names
    if metrics.families.keys().isdisjoint(names):
        return metrics, None
    kept = {name: family for name, family in metrics.families.items() if name not in names}
    others = tuple(problem for problem in metrics.problems if not problem.startswith(names))
    return replace(metrics, families=kept, problems=others), behind(metrics)


def behind(metrics: Metrics) -> Behind:
    """The sums over the labels that nobody here reads. What is no number, or below 0, is left out."""
    words = vocabulary().behind
    requests = _counted(metrics, words.requests)
    return Behind(
        started=next((value for _, value in _usable(metrics.families.get(START)) if value > 0), None),
        requests=_by_code(requests, words.requests.by),
        terminations=_by_code(_counted(metrics, words.terminations), words.terminations.by),
        forbidden=_by_kind(requests, words.requests.by, FORBIDDEN),
        too_many=_by_kind(requests, words.requests.by, TOO_MANY),
        etcd=_spent(metrics, words.etcd),
        webhooks=_spent(metrics, words.webhooks),
        admission=_spent(metrics, words.admission),
        problems=tuple(problem for problem in metrics.problems if problem.startswith(words.names)),
    )


def kind_of(labels: Mapping[str, str]) -> str:
    """What was asked for, as dumps say it: `list pods`, `create pods/eviction`, `get /livez`."""
    verb, resource, below = labels.get("verb", ""), labels.get("resource", ""), labels.get("subresource", "")
    # Where no resource is asked for, the path stands in place of the subresource.
    what = f"{resource}/{below}" if resource and below else resource or below
    return f"{vocabulary().verbs.get(verb, verb.lower())} {what}".rstrip()


def _usable(family: Family | None) -> Iterator[tuple[Labels, float]]:
    """The series of a family that have a usable value."""
    for labels, value in family.values.items() if family else ():
        if math.isfinite(value) and value >= 0:
            yield labels, value


def _counted(metrics: Metrics, calls: Calls) -> tuple[tuple[dict[str, str], float], ...]:
    return tuple((dict(labels), value) for labels, value in _usable(metrics.families.get(calls.family)))


def _by_code(series: Iterable[tuple[Mapping[str, str], float]], by: str) -> dict[int, float]:
    totals: dict[int, float] = defaultdict(float)
    for labels, value in series:
        code = labels.get(by, "")
        if code.isdecimal():
            totals[int(code)] += value
    return dict(totals)


def _by_kind(series: Iterable[tuple[Mapping[str, str], float]], by: str, code: int) -> dict[str, float]:
    totals: dict[str, float] = defaultdict(float)
    for labels, value in series:
        if labels.get(by) == str(code):
            totals[kind_of(labels)] += value
    return dict(totals)


def _spent(metrics: Metrics, calls: Calls) -> dict[str, Spent]:
    family = metrics.families.get(calls.family)
    totals: dict[str, Spent] = {}
    for labels, one in family.histograms.items() if family else ():
        name = dict(labels).get(calls.by, "")
        if name and math.isfinite(one.sum) and one.sum >= 0:
            before = totals.get(name, Spent(0.0, 0.0))
            totals[name] = Spent(before.count + one.count, before.seconds + one.sum)
    return totals
