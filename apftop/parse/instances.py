"""Federated data: one exposition that holds the series of several servers, told apart by the label `instance`."""

from __future__ import annotations

from dataclasses import replace

from apftop.records.parsed import INSTANCE, Family, Labels, Metrics


def split_by_instance(metrics: Metrics) -> dict[str, Metrics]:
    """The metrics of each server by its `instance` label; at most one entry where nothing tells servers apart."""
    names = sorted({_instance(labels) for family in metrics.families.values() for labels in _series(family)})
    if len(names) <= 1:
        return {"": metrics}
    return {name: _of(metrics, name) for name in names if name}


def _of(metrics: Metrics, instance: str) -> Metrics:
    stamps = {instance: metrics.stamps[instance]} if instance in metrics.stamps else {}
    return replace(metrics, families=_only(metrics, instance), stamps=stamps)


def _only(metrics: Metrics, instance: str) -> dict[str, Family]:
    kept: dict[str, Family] = {}
    for name, family in metrics.families.items():
        part = replace(
            family,
            values={labels: value for labels, value in family.values.items() if _instance(labels) == instance},
            histograms={labels: value for labels, value in family.histograms.items() if _instance(labels) == instance},
        )
        if part.values or part.histograms:
            kept[name] = part
    return kept


def _series(family: Family) -> list[Labels]:
    return [*family.values, *family.histograms]


def _instance(labels: Labels) -> str:
    return next((value for name, value in labels if name == INSTANCE), "")
