"""Series to measures: one metrics answer in the field's words, whatever the release calls them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeVar

from apftop.apf.release import holds, parse_release
from apftop.parse.vocabulary import Measure, Vocabulary, vocabulary
from apftop.records.parsed import Family, Histogram, Labels, Metrics
from apftop.records.view import Key, View

V = TypeVar("V", float, Histogram)


def view(metrics: Metrics) -> View:
    """The measures of one server at one moment. Series of the same meaning that contradict each other are left out."""
    words = vocabulary()
    version = _label(metrics, "kubernetes_build_info", "git_version") or ""
    release = parse_release(version)
    values: dict[str, dict[Key, float]] = {}
    histograms: dict[str, dict[Key, Histogram]] = {}
    torn: dict[str, frozenset[Key]] = {}
    sources: dict[str, str] = {}
    problems = list(metrics.problems)
    if release is not None and not holds(release, words.known_releases):
        problems.append(f"{version} is outside the releases that apftop knows ({', '.join(words.known_releases)})")
    for name, measure in words.measures.items():
        family = _family(metrics, words.prefix, measure)
        if family is None:
            continue
        sources[name] = family.name
        if family.values:
            values[name], torn[name] = _keyed(family.values, measure)
        if family.histograms:
            histograms[name], torn[name] = _keyed(family.histograms, measure)
        for key in sorted(torn.get(name, ())):
            about = " ".join(part for part in key if part)
            problems.append(f"{family.name}: two different values for {about}, both left out")
    return View(
        release=release,
        version=version,
        start=_scalar(metrics, "process_start_time_seconds"),
        features=_features(metrics),
        values=values,
        histograms=histograms,
        torn=torn,
        incomplete=bool(metrics.problems),
        sources=sources,
        unknown_families=tuple(sorted(name for name in metrics.families if _unknown(name, words))),
        problems=tuple(problems),
    )


def _unknown(name: str, words: Vocabulary) -> bool:
    """Whether a flow control family is newer than the vocabulary; federated ones may come as parts of a histogram."""
    stem = name.removesuffix("_sum").removesuffix("_count")
    return name.startswith(words.prefix) and not {name, stem} & {words.prefix + known for known in words.flowcontrol}


def _family(metrics: Metrics, prefix: str, measure: Measure) -> Family | None:
    for name in measure.families:
        family = metrics.families.get(prefix + name)
        if family is not None and (family.values or family.histograms):
            return family
    return None


def _keyed(series: Mapping[Labels, V], measure: Measure) -> tuple[dict[Key, V], frozenset[Key]]:
    """The series by what they are about, and those that contradict each other, which are left out."""
    keyed: dict[Key, V] = {}
    torn: set[Key] = set()
    for labels, value in series.items():
        key = _key(labels, measure)
        if key in keyed and keyed[key] != value:
            torn.add(key)
        keyed[key] = value
    for key in torn:
        del keyed[key]
    return keyed, frozenset(torn)


def _key(labels: Labels, measure: Measure) -> Key:
    aliases = vocabulary().labels
    level = schema = by = ""
    for label, value in labels:
        label = aliases.get(label, label)
        if label == "priority_level":
            level = value
        elif label == "flow_schema" and measure.per == "schema":
            schema = value
        elif label == measure.by:
            by = value
    return Key(level, schema, by)


def _label(metrics: Metrics, name: str, label: str) -> str | None:
    family = metrics.families.get(name)
    if family is None:
        return None
    return next((value for labels in family.values for key, value in labels if key == label), None)


def _scalar(metrics: Metrics, name: str) -> float | None:
    family = metrics.families.get(name)
    value = next(iter(family.values.values()), None) if family else None
    return None if value is None or math.isnan(value) else value


def _features(metrics: Metrics) -> dict[str, bool]:
    family = metrics.families.get("kubernetes_feature_enabled")
    if family is None:
        return {}
    return {dict(labels).get("name", ""): value == 1 for labels, value in family.values.items()}
